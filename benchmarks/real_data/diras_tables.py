"""DIRAS: the published rows of scored language models, and the same with the gold as latent.

Ratings: ChatReportRetrieve of Ni et al. (2025), 11 questions x 60 paragraphs, experts and language
models with confidences. Run ``python -m benchmarks diras_tables [--data DIR] [--seed 1]``; it
writes ``table1.csv``, ``table2.csv``, ``info.csv``, ``latent.csv``, ``latent_measures.csv``,
``fits.csv`` and ``versions.json`` to ``results/diras``. ``DIR`` holds the folder
``diras_chatreport``, and the raw results as published in ``raw/diras_chatreport``;
``../shared/data`` if not given. The three fits take some minutes; ``--published`` leaves them out.
"""

import argparse
import json
import platform
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings
from assay.inference.diagnostics import fit_warnings
from assay.raters.scoring import score_rater

Line = dict[str, Any]

CLASSES = ("no", "partially", "yes")
CUT: Mapping[str, float] = {"yes": 1.0}
"""The grades of the authors' tool, which reads 0, 0.5 and 1 as whole numbers: 0, 0 and 1."""
GRADED: Mapping[str, float] = {"partially": 0.5, "yes": 1.0}

ROWS_1 = {"Point-Ask-D": "gpt4", "Point-Ask": "gpt4_no_explanation", "GPT-3.5": "gpt35"}
MORE_1 = {
    "Point-Ask-D, no reason first": "gpt4_no_cot",
    "Point-Tok-D": "gpt4 tok",
    "GPT-3.5 Tok": "gpt35 tok",
}
ROWS_2 = {
    "Llama-3 Ask": "ft_gc_llama",
    "Gemma Ask": "ft_gc_gemma",
    "Phi-3 Ask": "ft_gc_phi3",
    "Llama-3 CoT-Ask": "ft_rgc_llama",
    "Gemma CoT-Ask": "ft_rgc_gemma",
    "Phi-3 CoT-Ask": "ft_rgc_phi3",
}
STUDENTS = {"Llama-3": "llama", "Gemma": "gemma", "Phi-3": "phi3"}
MORE_2 = {
    f"{name} {row}": rater.format(model)
    for row, rater in {
        "Tok": "ft_gc_{} tok",
        "CoT-Tok": "ft_rgc_{} tok",
        "Tok, confidence not asked": "ft_g_{} tok",
        "CoT-Tok, confidence not asked": "ft_rg_{} tok",
        "Ask, not fine-tuned": "raw_{}_gc",
        "CoT-Ask, not fine-tuned": "raw_{}_rgc",
    }.items()
    for name, model in STUDENTS.items()
}
TOKENS = " tok"
"""Ending of raters whose confidence is the probability of the token of their guess."""
RAW_TOKENS = {"gpt4": "gpt4_probabYesNo", "gpt35": "gpt3.5_probabYesNo"}
"""Columns of the raw results with these probabilities, in per cent."""
PRINTED: Mapping[str, Mapping[str, float]] = {
    "Point-Ask-D": {"Unc.": 54.01, "Bin.": 86.32, "Cal.": 91.10, "Info.": 88.48},
    "Point-Ask": {"Unc.": 39.27, "Bin.": 84.07, "Cal.": 90.59},
    "GPT-3.5": {"Unc.": 29.71, "Bin.": 45.27, "Cal.": 85.46},
    "Llama-3 Tok": {"Unc.": 41.60, "Bin.": 82.11, "Cal.": 91.35, "Info.": 89.19},
}
"""In per cent: Ni et al. (2025), Table 1, and what is at hand of Table 2.

Info., the averages and the Cal. of Llama-3 Tok are quoted from a public summary of the paper,
github.com/robertschaub/FactHarbor.
"""
PRINTED_AVERAGE = {"Point-Ask-D": 80.00, "GPT-3.5": 58.65, "Llama-3 Tok": 76.06}
COLUMNS = ("Unc.", "Bin.", "Cal.")

