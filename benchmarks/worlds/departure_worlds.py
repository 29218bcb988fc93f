"""Small studies with one fault each, or none, to try the detectors of ``check`` on.

Sixty queries, two systems, five ranks; raters who differ in how often they are right on either
class. Queries differ in ease and systems in rate; where a world says so, systems differ in how hard
their items are. Nothing here is the package's own simulator.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

import assay
from assay.data.task import Label, Task

Rng = np.random.Generator
QUERIES, SYSTEMS, RANKS = 60, "AB", 5


@dataclass(kw_only=True)
class Study:
    """Items, raters, and who rates what.

    ``right`` is (rater, class), ``who`` is (item, rater); all else is (item,).
    """

    query: np.ndarray
    system: np.ndarray
    rank: np.ndarray
    truth: np.ndarray
    right: np.ndarray
    who: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of items and of raters."""
        return self.who.shape

    def odds(self) -> np.ndarray:
        """Log odds of a right answer: (item, rater)."""
        return np.asarray(logit(self.right)[:, self.truth].T)

    def answers(self, rng: Rng, *, odds: np.ndarray | None = None, shift: object = 0) -> np.ndarray:
        """Draw answers, with log odds of yes moved by ``shift``: (item, rater)."""
        right = self.odds() if odds is None else odds
        yes = np.where(self.truth[:, None] == 1, right, -right) + shift
        return (rng.random(self.shape) < expit(yes)).astype(int)

    def ratings(self, answers: np.ndarray, **columns: np.ndarray) -> assay.Ratings:
        """Read the answers of those who rate; further columns are (item,)."""
        item, rater = np.nonzero(self.who)
        frame = pd.DataFrame({
            "item": item, "rater": [f"r{j}" for j in rater], "query": self.query[item],
            "system": np.array(list(SYSTEMS))[self.system[item]], "rank": self.rank[item] + 1,
            "label": np.where(answers[item, rater] == 1, "yes", "no"),
            **{name: values[item] for name, values in columns.items()},
        })  # fmt: skip
        names = {"truth": "truth"} if "truth" in columns else {}
        others = [name for name in columns if name != "truth"]
        more = {"covariates": others} if others else {}
        return assay.read_ratings(frame, task="single", cluster="query", **names, **more)


def study(
    rng: Rng, *, raters: int = 6, each: int = 3, right: tuple[float, float] = (0.75, 0.93),
    ranks: int = RANKS, queries: int = QUERIES,
) -> Study:  # fmt: skip
    """Draw items and raters."""
    axes = np.meshgrid(np.arange(queries), [0, 1], np.arange(ranks), indexing="ij")
    query, system, rank = (axis.ravel() for axis in axes)
    ease = rng.normal(0, rng.uniform(0, 1.5), queries)[query]
    odds = rng.uniform(-0.8, 0.8) + ease + rng.normal(0, 0.8) * (system - 0.5)
    odds = odds - rng.uniform(0, 0.4) * (rank - (ranks - 1) / 2)
    order = rng.random((len(query), raters)).argsort(axis=1).argsort(axis=1)
    return Study(
        query=query, system=system, rank=rank, truth=(rng.random(len(query)) < expit(odds)) * 1,
        right=rng.uniform(*right, (raters, 2)), who=order < each,
    )  # fmt: skip


def no_fault(rng: Rng) -> assay.Ratings:
    """Unequal raters, from weak to good; queries and systems that differ."""
    raters = int(rng.integers(4, 9))
    found = study(rng, raters=raters, each=int(rng.integers(2, 5)), right=(0.7, 0.95))
    return found.ratings(found.answers(rng))


def harder_system(rng: Rng) -> assay.Ratings:
    """No fault; raters guess 15 % of the items of A, and 30 % of those of B."""
    found = study(rng, each=4, right=(0.7, 0.95))
    guessed = rng.random(len(found.truth)) < np.where(found.system == 0, 0.15, 0.3)
    return found.ratings(found.answers(rng, odds=np.where(guessed[:, None], 0, found.odds())))


def one_answer_a_query(rng: Rng) -> assay.Ratings:
    """No fault; one item of each system a query."""
    found = study(rng, each=3, right=(0.7, 0.95), ranks=1, queries=150)
    return found.ratings(found.answers(rng))


