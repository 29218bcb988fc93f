"""Report of departures: their meaning, the affected numbers, and the remedy."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from assay._util.errors import Numbers
from assay._util.text import some
from assay.checks.departures.search import FAMILYWISE, Code, Departure, search
from assay.checks.departures.teams import separate_teams
from assay.checks.findings import Part, findings_on
from assay.data.overlap import ENOUGH
from assay.data.ratings import Ratings

_finding = findings_on("independent raters")
TEAMS = "separate-teams"
TEAMS_MARK = (
    "separate teams: the systems share no raters, and the difference may be one of their raters"
)
DIFFERENCES = frozenset({"rater-by-system", TEAMS})
"""Codes of departures that affect only differences of systems."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """The meaning of a departure.

    found : the observation, with ``{about}`` for the labels and ``{who}``
    means : the consequence
    mend : the recipe or the data that remedies it
    mark : the mark at affected numbers
    asked : the question of the test
    parts, prevalences, covariates : families and layers, prevalences or covariates that model it
    """

    code: Code
    found: str
    means: str
    mend: str
    mark: str
    asked: str
    parts: tuple[str, ...] = ()
    prevalences: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()


GOLD = f"Give the truth of {2 * ENOUGH} items drawn at random (`truth=`)"
MEANINGS: dict[Code, Meaning] = {
    meaning.code: meaning
    for meaning in (
        Meaning(
            code="rater-by-cluster",
            asked="whether raters misread whole clusters",
            found="Raters err on whole clusters: two answers of one rater in a cluster go together "
            "beyond the truth{about}",
            means="The model takes a misread cluster for one that differs, so it is too sure of it",
            mend="Fit with `prevalence='dirichlet'`, which leaves clusters out, and have further "
            "raters for each cluster outvote the one who errs",
            mark="misread clusters: raters err on whole clusters",
            prevalences=("dirichlet",),
        ),
        Meaning(
            code="rater-by-system",
            asked="whether raters favour a system",
            found="Raters judge the systems differently{about}: on the same items some favour one "
            "of them",
            means="The difference of the systems depends on which raters are right",
            mend="Fit with `raters='hierarchical + system_bias'`, whose intervals know of it. The "
            f"truth of {ENOUGH} items of each system drawn at random (`truth=`) tells who is right",
            mark="raters favour systems: the difference depends on which raters are right",
            parts=("system_bias",),
        ),
        Meaning(
            code="rater-by-rank",
            asked="whether raters follow the rank",
            found="Raters follow the rank of an item differently{about}, beyond what is true of it",
            means="Metrics that count ranks depend on which raters are right",
            mend=f"{GOLD}, or have items rated in random order",
            mark="answers follow the rank: raters differ in how far",
        ),
        Meaning(
            code="dependent-raters",
            asked="whether two raters err together",
            found="Raters do not err independently{about}: two of them, or all others, see alike. "
            "{who} stand out most",
            means="They count as more witnesses than they are, so the labels are too sure",
            mend="Leave one of the two out. Or give the truth of "
            f"{ENOUGH} items drawn at random (`truth=`), and fit with `reference='gold'`",
            mark="dependent raters: some err together, and count as independent",
            parts=("perception",),
        ),
        Meaning(
            code="graded-items",
            asked="whether items are graded",
            found="Items stand on a continuum{about}, and each rater says yes from a threshold on",
            means="Items in the middle are no certain yes or no, so the labels are too sure",
            mend=f"Give the truth of {2 * ENOUGH} items drawn at random (`truth=`), and fit with "
            "`reference='gold'`, which learns how often raters are wrong together",
            mark="graded items: those in the middle are neither a certain yes nor a certain no",
            parts=("perception",),
        ),
        Meaning(
            code="skipping-by-answer",
            asked="whether the number of answers depends on the answer",
            found="Items with more answers get other answers{about}: raters skip items by what is "
            "true of them",
            means="Shares of all items are then biased",
            mend="If as many answers of each item were asked for, give the number that came in a "
            "column (`covariates=['n_answers']`), and fit with `formula='~ n_answers'`",
            mark="skipping by the answer: items with more answers get other answers",
            covariates=("n_answers",),
        ),
        Meaning(
            code="halo",
            asked="whether labels of a rating hang together",
            found="Answers of one rating hang together beyond the truth{about} (halo)",
            means="One impression counts as several witnesses, so the labels are too sure",
            mend="Fit with `raters='joint'`, and keep it if it predicts left-out clusters better "
            "(`arviz_stats.compare`)",
            mark="halo: answers of one rating hang together beyond the truth",
            parts=("joint",),
        ),
    )
}


def about(departure: Departure) -> str:
    """Name the labels of a departure."""
    return f" ({' and '.join(departure.labels)})" if departure.labels else ""


def warning(departure: Departure) -> str:
    """Write the observation, its consequence and its remedy."""
    meaning = MEANINGS[departure.code]
    found = meaning.found.format(about=about(departure), who=" and ".join(departure.who))
    return f"{found}. {meaning.means}. {meaning.mend}."


def numbers(departure: Departure) -> Numbers:
    """Return the size and the p-value."""
    return {"size": departure.size, "p": departure.p}


def teams_warning(teams: Sequence[Sequence[str]]) -> str:
    """Describe systems that are not connected."""
    names = "; ".join(", ".join(team) for team in teams)
    return (
        f"Systems were rated by separate teams ({names}): they share no raters, and no known "
        "truth. The data cannot tell a difference of the systems from one of the teams, so that "
        "no conclusion about it stands. Have each team rate "
        f"{ENOUGH} items of the other systems, or give the truth of {ENOUGH} items of each "
        "(`truth=`)."
    )


def check_departures(ratings: Ratings) -> Part:
    """Report departures from raters who err independently, and alike on all items."""
    found = []
    if teams := separate_teams(ratings):
        text = teams_warning(teams).removesuffix(".")
        found.append(
            _finding("warning", text, code="separate-teams", numbers={"teams": len(teams)})
        )
    searched = search(ratings)
    found += [
        _finding("warning", warning(one).removesuffix("."), code=one.code, numbers=numbers(one))
        for one in searched.found
    ]
    asked = [MEANINGS[code].asked for code in searched.tests]
    if asked and not searched.found:
        text = (
            f"no test finds that raters err together or unevenly ({len(asked)} tests, false alarm "
            f"{FAMILYWISE:.0%}): {some(asked, len(asked))}"
        )
        found.append(_finding("ok", text, code="no-departures", numbers={"tests": len(asked)}))
    lacking = _relevant(ratings) - set(searched.tests)
    untested = [meaning.asked for code, meaning in MEANINGS.items() if code in lacking]
    if untested:
        text = f"the data are too few to test {some(untested, len(untested))}"
        found.append(
            _finding("note", text, code="untested-departures", numbers={"tests": len(untested)})
        )
    table = pd.DataFrame(
        [{"test": MEANINGS[c].asked, "code": c, "p": p} for c, p in searched.tests.items()],
        columns=["test", "code", "p"],
    )
    return Part(findings=tuple(found), tables={"departures": table})


def _relevant(ratings: Ratings) -> set[Code]:
    """Return the tests that a larger study of this design would allow."""
    found: set[Code] = {"dependent-raters"}
    if ratings.items["cluster"].nunique() < len(ratings.items):
        found.add("rater-by-cluster")
    if len(ratings.systems) > 1:
        found.add("rater-by-system")
    return found
