"""Report of departures: their meaning, the affected numbers, and the remedy."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from assay._util.errors import Numbers
from assay._util.text import some
from assay.checks.departures.duplicates import equal_items
from assay.checks.departures.remedies import apart_by_kind, as_copies, is_named, may_copy
from assay.checks.departures.search import (
    BY_SYSTEM,
    FAMILYWISE,
    Code,
    Departure,
    kinds_of_items,
    search,
)
from assay.checks.departures.teams import separate_teams
from assay.checks.double_sampling import PLAIN
from assay.checks.findings import Finding, Part, findings_on
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import UNNAMED, Ratings
from assay.data.states import identifies_halo

_finding = findings_on("independent raters")
TEAMS = "separate-teams"
TEAMS_MARK = (
    "separate teams: the systems share no raters, so the difference may come from the raters"
)


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """The meaning of a departure.

    found : the observation, with ``{about}`` for the labels and ``{who}``
    means : the consequence
    mend, needs : the recipe or data that remedies it; data needed even with the recipe
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
    needs: str = ""
    parts: tuple[str, ...] = ()
    prevalences: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()


BIASED = f"{PLAIN} + system_bias"
GOLD = f"Give the truth of {2 * LAYER_ITEMS} items drawn at random (`truth=`)"
MEANINGS: dict[Code, Meaning] = {
    meaning.code: meaning
    for meaning in (
        Meaning(
            code="duplicated-items",
            asked="whether items are duplicates",
            found="Some items of a cluster may be one and the same{about}: their raters, and all "
            "answers to them, are equal more often than the labels explain",
            means="Answers that stand in two lines count twice, so the labels are too certain",
            mend="Look at the pairs in the table equal_items. Give lines of the same item the same "
            "name (`item=`); it may stand in the lists of several systems. Then check again",
            mark="duplicated items: answers that stand in two lines count twice",
        ),
        Meaning(
            code="carried-over",
            asked="whether raters carry answers over between systems",
            found="Raters carry answers over from one system to another{about}: in a cluster, the "
            "errors of a rater on items of two systems agree more than those on other items",
            means="Answers to the later item repeat those to the earlier one, and the model "
            "attributes this to the cluster, so it is too certain",
            mend="Fit with `prevalence='dirichlet'`, which ignores clusters",
            needs="Differences of systems stay too certain. In further ratings, have no rater "
            "judge both systems in one cluster",
            mark="carried over: raters give the answer to one system to another one again",
            prevalences=("dirichlet",),
        ),
        Meaning(
            code="rater-by-cluster",
            asked="whether raters misread whole clusters",
            found="Raters err on whole clusters: answers of one rater in a cluster are correlated "
            "beyond the truth{about}",
            means="The model attributes these errors to the cluster, so it is too certain about it",
            mend="Fit with `raters='hierarchical + misreading'`, which learns how often raters "
            "misread a cluster",
            mark="misread clusters: raters err on whole clusters",
            parts=("misreading",),
        ),
        Meaning(
            code="rater-by-system",
            asked="whether raters favour a system",
            found="Raters judge the systems differently{about}: on the same items, some raters "
            "favour one system",
            means="The values of the systems, and their difference, depend on which raters are "
            "right",
            mend=f"Fit with `raters='{BIASED}'`, whose intervals include this",
            needs=f"The truth of {LAYER_ITEMS} items of each system drawn at random (`truth=`) "
            "shows which raters are right",
            mark="raters favour systems: values depend on which raters are right",
            parts=("system_bias",),
        ),
        Meaning(
            code="all-raters-by-system",
            asked="whether all raters judge a system otherwise",
            found="All raters judge items of {who} otherwise than those of other systems{about}: "
            "they err more, or in another direction",
            means="The model takes raters to err alike on all systems, so the values of the "
            "systems, and their difference, are biased",
            mend=f"Fit with `raters='{BIASED}'`, which learns most of this",
            needs=f"The truth of {LAYER_ITEMS} items of each system drawn at random (`truth=`) "
            "shows the rest",
            mark="all raters judge a system otherwise, so values of systems are less certain",
            parts=("system_bias",),
        ),
        Meaning(
            code="rater-by-rank",
            asked="whether raters follow the rank",
            found="Raters follow the rank of an item to different extents{about}, beyond the truth",
            means="Metrics that use ranks depend on which raters are right",
            mend=f"{GOLD}, or have items rated in random order",
            mark="answers follow the rank, to different extents by rater",
        ),
        Meaning(
            code="anchored-on-rank",
            asked="whether all raters follow the rank",
            found="All raters follow the rank of an item{about}: whatever is true, they say yes "
            "more readily at one end of the list",
            means="The model takes a part of this for the truth, so metrics that use ranks are "
            "biased",
            mend=GOLD,
            mark="answers follow the rank, whatever is true",
        ),
        Meaning(
            code="rater-by-kind",
            asked="whether raters judge kinds of items differently",
            found="Raters differ between the kinds of items in the column {who}{about}: some err "
            "more, or in another direction, on one kind",
            means="The model takes a rater to be as reliable on all kinds, so it trusts some "
            "answers too much",
            mend=GOLD,
            mark="kinds of items: some raters err more on one kind",
        ),
        Meaning(
            code="dependent-raters",
            asked="whether two raters err together",
            found="Raters do not err independently{about}. {who} deviate most from independence",
            means="Dependent raters count as independent, so the labels are too certain",
            mend=f"Give the truth of {LAYER_ITEMS} items drawn at random (`truth=`), and fit with "
            "`reference='gold'`",
            mark="dependent raters: some err together but count as independent",
            parts=("perception",),
        ),
        Meaning(
            code="graded-items",
            asked="whether items are graded",
            found="Items lie on a continuum{about}, and each rater says yes above a threshold",
            means="Items in the middle are neither a clear yes nor a clear no. What they count as "
            "depends on which raters took part",
            mend=f"Give the truth of {LAYER_ITEMS} items or more, drawn at random (`truth=`): it "
            "shows where the raters stand, and narrows the intervals",
            mark="graded items: items in the middle are neither a clear yes nor a clear no",
            parts=("perception",),
        ),
        Meaning(
            code="skipping-by-answer",
            asked="whether the number of answers depends on the answer",
            found="Items with more answers get different answers{about}: raters skip items "
            "depending on the truth",
            means="Shares of all items are biased",
            mend="If equally many answers to each item were requested, fit with "
            "`formula='~ n_answers'`, the number of answers of an item",
            mark="skipping by the answer: items with more answers get different answers",
            covariates=("n_answers",),
        ),
        Meaning(
            code="halo",
            asked="whether answers of one rating depend on each other (halo)",
            found="Answers of one rating are correlated beyond the truth{about} (halo)",
            means="One impression counts as several independent answers, so the labels are too "
            "certain",
            mend="Fit with `raters='hierarchical + item_difficulty + halo'`, which models it",
            mark="halo: answers of one rating are correlated beyond the truth",
            parts=("halo", "joint"),
        ),
    )
}
JOINS = (
    "Where other raters of an item agree, {who} agrees with them more often than an independent "
    "rater would{about}"
)


