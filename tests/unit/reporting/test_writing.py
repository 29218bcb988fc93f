"""The report: what stands in it, what does not, and that it is one safe, whole file."""

import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pages import material_of
from refusals import refusal

import assay
from assay._util.errors import FitError, ModelError, UnknownNameError
from assay.cli.arguments import in_options
from assay.display.table import Table, table_of
from assay.fits.simulate import simulate
from assay.fits.view import FitView
from assay.modelling.structure import used_priors
from assay.reporting import report
from assay.reporting.agreement import agreement_section
from assay.reporting.material import Material
from assay.reporting.metrics import _contrasts_table, budget_section
from assay.reporting.page import Code, Finding, Gap, Page, Section, prose, reworded
from assay.reporting.provenance import ratings_hash
from assay.reporting.writing import SHOWN_FINDINGS, export_tables, make_page

EVIL = '<script>alert("x")</script>&'
KEYS = {
    "asked", "data", "convergence", "metrics", "comparisons", "claims", "raters", "labels",
    "all_raters", "approaches",
    "agreement", "checks", "wrong", "limits", "gaps", "model", "reproduce",
}  # fmt: skip


def ratings_table() -> pd.DataFrame:
    """Ratings whose names would harm a page that did not escape them."""
    made = simulate(
        "retrieval", n_items=80, n_raters=4, n_systems=2, n_clusters=20, ratings_per_item=2, rng=5
    )
    places = made.panels.set_index("item").loc[made.item]
    table = pd.DataFrame(made.answers, columns=list(made.task.label_names))
    return table.assign(
        item=made.item, query=places["cluster"].to_numpy(), rank=places["rank"].to_numpy(),
        system=np.where(places["system"] == "system_1", "A", "B"),
        rater=[EVIL if r == 0 else f"rater {r}" for r in made.rater],
    )  # fmt: skip


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.read_ratings(ratings_table(), task="retrieval")
    return assay.fit(ratings, method="map", draws=60, chains=2, starts=1, rng=1)


@pytest.fixture(scope="module")
def material(fit: xr.DataTree) -> Material:
    claims = ("B > A on ndcg_at_k", "ndcg_at_k of B < 1.5")
    return material_of(fit, claims=claims, command="assay report fit.nc")


@pytest.fixture(scope="module")
def page(material: Material) -> Page:
    return reworded(make_page(material), in_options)


