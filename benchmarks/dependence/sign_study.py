"""XSTest as a study of a judge: two systems, a language model's ratings, people's on a hundred.

Ratings of Röttger et al. (2024), with the gold; what the judge and the people say by themselves.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

import assay
from assay.comparison.baselines import vote_metrics
from assay.comparison.refit import rated_by
from assay.data.ratings import Ratings

Line = dict[str, Any]

SYSTEMS = ("gpt4", "mistralguard")
JUDGE, PEOPLE = "gpt4_judge", ("human_1", "human_2")
METRIC = "prevalence[label=complied]"
ANSWERS, PROMPTS = "answers", "prompts"
UNITS = {ANSWERS: "item", PROMPTS: "query"}
"""What a hundred is drawn from: answers of either system, or prompts with the answers of both."""
JUDGE_ALONE, SURVEY = "judge alone", "people alone, survey sample"


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """The ratings of the two systems, and the gold.

    Attributes
    ----------
    table : pandas.DataFrame
        A line per rating: ``item``, ``query``, ``system``, ``rater``, ``group``, ``label``.
    gold : pandas.Series
        Whether the system complied, by item.
    """

    table: pd.DataFrame
    gold: "pd.Series[bool]"

    def difference(self, complied: "pd.Series[bool]") -> float:
        """Compliance of the first system less that of the second, in an answer by item."""
        system = self.table.drop_duplicates("item").set_index("item")["system"]
        means = complied.groupby(system).mean()
        return float(means[SYSTEMS[0]] - means[SYSTEMS[1]])


def read_study(data: Path, refusal: str = "any_refusal") -> Study:
    """Read the two systems' answers as judged by the language model and the two people.

    Parameters
    ----------
    data : Path
        Folder that holds ``xstest``.
    refusal : {"any_refusal", "full_refusal"}
        Which answers are not compliance.
    """
    table = pd.read_csv(data / "xstest" / "annotations.csv")
    gold = pd.read_csv(data / "xstest" / "gold.csv").set_index("item")[refusal] == 0
    table = table[table["system"].isin(SYSTEMS) & table["rater"].isin([JUDGE, *PEOPLE])]
    label = np.where(table[refusal] == 1, "refused", "complied")
    group = np.where(table["rater"] == JUDGE, "judge", "people")
    table = table[["item", "query", "system", "rater"]].assign(group=group, label=label)
    return Study(table=table, gold=gold[gold.index.isin(table["item"])])


def hundred(study: Study, number: int, of: str = ANSWERS, size: int = 100) -> Ratings:
    """Keep the judge's ratings of all answers, and the people's of a random hundred.

    Parameters
    ----------
    number : int
        Which hundred: the seed of the draw.
    of : {"answers", "prompts"}
        What the hundred is drawn from.
    size : int
    """
    table, unit = study.table, UNITS[of]
    units = np.sort(table[unit].unique())
    chosen = np.random.default_rng(number).choice(units, size, replace=False)
    kept = table[(table["group"] == "judge") | table[unit].isin(chosen)]
    return assay.read_ratings(kept, task="single", cluster="query", system="system", group="group")


def survey_line(ratings: Ratings, of: str) -> Line:
    """Estimate from the people's hundred alone, as a survey sampler does.

    A person's two classes are averaged over the people. Answers: two independent means, each with
    its finite-population correction; prompts: the mean of paired differences, with its own.
    """
    people = rated_by(ratings, ["people"])
    complied = people.task.labels[0].classes.index("complied")
    said = pd.DataFrame({"item": people.item, "complied": people.answers[:, 0] == complied})
    table = said.groupby("item")["complied"].mean().to_frame()
    table["query"] = people.items["cluster"].to_numpy()[table.index]
    place = people.panels.drop_duplicates("item").set_index("item")["system"]
    table["system"] = place.loc[table.index].to_numpy()
    sizes = people.panels.groupby("system")["item"].nunique()
    if of == PROMPTS:
        wide = table.pivot(index="query", columns="system", values="complied")
        paired = wide[SYSTEMS[0]] - wide[SYSTEMS[1]]
        mean, variance = paired.mean(), _error(paired, int(sizes[SYSTEMS[0]]))
    else:
        values = [table.loc[table["system"] == name, "complied"] for name in SYSTEMS]
        mean = values[0].mean() - values[1].mean()
        variance = sum(_error(v, int(sizes[n])) for v, n in zip(values, SYSTEMS, strict=True))
    half = norm.ppf(0.975) * np.sqrt(variance)
    return {
        "approach": SURVEY,
        "estimand": "finite",
        "difference": mean,
        "lower": mean - half,
        "upper": mean + half,
    }


def _error(values: "pd.Series[float]", population: int) -> float:
    """Variance of the mean of a simple random sample without replacement."""
    return float(values.var(ddof=1) / len(values) * (1 - len(values) / population))


def judge_line(study: Study, seed: int) -> Line:
    """Take the judge's word for the truth: the difference, and its bootstrap over prompts."""
    ratings = rated_by(hundred(study, 1), ["judge"])
    values, samples = vote_metrics(ratings, METRIC, np.random.default_rng(seed))
    first, second = (samples[METRIC].sel(system=name).to_numpy() for name in SYSTEMS)
    mean = values[METRIC].sel(system=SYSTEMS[0]) - values[METRIC].sel(system=SYSTEMS[1])
    lower, upper = np.quantile(first - second, [0.025, 0.975])
    return {"approach": JUDGE_ALONE, "difference": mean.item(), "lower": lower, "upper": upper}


def judge_table(data: Path) -> pd.DataFrame:
    """How often the judge is right on the answers of each system, against the gold.

    Returns
    -------
    pandas.DataFrame
        A line per definition of a refusal and system: answers that are refusals in truth, the
        share of them that the judge calls so (``sensitivity``), the same of the others
        (``specificity``), compliance by the judge and by the gold.
    """
    lines = []
    for refusal in ("any_refusal", "full_refusal"):
        study = read_study(data, refusal)
        judged = study.table[study.table["rater"] == JUDGE].set_index("item")
        table = judged.assign(said=judged["label"] == "complied", gold=study.gold)
        for system in SYSTEMS:
            mine = table[table["system"] == system]
            refused = mine[~mine["gold"]]
            lines.append(
                {
                    "a refusal is": refusal,
                    "system": system,
                    "refusals": len(refused),
                    "sensitivity": (~refused["said"]).mean(),
                    "specificity": mine.loc[mine["gold"], "said"].mean(),
                    "compliance, judge": mine["said"].mean(),
                    "compliance, gold": mine["gold"].mean(),
                }
            )
    return pd.DataFrame(lines)


def missed_together(study: Study) -> Line:
    """Count the prompts that both systems refused and in which the judge missed both refusals.

    Returns
    -------
    mapping
        ``prompts`` that both refused, ``both`` missed, and how many were ``expected`` if the
        judge's misses at its rates on these prompts were independent.
    """
    judged = study.table[study.table["rater"] == JUDGE].set_index("item")
    refused = judged[~study.gold.reindex(judged.index)]
    missed = (refused["label"] == "complied").groupby([refused["query"], refused["system"]]).any()
    wide = missed.unstack().dropna().astype(float)
    expected = len(wide) * float(np.prod(wide.mean()))
    both = int((wide.sum(axis=1) == len(SYSTEMS)).sum())
    return {"prompts": len(wide), "both": both, "expected": expected}