def about(departure: Departure) -> str:
    """Name the labels of a departure."""
    return f" ({' and '.join(departure.labels)})" if departure.labels else ""


def warning(departure: Departure, ratings: Ratings, modelled: str = "") -> str:
    """Write the observation, its consequence and its remedy.

    ``modelled`` says how the model allows for it already.
    """
    meaning = MEANINGS[departure.code]
    mend = modelled or _mend(departure, ratings)
    told = [_observed(departure), meaning.means, mend, needs(departure, ratings)]
    return "".join(f"{sentence}. " for sentence in told if sentence).strip()


def needs(departure: Departure, ratings: Ratings) -> str:
    """Name the data that are needed even with the recipe; ``""`` if the ratings have them."""
    meaning = MEANINGS[departure.code]
    # Truth shows a layer of raters who is right, which is what such a layer needs.
    return "" if meaning.parts and ratings.has_truth.any() else meaning.needs


def _mend(departure: Departure, ratings: Ratings) -> str:
    """Name the recipe or the data that remedies a departure in these ratings."""
    mend = MEANINGS[departure.code].mend
    known = int(ratings.has_truth.sum())
    if "perception" in MEANINGS[departure.code].parts and known >= LAYER_ITEMS:
        mend = f"Fit with `reference='gold'`, which learns from the {known} items of known truth"
    if "dirichlet" in MEANINGS[departure.code].prevalences:
        return _unless_other_clusters(mend, ratings)
    if departure.code == "rater-by-kind":
        return _apart_by_kind(departure.who[0], ratings) or mend
    if departure.code == "anchored-on-rank":
        return _apart_by_rank(ratings) or mend
    if departure.code != "dependent-raters":
        return mend
    if len(departure.who) == 1 and not departure.pairs:
        (one,) = departure.who
        otherwise = f"{mend[0].lower()}{mend[1:]}"
        return f"If {one} saw the other answers, leave those of {one} out. Otherwise {otherwise}"
    copies = as_copies(departure.pairs or [departure.who])
    fit = f"Fit with `copies={copies}`, which learns how often answers are copied"
    if len(ratings.raters) == 3:
        return f"{fit}, or leave out one of the two. {mend}"
    return fit if may_copy(ratings) else mend


def _unless_other_clusters(mend: str, ratings: Ratings) -> str:
    """Restrict a remedy that ignores clusters to readings without the advice on alike clusters."""
    columns = [unit.column for unit in ratings.accounting.larger_units if unit.matters]
    if not columns:
        return mend
    return f"Unless {columns[0]} becomes the cluster, {mend[0].lower()}{mend[1:]}"