def uneven_design(rng: Rng) -> assay.Ratings:
    """No fault; some raters answer far more than others, and items of B get more answers."""
    found = study(rng)
    share = np.where(found.system == 0, 0.4, 0.7)[:, None] * np.linspace(0.6, 1.3, found.shape[1])
    found.who = rng.random(found.shape) < share
    return found.ratings(found.answers(rng))


def disputes_settled(rng: Rng) -> assay.Ratings:
    """No fault; a third rater is asked where two disagree."""
    found = study(rng, each=3)
    answers = found.answers(rng)
    order = np.where(found.who, rng.random(found.shape), 2).argsort(axis=1)
    lines = np.arange(len(answers))
    same = answers[lines, order[:, 0]] == answers[lines, order[:, 1]]
    found.who[lines[same], order[same, 2]] = False
    return found.ratings(answers)


def easy_and_hard_queries(rng: Rng) -> assay.Ratings:
    """No fault; raters read some queries with ease, and answer others hardly better than chance."""
    found = study(rng, each=4, right=(0.75, 0.97))
    ease = rng.choice([0.15, 1.0, 1.5], QUERIES)[found.query, None]
    return found.ratings(found.answers(rng, odds=found.odds() * ease))


def one_team_a_query(rng: Rng) -> assay.Ratings:
    """No fault; the same three of six raters answer all items of a query, easy or hard."""
    found = study(rng, right=(0.7, 0.95))
    order = rng.random((QUERIES, found.shape[1])).argsort(axis=1).argsort(axis=1)
    found.who = (order < 3)[found.query]
    hard = (rng.random(QUERIES) < 0.2)[found.query, None]
    return found.ratings(found.answers(rng, odds=found.odds() * np.where(hard, 0.3, 1)))


def carried(rng: Rng) -> assay.Ratings:
    """Raters give B the answer that they gave to A at its rank, in 35 % of the cases."""
    found = study(rng, each=4)
    answers = found.answers(rng)
    first = np.arange(len(answers)).reshape(QUERIES, 2, RANKS)[:, 0].ravel()
    second = first + RANKS
    both = found.who[first] & found.who[second] & (rng.random((len(first), found.shape[1])) < 0.35)
    answers[second] = np.where(both, answers[first], answers[second])
    return found.ratings(answers)


def duplicates(rng: Rng) -> assay.Ratings:
    """30 % of B's items are one of A's in the same query, at any rank, rated once for both."""
    found = study(rng)
    answers = found.answers(rng)
    order = np.arange(len(answers)).reshape(QUERIES, 2, RANKS)
    source = rng.permuted(order[:, 0], axis=1)
    same = rng.random(source.shape) < 0.3
    copy, original = order[:, 1][same], source[same]
    answers[copy], found.who[copy] = answers[original], found.who[original]
    return found.ratings(answers)


def misread(rng: Rng) -> assay.Ratings:
    """Each rater misreads 15 % of the queries, and says yes, or no, to all of them."""
    found = study(rng)
    lost = rng.random((QUERIES, found.shape[1])) < 0.15
    said = rng.random(lost.shape) < 0.5
    answers = np.where(lost[found.query], said[found.query], found.answers(rng))
    return found.ratings(answers)


def favourites(rng: Rng) -> assay.Ratings:
    """Two of four raters favour A."""
    found = study(rng, raters=4)
    return found.ratings(found.answers(rng, shift=favour(found)))


def favour(found: Study) -> np.ndarray:
    """Log odds of yes that two raters add on items of A, and take from those of B."""
    return np.where(found.system == 0, 1.0, -1.0)[:, None] * (np.arange(found.shape[1]) < 2)


def trusted(rng: Rng) -> assay.Ratings:
    """All raters trust A too much."""
    found = study(rng, each=4, right=(0.8, 0.95))
    return found.ratings(found.answers(rng, shift=trust(found)))


def trust(found: Study) -> np.ndarray:
    """Log odds of yes that all raters add on items of A."""
    return np.where(found.system == 0, 1.8, 0.0)[:, None]