@pytest.fixture(scope="module")
def html(fit: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    told = {"notice": "SIMULATED", "title": "A < B"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.reporting.writing.Material", material_of)
        report(fit, path, claims=["B > A on ndcg_at_k"], budget=False, **told)  # type: ignore[arg-type]
    assert path.stat().st_size < 2_000_000
    return path.read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Headings, tags with their attributes, and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def section(page: Page, key: str) -> Section:
    return next(one for one in page.sections if one.key == key)


def texts(one: Section) -> str:
    """All words of a section."""
    said = []
    for block in one.blocks:
        for name in ("text", "word", "caption", "note", "lead"):
            said.append(str(getattr(block, name, "")))
        for name in ("paragraphs", "items", "columns"):
            said += getattr(block, name, ())
        said += [cell for row in getattr(block, "rows", ()) for cell in row.cells]
    return " ".join(said)


def test_each_section_is_there_once(page: Page) -> None:
    keys = [one.key for one in page.sections]
    assert set(keys) == KEYS
    assert len(keys) == len(KEYS)


def test_every_number_names_its_estimand_and_reference(page: Page) -> None:
    for key in ("metrics", "comparisons", "claims", "labels"):
        said = texts(section(page, key)).lower()
        assert "estimand" in said, key
        assert "consensus of all raters" in said, key


def test_metrics_stand_beside_the_vote(page: Page, material: Material) -> None:
    table = next(b for b in section(page, "metrics").blocks if isinstance(b, Table))
    assert table.columns == ("System", "Model, finite", "Model, population", "Majority vote")
    assert sum(row.is_heading for row in table.rows) == 6
    assert sum(not row.is_heading for row in table.rows) == 12
    # Of what was hardly seen, the population is the model's: the estimand says so in brackets.
    estimands = table.frame["estimand"].str.partition(" (")[0]
    assert set(estimands) == {"finite", "population", "vote"}


def test_verdicts_of_claims_are_told(page: Page, material: Material) -> None:
    said = texts(section(page, "claims"))
    for result in material.verdicts:
        assert result.verdict in said
        assert f"P = {result.probability:.2f}" in said or "P > 0.999" in said


def test_at_most_three_findings_the_heaviest_first(page: Page) -> None:
    assert len(page.findings) <= SHOWN_FINDINGS
    weights = [finding.weight for finding in page.findings]
    every = sorted((f.weight for s in page.sections for f in s.findings), reverse=True)
    assert weights == every[:SHOWN_FINDINGS]
    assert {finding.section for finding in page.findings} <= {s.key for s in page.sections}


def test_what_could_not_run_is_listed_with_its_key(page: Page) -> None:
    said = texts(section(page, "gaps"))
    for key in ("--stability", "--truth", "--human", "--group"):
        assert key in said


def test_arguments_are_named_and_not_options(fit: xr.DataTree) -> None:
    plain = make_page(material_of(fit))
    said = texts(section(plain, "gaps")) + texts(section(plain, "data"))
    assert "(`truth=`)" in said
    assert "Name groups with `group=`" in said
    assert not re.search(r"--[a-z]", said)


def test_a_page_said_otherwise_keeps_what_comes_from_the_data() -> None:
    shown = {"x": "X"}
    data = table_of("t", "c", pd.DataFrame({"x": ["truth="]}), shown, note="truth=")
    own = table_of("gaps", "c", pd.DataFrame({"x": ["truth="]}), shown, is_prose=True)
    blocks = (prose("truth="), data, own, Code(text="truth="))
    part = Section(key="k", title="t", blocks=blocks)
    page = Page(title="t", findings=(), sections=(part,))
    told = reworded(page, str.upper).sections[0].blocks
    assert [type(block) for block in told] == [type(block) for block in blocks]
    paragraph, kept, sentences, code = told
    assert paragraph == prose("TRUTH=")
    assert (kept.rows[0].cells, kept.note) == (("truth=",), "TRUTH=")
    assert sentences.rows[0].cells == ("TRUTH=",)
    assert code == Code(text="truth=")


def test_a_fit_without_systems_has_no_comparison_and_says_so() -> None:
    ratings = simulate("single", n_items=40, n_raters=4, rng=1)
    tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    page = make_page(Material(fit=tree, budget=False))
    assert "comparisons" not in [one.key for one in page.sections]
    assert "Comparison of systems" in texts(section(page, "gaps"))


def test_the_model_card_has_every_prior(page: Page, fit: xr.DataTree) -> None:
    table = next(
        b for b in section(page, "model").blocks if isinstance(b, Table) and b.key == "priors"
    )
    known = set(fit["posterior"].data_vars) - {"prevalence"}
    assert set(table.frame["parameter"]) == known | {"lean_spread"}
    names = [name for cell in table.frame["name"] for name in cell.split(", ") if name]
    assert names == list(used_priors(FitView.of(fit).structure))
    assert set(table.frame["source"]) == {"catalogue", "fixed"}


def test_command_seed_and_hash_are_there(page: Page, fit: xr.DataTree, material: Material) -> None:
    said = texts(section(page, "reproduce"))
    versions = json.loads(fit.attrs["versions"])
    for text in ("assay report fit.nc", ratings_hash(material.ratings), versions["numpy"]):
        assert text in said


def test_the_hash_is_of_the_answers() -> None:
    one, two = (simulate("single", n_items=10, n_raters=3, rng=seed) for seed in (1, 2))
    assert ratings_hash(one) == ratings_hash(simulate("single", n_items=10, n_raters=3, rng=1))
    assert ratings_hash(one) != ratings_hash(two)


def test_names_from_the_data_are_escaped(html: str) -> None:
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "<h1>A &lt; B</h1>" in html


def test_the_page_is_accessible(html: str) -> None:
    page = Outline(html)
    assert page.all("html") == [{"lang": "en"}]
    headings = [int(tag[1]) for tag, _ in page.tags if tag in {"h1", "h2", "h3", "h4"}]
    assert headings.count(1) == 1
    assert headings[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(headings))
    assert all(a.get("scope") in {"col", "row", "rowgroup"} for a in page.all("th"))
    captions = re.findall(r"<caption[^>]*>(.*?)</caption>", html, flags=re.DOTALL)
    assert len(captions) == len(page.all("table"))
    assert len(set(captions)) == len(captions)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", html, flags=re.DOTALL)
    regions = [a["aria-label"] for _, a in page.tags if a.get("role") == "region"]
    assert len({*titles, *regions}) == len(titles) + len(regions)  # landmarks are told apart
    for picture in page.all("svg"):
        assert picture["role"] == "img"
        assert picture["aria-labelledby"] in ids


def test_the_page_asks_for_nothing_and_runs_nothing(html: str) -> None:
    page = Outline(html)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "iframe", "object", "embed", "img"}
    for _, attributes in page.tags:
        for key in ("src", "href", "xlink:href"):
            target = attributes.get(key) or "#"
            assert target.startswith(("#", "data:,")), target
    assert "url(http" not in html
    assert "@import" not in html


def test_figures_follow_the_theme(html: str) -> None:
    assert "var(--first, #0b62a4)" in html
    assert "prefers-color-scheme: dark" in html
    assert "DejaVu" not in html


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("theme", [0, 1])
def test_letters_stand_out_from_what_is_behind_them(theme: int) -> None:
    import re
    from importlib.resources import files

    css = (files("assay.reporting") / "report.css").read_text(encoding="utf-8")
    block = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[theme]
    colours = dict(re.findall(r"--(\w+): (#\w{6})", block))
    for behind in ("paper", "panel"):
        for name in ("ink", "muted", "first", "good", "doubt", "bad"):
            bright, dark = sorted(
                (luminance(colours[name]), luminance(colours[behind])), reverse=True
            )
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, (name, behind)


def test_no_page_ends_between_a_head_and_its_rows() -> None:
    from importlib.resources import files

    css = (files("assay.reporting") / "report.css").read_text(encoding="utf-8")
    (kept,) = (line for line in css.splitlines() if "caption, thead" in line)
    assert {"caption", "thead", 'tr:has(> th[scope="rowgroup"])'} <= set(
        kept.partition("{")[0].strip().split(", ")
    )


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_tables_are_exported(form: str, page: Page, tmp_path: Path) -> None:
    written = export_tables(page, tmp_path / "new", form)  # type: ignore[arg-type]
    assert {path.stem for path in written} == set(page.tables)
    read = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet}[form]
    found = read(tmp_path / "new" / f"raters.{form}")
    assert len(found) == len(page.tables["raters"])