EXPERTS = ("expert_1", "expert_2", "expert_meta")
TRUTHS: Mapping[str, tuple[str, ...]] = {
    "two experts": EXPERTS[:2],
    "three experts": EXPERTS,
    "three experts and the gold": (*EXPERTS, "gold"),
}
"""Whose ratings the latent truth is learned from; the gold counts as one more rater."""
INTERVALS = ("Bin.", "Cal.", "Info.", "Info. graded")
EFFORT: Line = {"draws": 2000, "tune": 2000, "target_accept": 0.95}
"""Twice the default: with 1,000 draws a chain, R-hat of one unknown lies on the limit of 1.01."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Diras:
    """The set as tables.

    annotations : a line for each rating
    gold : a line for each item
    tokens : guess and probability of its token, a line for each student and item
    raw : the results as published, a line for each item
    """

    annotations: pd.DataFrame
    gold: pd.DataFrame
    tokens: pd.DataFrame
    raw: pd.DataFrame

    @property
    def clusters(self) -> pd.Series:
        """The question of each item."""
        return self.gold["query"]

    def relevance(self) -> pd.Series:
        """Return the gold: no < partially < yes."""
        return self.gold["label"].astype(pd.CategoricalDtype(list(CLASSES), ordered=True))

    def scores(self, rater: str) -> pd.DataFrame:
        """Score, guess and confidence of a language model, as the authors read its answers.

        A guess is a yes if it contains "yes". The score is the confidence or what it lacks to 1,
        unrounded: 1 - 0.7 lies just above 0.3, and so in another bin of the calibration error.
        """
        own = self.annotations[self.annotations["rater"] == rater.removesuffix(TOKENS)]
        own = own.set_index("item")
        said, confidence = own["label"], own["confidence"].astype(float)
        if rater.endswith(TOKENS):
            said, confidence = self._tokens(rater.removesuffix(TOKENS), said)
        guess = said.str.lower().str.contains("yes")
        score = confidence.where(guess, 1 - confidence)
        return pd.DataFrame({"score": score, "guess": guess, "confidence": confidence})

    def _tokens(self, rater: str, said: pd.Series) -> tuple[pd.Series, pd.Series]:
        """Return the guess and the probability of its token, from the file that has the rater."""
        if rater in RAW_TOKENS:
            return said, self.raw[RAW_TOKENS[rater]].loc[said.index] / 100
        own = self.tokens[self.tokens["rater"] == rater].set_index("item")
        return own["guess"], own["confidence"].astype(float)


def read_diras(data: Path) -> Diras:
    """Read the set from the folder ``diras_chatreport`` of ``data``."""
    folder = data / "diras_chatreport"
    gold = pd.read_csv(folder / "gold.csv").set_index("item")
    raw = pd.read_csv(data / "raw" / "diras_chatreport" / "chatreport_test_results.csv")
    return Diras(
        annotations=pd.read_csv(folder / "annotations.csv"),
        gold=gold,
        tokens=pd.read_csv(folder / "student_token_probabilities.csv"),
        raw=raw.set_axis(gold.index, axis=0),  # the items are named in the order of this file
    )


def against_gold(diras: Diras, rater: str, **choices: Any) -> xr.Dataset:
    """Score a language model against the gold."""
    return score_rater(
        diras.relevance(),
        diras.scores(rater),
        positive="partially",
        clusters=diras.clusters,
        **choices,
    )


def calibration_score(measures: xr.Dataset) -> xr.DataArray:
    """Cal.: the mean of 1 - ECE, 1 - Brier and the AUROC of the confidence for right guesses."""
    loss = measures["ece"] + measures["brier"]
    return (2 - loss + measures["confidence_auroc"]) / 3


def published_columns(diras: Diras, rater: str) -> dict[str, float]:
    """Unc., Bin. and Cal. in per cent."""
    measures = against_gold(diras, rater, metric=["f1", "ece", "brier", "confidence_auroc"])
    doubt = 1 - diras.scores(rater)["confidence"]
    uncertain = score_rater(diras.gold["hard"], doubt, metric="average_precision")
    return {
        "Unc.": 100 * uncertain["average_precision"].item(),
        "Bin.": 100 * measures["f1"].item(),
        "Cal.": 100 * calibration_score(measures).item(),
    }


def information(diras: Diras, rater: str, gains: Mapping[str, float]) -> dict[str, float]:
    """Info. in per cent, the mean of nDCG and MAP: over all orders of ties, and its range.

    The same order is the worst one for nDCG and for MAP, the same the best, so that the range of
    their mean is the mean of their ranges.
    """
    found = against_gold(diras, rater, gains=gains)
    ends = {"": "", " lowest": "_lowest", " highest": "_highest"}
    return {
        f"Info.{end}": 50 * (found[f"ndcg{name}"] + found[f"map{name}"]).item()
        for end, name in ends.items()
    } | {"nDCG": 100 * found["ndcg"].item(), "MAP": 100 * found["map"].item()}


def table(diras: Diras, rows: Mapping[str, str]) -> Iterator[Line]:
    """Make one line per published row: each column, and what was printed where it is at hand."""
    for row, rater in rows.items():
        ours, line = published_columns(diras, rater), {"row": row, "rater": rater}
        for name in COLUMNS:
            line[name] = f"{ours[name]:.2f}"
            printed = PRINTED.get(row, {}).get(name)
            line[f"{name} printed"] = "" if printed is None else f"{printed:.2f}"
        yield line


def info_table(diras: Diras) -> Iterator[Line]:
    """Make one line per row and grading: Info. over ties, its range, and what was printed."""
    for row, rater in (ROWS_1 | MORE_1 | ROWS_2 | MORE_2).items():
        for grading, gains in {"cut": CUT, "graded": GRADED}.items():
            ours = information(diras, rater, gains)
            printed = _printed_info(row) if grading == "cut" else ""
            numbers = {name: f"{value:.2f}" for name, value in ours.items()}
            yield {"row": row, "grading": grading, **numbers, "Info. printed": printed}


def _printed_info(row: str) -> str:
    """Return what was printed; else what the printed average of the row implies, marked so."""
    printed = PRINTED.get(row, {})
    if "Info." in printed:
        return f"{printed['Info.']:.2f}"
    if row not in PRINTED_AVERAGE:
        return ""
    return f"{4 * PRINTED_AVERAGE[row] - sum(printed.values()):.2f} (from the average)"


def expert_ratings(diras: Diras, raters: tuple[str, ...]) -> Ratings:
    """Read the experts' ratings as ratings of the relevance task; the gold as a rater if named."""
    gold = diras.gold.reset_index().assign(rater="gold")
    every = pd.concat([diras.annotations, gold])
    own = every[every["rater"].isin(raters)]
    # Words such as "partially yes" stand for "partially": grade 1.
    relevance = [CLASSES[int(grade)] for grade in own["grade"]]
    tidy = own[["item", "query", "rater"]].assign(relevance=relevance)
    return assay.read_ratings(tidy, task="relevance", cluster="query")