def languages(rng: Rng, *, lost: float = 1.0) -> assay.Ratings:
    """Give a third of the queries another language, which half of the raters hardly read.

    There they say no in three of four cases, whatever is true; with ``lost=0`` they read it.
    """
    found = study(rng, raters=6, each=4)
    foreign = (rng.random(QUERIES) < 1 / 3)[found.query]
    guesses = lost * (foreign[:, None] & (np.arange(6) < 3)[None])
    answers = found.answers(rng, odds=found.odds() * (1 - guesses), shift=-1.2 * guesses)
    return found.ratings(answers, language=np.where(foreign, "de", "en"))


def language_that_all_read(rng: Rng) -> assay.Ratings:
    """No fault; the items have a column of their language, which all raters read."""
    return languages(rng, lost=0.0)


def rank_followers(rng: Rng) -> assay.Ratings:
    """Let some raters follow the rank, and others not."""
    found = study(rng, raters=5)
    strength = np.array([0, 0, 0.5, 1.0, 1.0])
    return found.ratings(found.answers(rng, shift=(2 - found.rank)[:, None] * strength))


def harder_ranks(rng: Rng) -> assay.Ratings:
    """No fault; items are harder the lower they stand, and far fewer of them are yes."""
    found = study(rng, each=4, right=(0.75, 0.97))
    fewer = (found.truth == 1) & (rng.random(len(found.truth)) < 0.15 * found.rank)
    found.truth = np.where(fewer, 0, found.truth)
    ease = np.linspace(1.3, 0.5, RANKS)[found.rank, None]
    return found.ratings(found.answers(rng, odds=found.odds() * ease))


def copier(rng: Rng) -> assay.Ratings:
    """Add a judge who rates all items, and sees 85 % of them as one of four people does."""
    found = study(rng, raters=5, each=2)
    order = rng.random((len(found.truth), 4)).argsort(axis=1).argsort(axis=1)
    found.who = np.column_stack([order < 2, np.ones(len(order), bool)])
    answers = found.answers(rng)
    answers[:, 4] = np.where(rng.random(len(order)) < 0.85, answers[:, 0], 1 - answers[:, 0])
    return found.ratings(answers)


def judge_of_one(rng: Rng, *, repeats: float = 0.85) -> assay.Ratings:
    """Let a judge and two people rate all items, and see 85 % of them as the first person does."""
    found = study(rng, raters=3, each=3, queries=120)
    answers = found.answers(rng)
    answers[:, 2] = np.where(rng.random(len(answers)) < repeats, answers[:, 0], answers[:, 2])
    return found.ratings(answers)


def three_raters(rng: Rng) -> assay.Ratings:
    """No fault; three unequal raters answer all items."""
    return judge_of_one(rng, repeats=0)


def adjudicator(rng: Rng, *, follows: float = 0.9, best: float = 0.92) -> assay.Ratings:
    """Show the answers of two of four raters to a fifth, who confirms 90 % of those that agree."""
    found = study(rng, raters=5, each=2, right=(0.75, 0.92))
    found.right[4] = rng.uniform(best - 0.17, best, 2)
    order = rng.random((len(found.truth), 4)).argsort(axis=1)
    lines = np.arange(len(order))
    found.who[:, 4] = True
    found.who[:, :4] = order.argsort(axis=1) < 2
    answers = found.answers(rng)
    one, two = (answers[lines, order[:, n]] for n in (0, 1))
    seen = (one == two) & (rng.random(len(lines)) < follows)
    answers[:, 4] = np.where(seen, one, answers[:, 4])
    return found.ratings(answers)


def expert_beside_two(rng: Rng) -> assay.Ratings:
    """No fault; a very good fifth rater answers all items without seeing other answers."""
    return adjudicator(rng, follows=0, best=0.99)


def graded(rng: Rng) -> assay.Ratings:
    """Items on a continuum; raters see them with noise, and say yes from a threshold on."""
    found = study(rng, each=4)
    place = rng.normal(0, 1, len(found.truth)) + 0.3 * (found.system - 0.5)
    threshold = rng.normal(0, 0.6, found.shape[1])
    answers = (place[:, None] + rng.normal(0, 0.6, found.shape) > threshold).astype(int)
    return found.ratings(answers)