@pytest.mark.parametrize("form", ["md", "tex"])
def test_a_paper_gets_the_tables_as_the_page_shows_them(
    form: str, page: Page, tmp_path: Path
) -> None:
    export_tables(page, tmp_path, form)  # type: ignore[arg-type]
    shown = page.shown_tables["comparisons"]
    assert len(shown.columns) <= 7 < len(shown.frame.columns)
    assert (tmp_path / f"comparisons.{form}").read_text(encoding="utf-8") == shown.text(f".{form}")
    cut = page.shown_tables["labels"]
    assert cut.is_cut
    lines = (tmp_path / f"labels.{form}").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= len(cut.frame)


def test_people_alone_are_shown_where_they_are_named(fit: xr.DataTree) -> None:
    material = material_of(fit, human=("rater 1", "rater 2", "rater 3"))
    page = make_page(material)
    assert "human-only" in texts(section(page, "approaches"))
    assert "human=" not in texts(section(page, "gaps"))


@pytest.mark.parametrize(
    ("claim", "error", "code"),
    [
        ("B better than A", ModelError, "claim-syntax"),
        ("C > A on ndcg_at_k", UnknownNameError, "unknown-system"),
    ],
)
def test_a_wrong_claim_is_an_error_and_writes_nothing(
    claim: str, error: type[Exception], fit: xr.DataTree, tmp_path: Path, code: str
) -> None:
    with pytest.raises(error, match=claim, check=refusal(code)):
        report(fit, tmp_path / "report.html", claims=claim)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_report(fit: xr.DataTree, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(FitError, check=refusal("argument-number")):
        report(fit, path, level=95)
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["nowhere/report.html", "."])
def test_a_place_that_cannot_be_written_is_said(
    name: str, fit: xr.DataTree, tmp_path: Path
) -> None:
    with pytest.raises(FitError, check=refusal("output-place")):
        report(fit, tmp_path / name)


def test_a_section_that_fails_is_a_gap(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Material) -> Section:
        raise ModelError("labels cannot be told apart")

    monkeypatch.setitem(assay.reporting.writing.SECTIONS, "Labels", broken)
    page = make_page(material_of(fit))
    assert "labels cannot be told apart" in texts(section(page, "gaps"))
    assert "labels" not in [one.key for one in page.sections]


def test_a_fit_that_is_not_to_be_trusted_is_the_first_finding(fit: xr.DataTree) -> None:
    tree = fit.copy()
    tree.attrs = {**fit.attrs, "warnings": json.dumps(["The chains disagree."])}
    page = make_page(material_of(tree, like=fit))
    assert page.findings[0].text.endswith("The chains disagree.")


