"""Page one: what a reader learns in a minute, without scrolling."""

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pages import material_of
from refusals import refusal

import assay
from assay._util.errors import UnknownNameError
from assay._util.text import column_decimals
from assay.display.table import Table
from assay.reporting.answers import MOST_WORDS, _chances_said, of_systems
from assay.reporting.comparisons import _otherwise, comparison_section
from assay.reporting.front import _list_lengths, _rounding
from assay.reporting.material import Material
from assay.reporting.page import Bullets, Callout, Front, Page, Prose, Section
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")


def lists(*, systems: str = "AB", lower: bool = False) -> pd.DataFrame:
    """Rows of ranked lists; the later a system's letter, the more of its chunks are relevant."""
    rng = np.random.default_rng(5)
    rows = []
    for place, system in enumerate(systems):
        share = 0.25 + 0.5 * place / (len(systems) - 1)
        for n in range(240 // len(systems)):
            truth = rng.random() < (1 - share if lower else share)
            for rater, right in (("x", 0.95), ("y", 0.95), ("z", 0.65)):
                said = truth if rng.random() < right else not truth
                rows.append((f"q{n // 4}", system, n % 4 + 1, rater, ("no", "yes")[said]))
    return pd.DataFrame(rows, columns=["query", "model", "chunk", "rater", "relevant"])


def fitted(table: pd.DataFrame) -> xr.DataTree:
    """Fit with Laplace's approximation, without the warning that it is rough on so few items."""
    ratings = assay.read_ratings(table)
    fit = assay.fit(ratings, method="laplace", draws=100, chains=2, starts=1, rng=1)
    fit.attrs["warnings"] = "[]"
    return fit


@pytest.fixture(scope="module")
def two() -> xr.DataTree:
    return fitted(lists())


@pytest.fixture(scope="module")
def three() -> xr.DataTree:
    return fitted(lists(systems="ABC"))


def page_of(fit: xr.DataTree, **more: object) -> Page:
    return make_page(material_of(fit, **more))


def front_of(fit: xr.DataTree, **more: object) -> Front:
    front = page_of(fit, **more).front
    assert front is not None
    return front


def tables_of(page: Page) -> list[Table]:
    blocks = [block for one in page.sections for block in one.blocks]
    return [b for b in blocks if isinstance(b, Table)]


def table_of(page: Page, key: str) -> Table:
    return next(table for table in tables_of(page) if table.key == key)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate fewer sets of new ratings for the expected widths."""
    monkeypatch.setattr("assay.evaluation.widths.SETS", 4)
    monkeypatch.setattr("assay.evaluation.widths.DRAWS", 30)


@pytest.mark.usefixtures("quick")
def test_it_names_the_better_system_the_weak_rater_and_what_to_do(two: xr.DataTree) -> None:
    front = front_of(two, budget=True)
    said = dict(front.sentences)
    assert front.question == "Which is better, B or A?"
    assert said["Answer"].startswith("B is better than A on Precision@4 of relevant")
    assert said["How sure"].startswith("P(B is better)")
    weakest = said["Weakest rater"]
    assert re.match(r"z is right in \d\d% of cases", weakest)
    assert re.search(r"error: z answers (no|yes) for \d\d% of the items with relevant = ", weakest)
    assert "Errors that all raters share" in said["Not known"]
    assert re.search(r"ratings: Precision@4 of relevant \d+% narrower\)", said["What to do next"])


@pytest.fixture(scope="module")
def alone() -> xr.DataTree:
    """A fit of no systems."""
    single = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    return assay.fit(single, method="laplace", draws=50, chains=1, starts=1, rng=1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        # What the budget adds depends on the fit alone.
        ("two", {"budget": True}),
        ("three", {"budget": True}),
        ("three", {"baseline": "A"}),
        ("alone", {"budget": True}),
        ("two", {"claims": ("B > A on precision_at_k[relevant]",)}),
    ],
)
def test_no_sentence_is_longer_than_a_reader_reads(
    name: str, more: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    for _, text in front_of(request.getfixturevalue(name), **more).sentences:
        assert text.endswith(".")
        for one in text.removesuffix(".").split(". "):
            assert 2 < len(one.split()) <= MOST_WORDS, one


def test_a_difference_has_one_sign_in_sentences_tables_and_files(two: xr.DataTree) -> None:
    page = page_of(two)
    assert page.front is not None
    assert page.front.table is not None
    frames = [page.front.table.frame, page.tables["comparisons"]]
    for frame in frames:
        assert set(zip(frame["a"], frame["b"], strict=True)) == {("B", "A")}
        assert (frame["difference"] > 0).all()
        assert (frame["difference_lower"] <= frame["difference_upper"]).all()
    given = assay.compare(two).pairs
    assert frames[1]["difference"].to_numpy() == pytest.approx(-given["difference"].to_numpy())
    assert frames[1]["p_greater"].to_numpy() == pytest.approx(
        (1 - given["p_greater"] - given["p_equal"]).to_numpy()
    )
    sides = page.tables["approaches" if "approaches" in page.tables else "side_by_side"]
    contrasts = sides[sides["b"] != ""]
    assert set(contrasts["quantity"]) == {"B - A"}
    assert (contrasts.loc[contrasts["approach"] == "corrected", "mean"] > 0).all()


def test_with_a_baseline_every_difference_is_less_it(three: xr.DataTree) -> None:
    page = page_of(three, baseline="B")
    assert page.front is not None
    assert page.front.question == "Which system is better than B?"
    pairs = page.tables["comparisons"]
    assert set(zip(pairs["a"], pairs["b"], strict=True)) == {("A", "B"), ("C", "B")}
    with pytest.raises(UnknownNameError, check=refusal("unknown-system")):
        page_of(three, baseline="D")


def test_of_three_systems_the_best_is_named_with_its_probability(three: xr.DataTree) -> None:
    said = dict(front_of(three).sentences)
    assert re.match(r"C has the best value on \d of \d metrics, ", said["Answer"])
    assert "is best) is between" in said["How sure"]


def test_a_fit_that_misleads_says_so_on_page_one(two: xr.DataTree) -> None:
    tree = two.copy()
    tree.attrs = {**two.attrs, "warnings": '["The chains disagree."]'}
    cautions = front_of(tree, like=two).cautions
    assert any("The chains disagree." in text for text in cautions)


def test_sentences_on_claims_of_such_a_fit_say_that_they_are_not_certain(two: xr.DataTree) -> None:
    note = {"code": "chains-disagree", "level": "warning", "numbers": {}, "text": "They disagree."}
    tree = two.copy()
    tree.attrs = {**two.attrs, "warnings": json.dumps([note])}
    claims = ("B > A on precision_at_k[relevant]",)
    said = dict(front_of(tree, like=two, claims=claims).sentences)
    assert said["Answer"].startswith("Supported: B > A")
    assert said["Answer"].endswith("This is not certain yet.")
    assert "not certain" not in str(front_of(two, claims=claims).sentences)


def test_the_answer_without_systems_has_the_mark_of_its_number(alone: xr.DataTree) -> None:
    found = {}
    for codes in ([], ["laplace-rough"]):
        tree = alone.copy()
        notes = [{"code": one, "level": "warning", "numbers": {}, "text": "It."} for one in codes]
        tree.attrs = {**alone.attrs, "warnings": json.dumps(notes)}
        found[bool(codes)] = dict(front_of(tree).sentences)
    assert re.search(r"\d\) \*, 95% interval", found[True]["Answer"])
    assert "*" not in found[False]["Answer"]
    assert found[True]["How sure"].endswith("This is not certain yet.")
    assert "not certain" not in str(found[False])


def test_page_one_says_what_is_clear(two: xr.DataTree) -> None:
    _, rule = front_of(two).data.split("Clear at 95%: ")
    assert "P is above 0.975" in rule
    assert "P is above" not in rule.partition(";")[0]  # a difference is judged by its interval


def test_a_figure_of_some_metrics_says_so(many: Material, three: xr.DataTree) -> None:
    front = make_page(many).front
    assert front is not None
    assert front.table is not None
    assert "The figure shows 2 of 6 metrics." in front.table.note
    shown = front_of(three).table
    assert shown is not None
    assert "The figure shows" not in shown.note


def test_claims_are_the_question_if_there_are_any(two: xr.DataTree) -> None:
    front = front_of(two, claims=("B > A on precision_at_k[relevant]",))
    assert front.question == "Is it true that B > A on precision_at_k[relevant]?"
    said = dict(front.sentences)
    assert said["Answer"].startswith("Supported: B > A")
    pair = assay.compare(two, metric="precision_at_k[relevant]").pairs.iloc[0]
    size = abs(pair["difference"])
    assert said["How sure"].startswith("B minus A in ")
    assert front.table is not None
    (told,) = {row.cells[3] for row in front.table.rows if row.cells[0].startswith("Precision")}
    assert f"is {told}, " in said["How sure"]
    assert told.startswith(f"{size:.{len(told.split()[0]) - 2}f} (")
    assert said["How sure"].endswith("95% interval.")


def test_numbers_of_a_column_have_as_many_decimals(two: xr.DataTree) -> None:
    seen = set()
    for table in tables_of(page_of(two)):
        for column in range(1, len(table.columns)):
            cells = [r.cells[column] for r in table.rows if not r.is_heading]
            with_ends = [cell for cell in cells if re.search(r"\d to .*\d", cell)]
            lengths = {len(n) for cell in with_ends for n in re.findall(r"\d\.(\d+)", cell)}
            assert len(lengths) <= 1, (table.key, table.columns[column], cells)
            seen |= {table.key} if lengths else set()
    assert seen >= {"standing", "metrics", "raters", "side_by_side", "agreement", "before"}


def cells_of(table: Table) -> dict[tuple[str, str], tuple[str, ...]]:
    """Cells by heading and first cell."""
    found, heading = dict[tuple[str, str], tuple[str, ...]](), ""
    for row in table.rows:
        heading = row.cells[0].partition(" (")[0] if row.is_heading else heading
        if not row.is_heading:
            found[heading, row.cells[0]] = row.cells[1:]
    return found


def test_a_number_has_the_same_decimals_on_the_whole_page(three: xr.DataTree) -> None:
    page = page_of(three)
    assert page.front is not None
    assert page.front.table is not None
    metrics = cells_of(table_of(page, "metrics"))
    titles = page.front.table.columns[1:]
    shown = {
        (title, row.cells[0]): cell
        for row in page.front.table.rows
        for title, cell in zip(titles, row.cells[1:], strict=True)
        if title in {heading for heading, _ in metrics}
    }
    assert shown
    assert all(cell in metrics[key] for key, cell in shown.items())
    based = page_of(three, baseline="B")
    assert based.front is not None
    assert based.front.table is not None
    gaps = {cells[0] for cells in cells_of(table_of(based, "comparisons")).values()}
    rows = [row.cells for row in based.front.table.rows if not row.is_heading]
    assert {cells[2] for cells in rows} <= gaps


def test_a_caption_says_where_rounding_shows() -> None:
    rows = {"mean_a": ["0.60", "0.56"], "mean_b": ["0.52", "0.42"], "difference": [0.086, 0.136]}
    assert _rounding(pd.DataFrame(rows), 2)
    rows["difference"] = [0.084, 0.136]
    assert _rounding(pd.DataFrame(rows), 2) == ""


def test_the_length_of_lists_is_named_where_a_title_has_k() -> None:
    panels = pd.DataFrame({"panel": list("aaabb"), "system": "s"})
    given: Any = SimpleNamespace(
        titles={"m": "nDCG@k"}, ratings=SimpleNamespace(panels=panels),
        summaries={"population": pd.DataFrame({"metric": ["m"]})},
    )  # fmt: skip
    assert "2 to 3 items" in _list_lengths(given)
    given.titles = {"m": "nDCG@3"}
    assert _list_lengths(given) == ""


def test_digits_are_those_that_monte_carlo_error_allows() -> None:
    lines = np.array([[0.581, 0.560, 0.601], [0.52, 0.50, 0.54]])
    assert column_decimals(lines) == 3
    assert column_decimals(lines, sd=[0.01, 0.01], draws=100) == 2
    assert column_decimals(lines, sd=[0.01, 0.01], draws=100_000) == 3
    # An end that is not 0 is never written as 0.
    assert column_decimals(np.array([[0.2, 0.001, 0.4]]), marks=[0.0]) == 3


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that take what pages of the fit have computed."""
    monkeypatch.setattr("assay.reporting.writing.Material", material_of)


@pytest.mark.usefixtures("known")
def test_the_short_report_has_page_one_and_no_appendix(two: xr.DataTree, tmp_path: Path) -> None:
    short = page_of(two, short=True)
    assert short.appendix == ()
    assert [one.key for one in short.main] == ["raters", "labels", "comparisons"]
    assert short.front == short.front
    path = assay.report(two, tmp_path / "r.html", budget=False, short=True)
    assert "<details>\n<summary><h3" not in path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("known")
def test_the_appendix_is_folded_and_holds_all_else(two: xr.DataTree, tmp_path: Path) -> None:
    path = assay.report(two, tmp_path / "r.html", budget=False)
    html = path.read_text(encoding="utf-8")
    head, _, appendix = html.partition('<h2 id="appendix">')
    for key in ("raters", "labels", "comparisons"):
        assert f'<h2 id="{key}">' in head
    for key in ("metrics", "data", "convergence", "limits", "gaps", "model", "reproduce"):
        assert f'<h3 id="{key}">' in appendix


def test_no_folder_of_the_machine_is_named(tmp_path: Path) -> None:
    few = lists().query("query in ('q0', 'q1', 'q2', 'q3', 'q4', 'q5')")
    few.to_csv(tmp_path / "study.csv", index=False)
    ratings = assay.read_ratings(tmp_path / "study.csv")
    fit = assay.fit(ratings, raters="pooled", method="map", draws=20, chains=1, rng=1)
    fit.attrs["command"] = f"assay fit {tmp_path}/study.csv -o fit.nc"
    html = assay.report(fit, tmp_path / "r.html", budget=False).read_text(encoding="utf-8")
    assert str(tmp_path) not in html
    assert "assay fit study.csv -o fit.nc" in html
    assert "study.csv" in front_of(fit).data


def test_nothing_is_green_above_a_warning() -> None:
    from importlib.resources import files

    css = (files("assay.reporting") / "report.css").read_text(encoding="utf-8")
    assert ".callout.good" not in css


def test_metrics_are_called_by_their_titles(two: xr.DataTree) -> None:
    page = page_of(two)
    shown = [
        cell
        for one in page.main
        for block in one.blocks
        if isinstance(block, Table)
        for row in block.rows
        for cell in row.cells
    ]
    assert not any("precision_at_k" in cell for cell in shown)
    assert any("Precision@4 of relevant" in cell for cell in shown)
    assert all(
        not isinstance(b, Callout) or "_at_k" not in b.text for s in page.main for b in s.blocks
    )


def test_chances_that_are_told_alike_are_told_once() -> None:
    lines = pd.DataFrame({"metric": ["a", "b"]})
    material = SimpleNamespace(titles={"a": "A", "b": "B"}, level=0.95)
    alike = _chances_said(material, "new", lines, pd.Series([0.9991, 0.9999]))  # type: ignore[arg-type]
    assert alike == "P(new is better) > 0.99 on all of them."
    apart = _chances_said(material, "new", lines, pd.Series([0.6, 0.9]))  # type: ignore[arg-type]
    assert apart == "P(new is better) is between 0.60 (A) and 0.90 (B)."


def test_metrics_that_rank_no_system_leave_the_question_open() -> None:
    systems = pd.DataFrame(
        {"metric": "m", "system": list("abc"), "better": "higher", "doubt": "", "p_best": np.nan,
         "expected_loss": np.nan}
    )  # fmt: skip
    pairs = pd.DataFrame(
        {"metric": "m", "a": list("aab"), "b": list("bcc"), "better": "higher", "doubt": "",
         "difference": np.nan}
    )  # fmt: skip
    comparison = SimpleNamespace(pairs=pairs, systems=systems)
    for baseline, order in ((None, list("abc")), (None, list("ab")), ("c", list("abc"))):
        material: Any = SimpleNamespace(comparison=comparison, order=order, baseline=baseline)
        assert "No difference between two systems is defined." in of_systems(material)


@pytest.fixture(scope="module")
def many() -> Material:
    ratings = assay.simulate(
        "retrieval", n_items=240, n_raters=12, n_systems=6, n_clusters=10, ratings_per_item=2, rng=1
    )
    fit = assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1)
    return Material(fit=fit, budget=False, short=True)


