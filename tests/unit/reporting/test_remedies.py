"""The next fit: one command holds all remedies, and none that the fit has already."""

import itertools
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import assay
from assay.checks.departures.report import warning
from assay.checks.departures.search import Departure, Search
from assay.checks.findings import Check
from assay.checks.findings import Finding as Checked
from assay.data.ratings import LargerUnit, Ratings
from assay.fits.view import FitView
from assay.reporting.fit import convergence_section
from assay.reporting.material import Material
from assay.reporting.page import Callout, page_html
from assay.reporting.remedies import next_fit, reasons_of, remedy_of
from assay.reporting.whole_run import Run
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
COMMAND = "assay run study.csv --prevalence loglinear -o found -q"


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.simulate("single", n_items=60, n_systems=2, classes=["no", "yes"], rng=1)
    return assay.fit(ratings, method="laplace", draws=30, chains=1, starts=1, rng=1)


def departure(code: Any, *who: str, pairs: Sequence[tuple[str, str]] = ()) -> Departure:
    return Departure(code=code, p=1e-9, size=0.1, who=who, pairs=tuple(pairs))


@pytest.fixture
def doubted(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make material of a fit with some departures, that a command or Python made."""

    def made(
        *found: Departure,
        codes: Sequence[str] = (),
        command: str = COMMAND,
        spec: Mapping[str, Any] | None = None,
        units: Sequence[LargerUnit] = (),
        known: int = 0,
        copies: bool = False,
    ) -> Material:
        tree = fit.copy()
        notes = [
            {"code": code, "level": "warning", "numbers": {}, "text": f"{code}."}
            for code in [*codes, *(one.code for one in found)]
        ]
        tree.attrs = {
            **fit.attrs, "warnings": json.dumps(notes), "command": command,
        }  # fmt: skip
        material = Material(fit=tree, budget=False, short=True)
        view = FitView.of(tree)
        ratings: Ratings = view.ratings
        accounting = replace(ratings.accounting, larger_units=tuple(units))
        truth = ratings.truth.copy()
        truth[:known] = 0
        view.__dict__["ratings"] = replace(ratings, accounting=accounting, truth=truth)
        view.__dict__["spec"] = replace(view.spec, **dict(spec or {}))
        if spec:  # no comparison: the draws are not of this model
            material.__dict__["lacks_direction"] = False
        material.__dict__["_named"] = (view, {})
        monkeypatch.setattr("assay.reporting.remedies.search", lambda _: Search(found=found))
        monkeypatch.setattr("assay.reporting.remedies.may_copy", lambda _: copies)
        return material

    return made


def options(command: str) -> dict[str, str]:
    words = shlex.split(command)
    return {a: b for a, b in itertools.pairwise(words) if a.startswith("-")}


def test_one_command_holds_all_remedies(doubted: Any) -> None:
    unit = LargerUnit(column="kind", units=18, p=0.001)
    material = doubted(
        departure("rater-by-system"),
        departure("dependent-raters", "rater_1", "rater_2"),
        departure("carried-over"),
        codes=["alike-clusters"],
        units=[unit],
    )
    remedy = remedy_of(material)
    assert remedy is not None
    drafting, new, wider, only, command = remedy.command.splitlines()
    given = options(command)
    assert drafting == "assay task init study.csv -o TASK.toml"
    # What to do about alike clusters depends on the question, so there is a command for each.
    assert new == "# If new values of kind count:"
    assert only == "# If only these 18 values of kind count:"
    assert options(wider)["--cluster"] == "kind"
    assert given["--stratum"] == "kind"
    first = "Run the first command, then choose one of the others"
    assert remedy.lead == f"{first}: each holds the remedies."
    # This prevalence ignores clusters.
    assert options(wider)["--prevalence"] == "loglinear"
    assert options(wider)["--raters"] == given["--raters"]
    assert command.startswith("assay run study.csv ")
    assert given["--task"] == "TASK.toml"
    assert "--cluster" not in given
    assert given["--prevalence"] == "dirichlet"
    assert command.count("--prevalence") == 1
    assert given["--reference"] == "gold"
    assert given["--raters"] == "hierarchical + item_difficulty + system_bias"
    assert given["--truth"] == "TRUTH.csv"
    assert given["-o"] == "found-2"
    assert "-q" in given or command.endswith("-q")
    assert "the truth of all 60 items, named as in labels.csv" in remedy.notes[0]
    assert "In between, set `better = " in remedy.notes[1]
    said = reasons_of(material)
    assert list(said) == [
        "alike-clusters", "rater-by-system", "dependent-raters", "carried-over"
    ]  # fmt: skip
    assert said["alike-clusters"].endswith("too narrow if new values of it count.")
    assert "rater_1 and rater_2" in said["dependent-raters"]
    assert sum("belong together" in text for text in said.values()) == 1
    assert all(len(text.split()) <= 25 for text in said.values())


def test_alike_clusters_alone_have_a_command_for_each_question(doubted: Any) -> None:
    unit = LargerUnit(column="kind", units=18, p=0.001)
    material = doubted(codes=["alike-clusters"], units=[unit])
    remedy = remedy_of(material)
    assert remedy is not None
    assert remedy.command.count("--cluster kind") == 1
    assert remedy.command.count("--stratum kind") == 1
    front = make_page(material).front
    assert front is not None
    assert dict(front.sentences)["What to do next"].startswith("Choose and run a command in the ")
    assert not any("Do not rely" in text for text in front.cautions)


@pytest.mark.parametrize("code", ["carried-over"])
def test_ignoring_clusters_and_another_cluster_are_alternatives(doubted: Any, code: str) -> None:
    unit = LargerUnit(column="kind", units=18, p=0.001)
    fit = "fit with `prevalence='dirichlet'`, which ignores clusters"
    assert f"Unless kind becomes the cluster, {fit}" in warning(
        departure(code), doubted(units=[unit]).ratings
    )
    for units in ((), [replace(unit, p=0.5)]):
        assert f". F{fit[1:]}" in warning(departure(code), doubted(units=units).ratings)


def test_a_reason_that_the_model_covers_is_not_left_out_of_the_interval(doubted: Any) -> None:
    from assay.reporting.answers import _left_out

    layer = {"raters": "hierarchical + item_difficulty + system_bias"}
    favour, misread = departure("rater-by-system"), departure("rater-by-cluster")
    plain = doubted(favour, misread)
    assert _left_out(plain) == "The interval leaves out the reasons in the box."
    assert "include" not in " ".join(reasons_of(plain).values())
    both = doubted(favour, misread, spec=layer)
    text = _left_out(both)
    assert "includes that some raters favour a system, and leaves out the other reasons" in text
    said = reasons_of(both)
    assert said["rater-by-system"].endswith("The intervals include this.")
    assert "include" not in said["rater-by-cluster"]
    alone = doubted(favour, spec=layer)
    assert _left_out(alone) == "The interval includes the reasons in the box."
    # Without clusters in the prevalence, differences of systems stay too certain.
    carried = doubted(departure("carried-over"), spec={"prevalence": "dirichlet"})
    assert _left_out(carried) == "The interval leaves out the reasons in the box."


def test_nothing_is_advised_that_the_fit_has_already(doubted: Any) -> None:
    gold = doubted(
        departure("dependent-raters", "rater_1", "rater_2"),
        departure("carried-over"),
        spec={"reference": "gold", "prevalence": "dirichlet"},
        known=40,
    )
    planned = next_fit(gold)
    assert dict(planned.reading) == {}
    assert dict(planned.fitting) == {}
    assert remedy_of(gold) is None
    known = doubted(departure("dependent-raters", "rater_1", "rater_2"), known=40)
    assert "truth" not in next_fit(known).reading
    assert next_fit(known).fitting["reference"] == "gold"
    few = doubted(departure("rater-by-rank"), known=40)
    assert next_fit(few).truth == "all 60 items"


def test_remedies_that_exclude_each_other_are_not_both_advised(doubted: Any) -> None:
    material = doubted(departure("skipping-by-answer"), departure("carried-over"))
    assert dict(next_fit(material).fitting) == {"formula": "~ n_answers"}


def test_misread_clusters_get_the_layer_that_models_them(doubted: Any) -> None:
    material = doubted(departure("rater-by-cluster"), departure("rater-by-system"))
    recipe = "hierarchical + item_difficulty + misreading + system_bias"
    assert next_fit(material).fitting["raters"] == recipe
    assert next_fit(doubted(departure("rater-by-cluster"), spec={"raters": recipe})).fitting == {}


def test_copies_are_the_remedy_where_the_data_tell_them(doubted: Any) -> None:
    material = doubted(departure("dependent-raters", "rater_1", "rater_2"), copies=True)
    assert dict(next_fit(material).fitting) == {"copies": {"rater_2": "rater_1"}}
    remedy = remedy_of(material)
    assert remedy is not None
    assert options(remedy.command)["--copies"] == "rater_2=rater_1"


def test_the_box_says_whether_its_command_holds_all_remedies(doubted: Any) -> None:
    pair = departure("dependent-raters", "rater_1", "rater_2")
    leads = {}
    for name, found, codes in (
        ("all", (pair,), ()),
        ("twice", (pair, departure("duplicated-items")), ()),
        ("words", (pair,), ("odd-doubt",)),
    ):
        remedy = remedy_of(doubted(*found, codes=codes))
        assert remedy is not None
        leads[name] = remedy.lead
    assert leads["all"] == "These commands hold the remedies."
    assert leads["twice"] == leads["words"] == "These commands hold the other remedies."


def test_a_column_of_kinds_becomes_the_session(doubted: Any) -> None:
    material = doubted(departure("rater-by-kind", "language"), departure("halo"))
    planned = next_fit(material)
    assert planned.reading == {"session": "language"}
    assert planned.fitting["raters"].endswith("+ drift + halo")
    alone = next_fit(doubted(departure("rater-by-kind", "language")))
    assert dict(alone.fitting) == {}  # the default has drift by itself


def test_a_fit_made_in_python_is_advised_in_python(doubted: Any) -> None:
    remedy = remedy_of(doubted(departure("rater-by-system"), command=""))
    assert remedy is not None
    read, fit = remedy.command.splitlines()
    assert read.startswith("ratings = assay.read_ratings(")
    assert "truth='TRUTH.csv'" in read
    assert "raters='hierarchical + item_difficulty + system_bias'" in fit


def test_page_one_shows_the_command_and_every_reason(doubted: Any) -> None:
    material = doubted(departure("rater-by-system"), departure("carried-over"))
    page = make_page(material)
    front = page.front
    assert front is not None
    assert all(text in front.cautions for text in reasons_of(material).values())
    html = page_html(page)
    assert "--prevalence</span> dirichlet" in html
    assert "TRUTH.csv" in html
    assert "commands in the box" in dict(front.sentences)["What to do next"]


@pytest.mark.parametrize("apart", [True, False])
def test_a_large_difference_is_stated_though_a_mark_applies(doubted: Any, *, apart: bool) -> None:
    material = doubted(departure("rater-by-system"))
    found = material.comparison
    ends = (0.8, 0.3) if apart else (0.5, 0.45)
    first, second = material.order
    systems = pd.DataFrame(
        {"metric": "m", "system": [first, second], "better": "neither", "doubt": "",
         "mean": ends, "lower": [x - 0.1 for x in ends], "upper": [x + 0.1 for x in ends],
         "p_best": float("nan"), "expected_loss": float("nan")}
    )  # fmt: skip
    pairs = pd.DataFrame(
        {"metric": ["m"], "a": first, "b": second, "better": "neither", "doubt": "a mark: of m",
         "difference": ends[0] - ends[1], "difference_lower": 0.02, "difference_upper": 0.6,
         "level": 0.95, "p_greater": 0.99, "p_equal": 0.0}
    )  # fmt: skip
    material.__dict__["comparison"] = replace(found, systems=systems, pairs=pairs)
    material.__dict__["titles"] = {"m": "Share of m"}
    from assay.reporting.answers import of_systems

    _, best, sure = of_systems(material)
    assert best.startswith(f"{first} has the higher Share of m.") is apart
    assert "favour a system" in best
    assert "0.02 to 0.60" in sure


def test_a_run_does_not_repeat_what_its_model_has(doubted: Any) -> None:
    codes = ["carried-over", "dependent-raters", "few-clusters"]
    checked = Check(
        findings=tuple(Checked(level="warning", topic="t", text=code, code=code) for code in codes),
        tables={},
    )
    plain = doubted(known=40).view
    assert [note.code for note in Run(check=checked, fit=plain).warnings] == codes
    gold = doubted(spec={"reference": "gold", "prevalence": "dirichlet"}, known=40).view
    assert [note.code for note in Run(check=checked, fit=gold).warnings] == ["few-clusters"]


@pytest.fixture
def told(doubted: Any) -> Any:
    """Make material of a fit that carries a warning with its whole text."""

    def made(code: str, text: str, method: str = "nuts", **more: Any) -> Material:
        material: Material = doubted(**more)
        material.__dict__["lacks_direction"] = False
        note = {"code": code, "level": "warning", "numbers": {}, "text": text}
        material.view.tree.attrs |= {
            "warnings": json.dumps([note]), "method": method,
            "effort": json.dumps({"tune": 1000, "target_accept": 0.85}),
            "diagnostics": json.dumps({"ess_min": 233.0, "ess_results": 233.0, "k_hat": 1.6}),
        }  # fmt: skip
        return material

    return made


MORE = "The effective sample size is as low as 233. Take more draws, in smaller steps"


@pytest.mark.parametrize(
    ("code", "text", "method", "wanted"),
    [
        ("laplace-rough", "It is rough. Report a fit with `method='nuts'`.", "laplace",
         {"method": "nuts"}),
        ("low-ess", f"{MORE} (`draws=2500`, `target_accept=0.95`).", "nuts",
         {"draws": 2500, "target_accept": 0.95}),
        # Without a number, twice that of this fit, which has 30 draws.
        ("chains-disagree", f"{MORE} (`draws=`, `tune=`, `target_accept=0.95`).", "nuts",
         {"draws": 60, "tune": 2000, "target_accept": 0.95}),
        ("divergences", "Take smaller steps (`target_accept=0.98`).", "nuts",
         {"target_accept": 0.98}),
        ("divergences", "Take larger steps (`target_accept=0.85`).", "nuts", {}),
    ],
)  # fmt: skip
def test_the_command_has_what_a_warning_of_the_draws_asks_for(
    told: Any, code: str, text: str, method: str, wanted: dict[str, Any]
) -> None:
    command = "assay run study.csv --method laplace --draws 50 --chains 1 -q"
    material = told(code, text, method, command=command)
    assert dict(next_fit(material).fitting) == wanted
    remedy = remedy_of(material)
    assert (remedy is not None) is bool(wanted)
    if remedy is not None:
        given = options(remedy.command)
        assert {name: given[f"--{name.replace('_', '-')}"] for name in wanted} == {
            name: str(value) for name, value in wanted.items()
        }
        # The draws of another method are no draws for this one.
        assert ("--chains" in given) is ("method" not in wanted)
        assert remedy.command.count("--method") == 1


def test_another_mode_asks_for_truth_in_the_command(told: Any) -> None:
    text = "Another posterior mode explains the answers. Give the truth of some items (`truth=`)."
    assert next_fit(told("other-mode", text)).truth == "30 items"
    assert next_fit(told("other-mode", text, known=40)).truth == ""
    text = "Raters err together. Use the truth of 30 items or more (`reference='gold'`)."
    planned = next_fit(told("groups-err-together", text))
    assert (planned.fitting["reference"], planned.truth) == ("gold", "30 items")


def test_numbers_of_a_fit_not_to_be_relied_on_are_marked(told: Any) -> None:
    text = "Laplace's approximation fails here. Use `method='nuts'`."
    page = make_page(told("laplace-rough", text, "laplace"))
    front = page.front
    assert front is not None
    assert front.table is not None
    said = dict(front.sentences)
    assert "not to be relied on" in said["Answer"]
    assert said["Weakest rater"].endswith("This is not certain yet.")
    assert said["What to do next"].startswith("Run the command in the box")
    assert "look at" not in said["What to do next"]
    assert all(row.cells[0].endswith("*") for row in front.table.rows)
    assert "* may mislead" in front.picture.svg if front.picture else False
    (section,) = [one for one in page.sections if one.key == "convergence"] or [None]
    assert section is None or "Trust with care" not in str(section.blocks)


def test_convergence_says_of_a_fit_what_page_one_says(told: Any) -> None:
    text = "The chains disagree: R-hat is above 1.01. Take more draws (`draws=`)."
    (first, *_) = convergence_section(told("chains-disagree", text, "laplace")).blocks
    assert isinstance(first, Callout)
    assert first.word == "Do not rely on this fit yet"
    rough = f"{MORE} (`draws=2500`)."
    (first, *_) = convergence_section(told("low-ess", rough, "laplace")).blocks
    assert isinstance(first, Callout)
    assert first.word == "Trust with care"
    assert told("low-ess", rough).mark == ""


def test_the_drafted_task_reads_the_file_as_the_run_did(doubted: Any) -> None:
    typed = (
        "assay run 'a b.csv' --wide 'Dr. A' 'Dr. B' --item Case --item Version -q --system Version "
        "--method laplace --no-report --draws=50 --cluster=Case --task single -o out"
    )
    remedy = remedy_of(doubted(command=typed))
    assert remedy is not None
    drafting, command = remedy.command.splitlines()
    assert shlex.split(drafting) == [
        "assay", "task", "init", "a b.csv", "--wide", "Dr. A", "Dr. B", "--item", "Case", "--item",
        "Version", "--system", "Version", "--cluster=Case", "-o", "TASK.toml",
    ]  # fmt: skip
    assert "--wide 'Dr. A' 'Dr. B' --item Case" in command
    assert command.endswith("--task TASK.toml -o out-2")
    assert "single" not in command
    assert remedy.lead == "These commands name the good class."


def test_the_usual_folder_of_a_run_is_not_written_over(told: Any) -> None:
    text = "It fails. Use `method='nuts'`."
    remedy = remedy_of(told("laplace-rough", text, "laplace", command="assay run study.csv"))
    assert remedy is not None
    assert options(remedy.command)["-o"].endswith("-results-2")
    fitted = remedy_of(told("laplace-rough", text, "laplace", command="assay fit study.csv"))
    assert fitted is not None
    assert "-o" not in options(fitted.command)


def test_known_truth_is_not_asked_for_again(doubted: Any) -> None:
    for code in ("dependent-raters", "graded-items", "rater-by-system"):
        one = departure(code, "rater_1")
        assert "`truth=`" in warning(one, doubted().ratings)
        assert "`truth=`" not in warning(one, doubted(known=40).ratings)
    assert "40 items" in warning(departure("graded-items"), doubted(known=40).ratings)