def test_a_mode_alone_is_called_that(page: Page) -> None:
    said = texts(section(page, "convergence"))
    assert "Trust with care" in said
    assert "Posterior mode only" in said
    assert page.findings[0].code == "mode-alone"


def test_a_spammer_is_named(monkeypatch: pytest.MonkeyPatch, fit: xr.DataTree) -> None:
    from assay.reporting.raters import raters_section

    line = {
        "rater": "rater 1", "label": "misleading", "informedness": 0.01, "lower": -0.05,
        "upper": 0.06, "p_spammer": 0.98, "p_adversarial": 0.0, "behaviour": "spammer",
        "given_mode": "spammer", "mode_weight": 1.0,
    }  # fmt: skip
    nobody = {**line, "behaviour": "", "given_mode": ""}
    monkeypatch.setattr(Material, "kinds", pd.DataFrame([line, nobody]))
    rater = "Rater 1 on misleading: spammer"
    said = texts(raters_section(Material(fit=fit)))
    assert said.count(f"{rater} (posterior mode only") == 1
    monkeypatch.setitem(fit.attrs, "method", "nuts")
    assert texts(raters_section(Material(fit=fit))).count(f"{rater} (P = 0.98") == 1


def test_rows_of_a_heading_follow_it() -> None:
    frame = pd.DataFrame({"g": ["a", "a", "b"], "x": ["p", "q", "r"], "n": [0.5, 1.0, np.nan]})
    table = table_of("t", "T", frame, {"x": "X", "n": "N"}, under="g")
    cells = [row.cells for row in table.rows]
    assert cells == [("a",), ("p", "0.50"), ("q", "1.00"), ("b",), ("r", "undefined")]
    assert table.numeric == (False, True)


def test_a_misfit_is_named(monkeypatch: pytest.MonkeyPatch, fit: xr.DataTree) -> None:
    from assay.reporting.misfits import misfit_section

    line = {
        "check": "agreement", "group": "", "label": "misleading", "quantity": "percent",
        "observed": 0.9, "expected": 0.5, "lower": 0.4, "upper": 0.6, "tail": 0.005,
    }  # fmt: skip
    lines = [line, {**line, "label": "other", "tail": 0.5}]
    monkeypatch.setattr(Material, "predictive", pd.DataFrame(lines))
    found = misfit_section(Material(fit=fit))
    assert "percent of misleading." in texts(found)
    (table,) = (block for block in found.blocks if isinstance(block, Table))
    assert [row.cells[-1] for row in table.rows] == ["<0.01", "0.500"]
    assert "percent of other" not in texts(found)
    assert len(found.findings) == 1


def test_agreement_that_is_not_expected_is_told_with_its_level(
    monkeypatch: pytest.MonkeyPatch, fit: xr.DataTree
) -> None:
    found = material_of(fit).agreed
    table = found.table.assign(expected=0.5, expected_lower=0.4, expected_upper=0.6, value=0.5)
    monkeypatch.setattr(Material, "agreed", replace(found, table=table))
    assert "Outside the" not in texts(agreement_section(Material(fit=fit)))
    table.loc[0, "value"] = 0.61
    said = texts(agreement_section(Material(fit=fit)))
    assert f"Outside the 95% interval that the model expects: {table['statistic'][0]} of" in said
    assert f"A few of {len(table)} correlated coefficients" in said
    table["note"] = ["pairs share few items", "all alike", "all alike"] + [""] * (len(table) - 3)
    (shown,) = (b for b in agreement_section(Material(fit=fit)).blocks if isinstance(b, Table))
    assert shown.note.endswith(" samples. Pairs share few items. All alike.")


@pytest.mark.parametrize(
    ("items", "right", "told"), [(80, 0.0, True), (20, 0.0, False), (80, 0.8, False)]
)
def test_raters_who_hardly_agree_are_a_finding(items: int, right: float, told: bool) -> None:
    rng = np.random.default_rng(1)
    answers = np.where(
        rng.random((items, 3)) < right,
        rng.integers(3, size=(items, 1)),
        rng.integers(3, size=(items, 3)),
    )
    table = pd.DataFrame(answers, columns=["r1", "r2", "r3"]).rename_axis("item").reset_index()
    long = table.melt("item", var_name="rater", value_name="label")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratings = assay.read_ratings(long, task="single")
        fit = assay.fit(ratings, method="map", draws=5, chains=1, progress=False)
    found = agreement_section(Material(fit=fit))
    said = "".join(f.text for f in found.findings)
    assert ("Raters agree on label hardly more than by chance" in said) == told
    assert ("Their answers carry little" in texts(found)) == told