def test_many_systems_are_shown_beside_the_leading_one(many: Material) -> None:
    section = comparison_section(many)
    assert isinstance(section, Section)
    pairs, ranks = (block for block in section.blocks if isinstance(block, Table))
    lines = [row.cells for row in pairs.rows if not row.is_heading]
    assert len(lines) == 5 * 6  # each other system on each metric
    assert all(many.order[0] in cells[0] for cells in lines)
    assert len(pairs.frame) == 15 * 6
    assert "60 more pairs" in pairs.note
    assert "Better is" not in pairs.columns
    heads = [row.cells[0] for row in pairs.rows if row.is_heading]
    assert heads[3].endswith("rate@4 (better is lower)")
    assert [row.cells[0] for row in ranks.rows] == list(many.ratings.systems)
    assert len(ranks.columns) == 7


def sides_of(many: Material, means: Mapping[str, float], doubt: str) -> list[str]:
    """The section's paragraphs if the vote of A - B had these means, by metric; half-width 0.1."""
    found = many.sides
    table = found.table.assign(mean=0.2, lower=0.1, upper=0.3, doubt=doubt)
    for metric, mean in means.items():
        pair = (table["metric"] == metric) & (table["quantity"] == table["quantity"].iloc[-1])
        vote = pair & (table["approach"] == "naive")
        ends = ["mean", "lower", "upper"]
        table.loc[vote, ends] = mean, mean - 0.1, mean + 0.1
        if mean == -0.05:  # both intervals include 0
            table.loc[pair & ~vote, ends] = 0.05, -0.05, 0.15
    many.__dict__["sides"] = replace(found, table=table)
    try:
        section = comparison_section(many)
    finally:
        many.__dict__["sides"] = found
    assert isinstance(section, Section)
    said = [text for b in section.blocks if isinstance(b, Prose) for text in b.paragraphs]
    return said + [text for b in section.blocks if isinstance(b, Bullets) for text in b.items]