def _apart_by_kind(column: str, ratings: Ratings) -> str:
    """Say how to read a column of kinds; ``""`` if there are sessions, and raters are columns."""
    given = apart_by_kind(column, ratings)
    if "session" in given:
        return (
            f"Read the ratings with `session={column!r}`: the default then has the layer drift, "
            "which learns how raters differ between kinds"
        )
    if not given:
        return ""
    raters = given["rater"]
    return f"Read the ratings with `rater={raters}`: each rater is then another one for each kind"


def _apart_by_rank(ratings: Ratings) -> str:
    """Say how to read ranks as sessions; ``""`` if there are sessions, or no column of ranks."""
    columns = ratings.accounting.columns_of("rank")
    if ratings.sessions or len(columns) != 1:
        return ""
    return (
        f"Read the ratings with `session={columns[0]!r}`: the default then has the layer drift, "
        "which learns most of it. The truth of some items (`truth=`) shows the rest"
    )


def _observed(departure: Departure) -> str:
    if departure.code == "dependent-raters" and len(departure.who) == 1 and not departure.pairs:
        return JOINS.format(about=about(departure), who=departure.who[0])
    who = " and ".join(departure.pairs[0] if departure.pairs else departure.who)
    return MEANINGS[departure.code].found.format(about=about(departure), who=who)


def _by_default(departure: Departure, ratings: Ratings) -> str:
    """Say how the default model allows for a departure; ``""`` if it does not."""
    named = UNNAMED not in set(ratings.raters["group"])
    allows = "The default model allows for this"
    if departure.code == "halo" and named and identifies_halo(ratings.task):
        return f"{allows}, by its layer halo"
    if departure.code == "dependent-raters" and departure.pairs and may_copy(ratings):
        pairs = as_copies(departure.pairs).items()
        told = [f"answers of {name} may repeat those of {source}" for name, source in pairs]
        return f"{allows}: {some(told)}"
    if departure.code in BY_SYSTEM and is_named(ratings):
        return "The default model then has the layer system_bias, whose intervals include this"
    return ""


def _told(departure: Departure, ratings: Ratings) -> Finding:
    """Return a warning, or a note where the default allows for the departure."""
    modelled, about_it = _by_default(departure, ratings), numbers(departure)
    if modelled and not needs(departure, ratings):
        text = f"{_observed(departure)}. {modelled}"
        return _finding("note", text, code=departure.code, numbers=about_it)
    text = warning(departure, ratings, modelled).removesuffix(".")
    return _finding("warning", text, code=departure.code, numbers=about_it)


def numbers(departure: Departure) -> Numbers:
    """Return the size and the p-value."""
    return {"size": departure.size, "p": departure.p}


def teams_warning(teams: Sequence[Sequence[str]]) -> str:
    """Describe systems that are not connected."""
    names = "; ".join(", ".join(team) for team in teams)
    return (
        f"Systems were rated by separate teams ({names}), without shared raters or known truth. "
        "A difference between the systems cannot be separated from a difference between the teams, "
        "so it supports no conclusion. Have each team rate "
        f"{LAYER_ITEMS} items of the other systems, or give the truth of {LAYER_ITEMS} items of "
        "each (`truth=`)."
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
    found += [_told(one, ratings) for one in searched.found]
    asked = [MEANINGS[code].asked for code in searched.tests]
    if asked and not searched.found:
        text = (
            f"no test found that raters err together or unevenly ({len(asked)} tests, chance of a "
            f"false alarm {FAMILYWISE:.0%}): {some(asked, len(asked))}"
        )
        found.append(_finding("ok", text, code="no-departures", numbers={"tests": len(asked)}))
    lacking = _relevant(ratings) - set(searched.tests)
    untested = [meaning.asked for code, meaning in MEANINGS.items() if code in lacking]
    if untested:
        text = f"there are too few data to test {some(untested, len(untested))}"
        found.append(
            _finding("note", text, code="untested-departures", numbers={"tests": len(untested)})
        )
    tables = {}
    if any(one.code == "duplicated-items" for one in searched.found):
        tables["equal_items"] = _equal_items(ratings)
    table = pd.DataFrame(
        [{"test": MEANINGS[c].asked, "code": c, "p": p} for c, p in searched.tests.items()],
        columns=["test", "code", "p"],
    )
    return Part(findings=tuple(found), tables={"departures": table, **tables})


def _equal_items(ratings: Ratings) -> pd.DataFrame:
    """Return the pairs of items of a cluster with the same raters and answers."""
    names = ratings.items.index.to_numpy()
    one, other = names[equal_items(ratings)].T
    return pd.DataFrame({"item": one, "other": other})


def _relevant(ratings: Ratings) -> set[Code]:
    """Return the tests that a larger study of this design would allow."""
    found: set[Code] = {"dependent-raters"}
    if ratings.items["cluster"].nunique() < len(ratings.items):
        found.add("rater-by-cluster")
    if len(ratings.systems) > 1:
        found.update(BY_SYSTEM)
    if kinds_of_items(ratings):
        found.add("rater-by-kind")
    return found