def test_a_wrong_consensus_is_told_for_each_metric(page: Page) -> None:
    found = section(page, "wrong")
    table = next(b for b in found.blocks if isinstance(b, Table))
    assert sum(not row.is_heading for row in table.rows) == 12
    assert "Wrong on 5%" in table.columns


def test_stability_names_what_changes(monkeypatch: pytest.MonkeyPatch, fit: xr.DataTree) -> None:
    from assay.reporting.sensitivity import stability_section

    line = {
        "metric": "ndcg_at_k", "a": "A", "b": "B", "estimand": "population", "difference": 0.1,
        "difference_lower": 0.05, "difference_upper": 0.15, "p_greater": 0.99, "level": 0.95,
        "basis": "", "warnings": "",
    }  # fmt: skip
    table = pd.DataFrame(
        [
            {**line, "kind": "none", "variant": "as fitted", "changes": ""},
            {**line, "kind": "rater", "variant": "without r", "changes": "changes: open"},
            {**line, "kind": "kernel", "variant": "repair", "changes": "could not run: no rule"},
        ]
    )
    monkeypatch.setattr(Material, "refits", table)
    of_systems = table.rename(
        columns={"difference": "mean", "difference_lower": "lower", "difference_upper": "upper"}
    ).assign(system="A", changes=["", "none", "could not run: no rule"])
    monkeypatch.setattr(Material, "refitted_metrics", of_systems)
    found = stability_section(Material(fit=fit, stability=True))
    assert isinstance(found, Section)
    assert "without r: changes: open" in texts(found)
    assert [gap.why for gap in found.gaps] == ["no rule"]
    assert len(found.findings) == 1
    assert isinstance(stability_section(Material(fit=fit)), Gap)


def test_budget_says_what_binds(fit: xr.DataTree) -> None:
    from assay.reporting.metrics import budget_section

    found = budget_section(Material(fit=fit))
    assert isinstance(found, Section)
    said = texts(found)
    assert "B - A" in said
    assert "Monte Carlo error" in said
    assert all(isinstance(f, Finding) for f in found.findings)


def test_three_systems_have_a_budget_of_each_contrast(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a difference is not the sum of two: what the systems share cancels."""
    ratings = assay.simulate("generation", n_items=30, n_systems=3, n_clusters=10, rng=1)
    model = {"raters": "pooled", "method": "map", "starts": 1}
    three = assay.fit(ratings, draws=60, chains=2, rng=1, **model)  # type: ignore[arg-type]
    monkeypatch.setattr("assay.evaluation.widths.SETS", 2)
    page = budget_section(Material(fit=three))
    assert isinstance(page, Section)
    (table,) = [b for b in page.blocks if isinstance(b, Table) and b.key == "budget_of_contrasts"]
    names = list(dict.fromkeys(table.frame["system"]))
    assert table.frame["system"].tolist() == names * 5
    pairs = [name.split(" - ") for name in names]
    every = [{"system_1", "system_2"}, {"system_1", "system_3"}, {"system_2", "system_3"}]
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, every))
    there = assay.variance_budget(three, contrast=tuple(pairs[1]))
    mine = table.frame[table.frame["system"] == names[1]].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, there)
    shown = [row.cells[0] for row in table.rows]
    assert shown[:5] == ["Proper action rate", *names, "On topic rate"]
    of_two = budget_section(Material(fit=fit))
    assert isinstance(of_two, Section)
    assert "budget_of_contrasts" not in {b.key for b in of_two.blocks if isinstance(b, Table)}


def test_only_so_many_contrasts_are_shown_and_all_are_exported() -> None:
    line = {"metric": "m", "system": "A - B", "estimand": "finite", "variance": 1.0, "mcse": 0.1}
    line |= {"parameters": 0.5, "labels": 0.5, "clusters": 0.0}
    (table,) = _contrasts_table(pd.DataFrame([line] * 70), "gold", {})
    assert isinstance(table, Table)
    assert (len(table.rows), len(table.frame)) == (61, 70)  # a heading besides
    assert "The first 60 of 70" in table.note


def test_prose_shows_control_characters() -> None:
    assert prose("a\x1b[2J", "").paragraphs == ("a?[2J",)