def skipped(rng: Rng) -> assay.Ratings:
    """Raters answer 70 % of the items that are no, and 35 % of those that are yes."""
    found = study(rng)
    found.who = rng.random(found.shape) < np.where(found.truth == 1, 0.35, 0.7)[:, None]
    return found.ratings(found.answers(rng))


def teams(rng: Rng) -> assay.Ratings:
    """Three lenient raters rate A, three strict ones rate B."""
    found = study(rng)
    found.who = (np.arange(6) < 3)[None] == (found.system == 0)[:, None]
    return found.ratings(found.answers(rng, shift=np.where(found.system == 0, 1, -1)[:, None]))


LABELS = Task(
    name="three",
    labels=tuple(Label(name=name) for name in ("clear", "useful", "wrong")),
    columns={"item": ("item",), "cluster": ("query",), "system": ("system",)},
)


def several_labels(rng: Rng) -> assay.Ratings:
    """No fault; three labels that hang together, of raters who are good or weak at all of them."""
    return labelled(rng)[0]


def labelled(
    rng: Rng, *, halo: float = 0.0, odds: float = 1.8, follows: float = 0.0
) -> tuple[assay.Ratings, np.ndarray]:
    """Draw ratings of three labels, and the truth of the items: (item, label).

    If raters follow the rank, there are five ranks.
    """
    found = study(rng, ranks=2, queries=100) if not follows else study(rng)
    item, rater = np.nonzero(found.who)
    mood = rng.normal(0, halo, len(item)) + follows * (1 - found.rank[item] / 2)
    mood = mood * np.array([1, 1, -1])[:, None]
    skill = rng.normal(0, 0.5, found.shape[1])[rater]
    columns, every = {}, []
    for n, label in enumerate(LABELS.labels):
        own = rng.random(len(found.truth)) < 0.3
        truth = np.where(own, rng.random(len(own)) < 0.5, found.truth if n < 2 else 1 - found.truth)
        every.append(truth.astype(int))
        yes = np.where(truth[item] == 1, 1, -1) * (odds + skill) + mood[n]
        columns[label.name] = np.where(rng.random(len(item)) < expit(yes), "yes", "no")
    frame = pd.DataFrame({
        "item": item, "rater": [f"r{j}" for j in rater], "query": found.query[item],
        "system": np.array(list(SYSTEMS))[found.system[item]], **columns,
    })  # fmt: skip
    if follows:
        frame["rank"] = found.rank[item] + 1
    return assay.read_ratings(frame, task=LABELS), np.stack(every, axis=1)


def anchored(rng: Rng) -> assay.Ratings:
    """Let all raters find the first ranks better, and the last ones worse, than they are."""
    return labelled(rng, follows=1.2)[0]


def moods(rng: Rng) -> assay.Ratings:
    """Let an impression of each item colour all three labels of a rating."""
    return labelled(rng, halo=1.5)[0]


Draw = Callable[[Rng], assay.Ratings]
FAULTLESS: dict[str, Draw] = {
    "no_fault": no_fault, "harder_system": harder_system, "one_answer_a_query": one_answer_a_query,
    "uneven_design": uneven_design, "disputes_settled": disputes_settled,
    "several_labels": several_labels, "easy_and_hard_queries": easy_and_hard_queries,
    "one_team_a_query": one_team_a_query, "language_that_all_read": language_that_all_read,
    "three_raters": three_raters, "expert_beside_two": expert_beside_two,
    "harder_ranks": harder_ranks,
}  # fmt: skip
FAULTS: dict[str, tuple[str, Draw]] = {
    "misread": ("rater-by-cluster", misread), "carried": ("carried-over", carried),
    "duplicates": ("duplicated-items", duplicates), "favourites": ("rater-by-system", favourites),
    "trusted": ("all-raters-by-system", trusted),
    "teams": ("separate-teams", teams), "skipped": ("skipping-by-answer", skipped),
    "moods": ("halo", moods), "graded": ("graded-items", graded),
    "languages": ("rater-by-kind", languages),
    "rank_followers": ("rater-by-rank", rank_followers),
    "anchored": ("anchored-on-rank", anchored), "copier": ("dependent-raters", copier),
    "judge_of_one": ("dependent-raters", judge_of_one),
    "adjudicator": ("dependent-raters", adjudicator),
}  # fmt: skip
"""By world, the code that has to speak."""