@pytest.mark.parametrize("doubt", ["", "alike clusters: of one unit"])
def test_the_same_conclusion_is_said_only_if_it_is_true_of_every_pair(
    many: Material, doubt: str
) -> None:
    one, two = many.sides.table["metric"].unique()[:2]
    same = "Other approaches lead to the same conclusion on every metric."
    assert sides_of(many, {}, doubt) == [same]
    for mean in (0.05, -0.2):  # its interval includes 0, or the sign is the opposite one
        (text,) = sides_of(many, {two: mean}, doubt)
        assert text.startswith(many.titles[two])
        assert "The conclusion changes" in text
    text, sign = sides_of(many, {one: -0.05}, doubt)
    assert text == same
    assert sign.startswith(f"The sign is open, and the estimate changes sign with the approach: "
                           f"{many.titles[one]}, ")  # fmt: skip
    (text,) = sides_of(many, {two: float("nan")}, doubt)
    assert text != same
    assert "1 number is undefined" in text


@pytest.mark.parametrize(
    ("short", "shown", "where"),
    [(True, 2, "in the full report"), (False, 5, "under Other approaches")],
)
def test_other_conclusions_are_counted_beyond_the_first(
    many: Material, short: bool, shown: int, where: str
) -> None:
    many = replace(many, short=short)
    said = [f"m, {a} - {b}: x" for a, b in itertools.combinations(many.ratings.systems, 2)]
    items, rest = _otherwise(said, many)
    assert isinstance(items, Bullets)
    assert len(items.items) == shown
    assert all(many.order[0] in text for text in items.items)
    assert isinstance(rest, Prose)
    assert rest.paragraphs == (f"{15 - shown} more contrasts with another conclusion: {where}.",)
    assert len(_otherwise(said[:shown], many)) == 1
    assert _otherwise([], many) == []