def fit_experts(diras: Diras, raters: tuple[str, ...], seed: int, **options: Any) -> xr.DataTree:
    """Fit the experts' ratings; what the fit warns of stays in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(
            expert_ratings(diras, raters),
            raters="hierarchical",
            rng=seed,
            progress=False,
            **options,
        )


def columns(diras: Diras, truth: xr.DataTree | pd.Series, rater: str) -> xr.Dataset:
    """Draws of the published columns, in per cent, and of all measures, of one language model."""
    choices: Line = {"positive": "partially", "clusters": diras.clusters}
    scores = diras.scores(rater)
    found = score_rater(truth, scores, gains=GRADED, **choices)
    cut = score_rater(truth, scores, gains=CUT, metric="ndcg", **choices)["ndcg"]
    published = {
        "Bin.": 100 * found["f1"],
        "Cal.": 100 * calibration_score(found),
        "Info.": 50 * (cut + found["map"]),
        "Info. graded": 50 * (found["ndcg"] + found["map"]),
    }
    return xr.Dataset({**published, **found.data_vars}).assign_attrs(found.attrs)


def latent_lines(diras: Diras, truth: str, fit: xr.DataTree) -> Iterator[Line]:
    """Make one line per row and column or measure: against the gold and the latent truth."""
    for row, rater in (ROWS_1 | ROWS_2).items():
        gold = columns(diras, diras.relevance(), rater)
        for _, line in assay.summarize(columns(diras, fit, rater)).iterrows():
            name = line["metric"]
            yield {
                "truth": truth,
                "row": row,
                "measure": name,
                "against the gold": gold[name].item(),
                **{key: line[key] for key in ("mean", "sd", "lower", "upper", "level")},
                "estimand": gold.attrs["estimand"],
                "reference": line["reference"],
            }


def side_by_side(lines: pd.DataFrame) -> Iterator[Line]:
    """Make one line per row and truth, with an interval in each published column."""
    for (row, truth), group in lines.groupby(["row", "truth"], sort=False):
        found = group.set_index("measure")
        line = {"row": row, "truth learned from": truth}
        for name in INTERVALS:
            mean, lower, upper = (float(found.loc[name, k]) for k in ("mean", "lower", "upper"))
            line[name] = f"{mean:.1f} ({lower:.1f} to {upper:.1f})"
        yield line


def fit_line(truth: str, fit: xr.DataTree, seed: int) -> Line:
    """Describe a fit: how it was made, whether its chains agree, what it warns of."""
    found, sizes = json.loads(fit.attrs["diagnostics"]), fit["posterior"].sizes
    return {
        "truth learned from": truth,
        "ratings": fit["observed_data"].sizes["rating"],
        "draws": sizes["chain"] * sizes["draw"],
        "R-hat": f"{found['r_hat_max']:.3f}",
        "ESS": f"{found['ess_min']:.0f}",
        "divergences": found["divergences"],
        "seed": seed,
        "warnings": " ".join(fit_warnings(fit)) or "none",
    }


def latent_tables(diras: Diras, folder: Path, seed: int) -> None:
    """Write the tables of the latent truth, after each fit."""
    lines: list[Line] = []
    fits: list[Line] = []
    for truth, raters in TRUTHS.items():
        fit = fit_experts(diras, raters, seed, **EFFORT)
        lines += latent_lines(diras, truth, fit)
        fits.append(fit_line(truth, fit, seed))
        write(fits, folder / "fits.csv")
        write(lines, folder / "latent_measures.csv")
    order = {row: n for n, row in enumerate(ROWS_1 | ROWS_2)}
    found = pd.DataFrame(lines).sort_values("row", key=lambda row: row.map(order), kind="stable")
    write(side_by_side(found), folder / "latent.csv")


def write(lines: Iterable[Line], path: Path) -> None:
    """Write lines as CSV."""
    pd.DataFrame(lines).to_csv(path, index=False, float_format="%.4f")


def main() -> None:
    """Read the command line and write the tables."""
    project = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=project.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--published", action="store_true", help="only what needs no fit")
    chosen = parser.parse_args()
    folder = Path(__file__).resolve().parent / "results" / "diras"
    folder.mkdir(parents=True, exist_ok=True)
    diras = read_diras(chosen.data)
    write(table(diras, ROWS_1 | MORE_1), folder / "table1.csv")
    write(table(diras, ROWS_2 | MORE_2), folder / "table2.csv")
    write(info_table(diras), folder / "info.csv")
    if chosen.published:
        return
    latent_tables(diras, folder, chosen.seed)
    used = ("assay", "numpy", "numba", "pandas", "pymc", "nutpie")
    versions = {"python": platform.python_version(), **{name: version(name) for name in used}}
    (folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    main()
