"""DIRAS: listwise orders and embeddings, ranked against a truth that is a parameter.

Run ``python -m benchmarks diras_retrievers [--data DIR] [--seed 1]``; it writes
``retrievers.csv``, ``scorer_pairs.csv`` and ``thresholds.csv`` to ``results/diras``. The files
are those of ``diras_tables``. The truth is that of its three experts; the fit takes some minutes.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

import assay
from assay.raters.scoring import score_rater, threshold_sweep
from benchmarks.real_data.diras_tables import (
    CUT,
    EFFORT,
    EXPERTS,
    Diras,
    Line,
    fit_experts,
    read_diras,
    write,
)

EMBEDDINGS = {
    "text-embedding, small": "small_embed_score",
    "text-embedding, large": "large_embed_score",
    "BGE base": "base_scores",
    "BGE large": "large_scores",
    "BGE reranker (Gemma)": "rerank_scores",
}
LISTS = {
    f"List-{size}{'-D' if defined else ''} {name}": f"{model}_rerank{defined}{ending}"
    for name, model in (("GPT-4", "gpt4"), ("GPT-3.5", "gpt35"))
    for size, ending in (("2/1", "_2"), ("10/5", ""), ("20/10", "_20"))
    for defined in ("", "_bg")
}
"""Listwise orders by window and step; D: with the definition of relevance."""
POINTWISE = {
    "Point-Ask-D GPT-4": "gpt4",
    "Llama-3 Ask": "ft_gc_llama",
    "Llama-3 Tok": "ft_gc_llama tok",
}
PAIRED = (*POINTWISE, "List-10/5 GPT-4")
"""Scorers whose differences the page shows."""
THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def scorers(diras: Diras) -> dict[str, pd.Series]:
    """Return the score of each item by scorer, higher for more relevant.

    The columns of listwise orders count from the end of a list.
    """
    columns = {**LISTS, **EMBEDDINGS}
    every = {name: diras.raw[column].astype(float) for name, column in columns.items()}
    return every | {name: diras.scores(rater)["score"] for name, rater in POINTWISE.items()}


def against_gold(diras: Diras, scores: pd.Series) -> dict[str, float]:
    """Return Info. in per cent with its range over the orders of ties, and Kendall's tau."""
    found = score_rater(
        diras.relevance(), scores, positive="partially", clusters=diras.clusters, gains=CUT
    )
    ends = {"Info.": "", "lowest": "_lowest", "highest": "_highest"}
    info = {n: 50 * (found[f"ndcg{e}"] + found[f"map{e}"]).item() for n, e in ends.items()}
    return info | {"tau": found["kendall_tau"].item()}


def compared(fit: xr.DataTree, diras: Diras, estimand: str) -> Any:
    """Compare all scorers by Kendall's tau with the latent truth."""
    return assay.compare_scores(
        fit, scorers(diras), metric="kendall_tau", positive="partially", clusters=diras.clusters,
        estimand=estimand,  # type: ignore[arg-type]
    )  # fmt: skip


def retriever_lines(diras: Diras, found: Mapping[str, Any]) -> Iterator[Line]:
    """Make a line per scorer: against the gold, and Kendall's tau against the latent truth."""
    these = found["finite"].systems.set_index("system")
    like = found["population"].systems.set_index("system")
    for name in these.sort_values("mean", ascending=False).index:
        gold, own, wide = against_gold(diras, scorers(diras)[name]), these.loc[name], like.loc[name]
        yield {
            "scorer": name,
            **{key: f"{gold[key]:.2f}" for key in ("Info.", "lowest", "highest")},
            "tau, gold": f"{gold['tau']:.3f}",
            "tau, these questions": _interval(own),
            "P(best)": f"{own['p_best']:.2f}",
            "tau, questions like these": _interval(wide),
            "P(best) then": f"{wide['p_best']:.2f}",
        }


def _interval(line: pd.Series) -> str:
    return f"{line['mean']:.3f} ({line['lower']:.3f} to {line['upper']:.3f})"


def pair_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Make a line per estimand and pair of some scorers: the difference of tau, and P(a > b)."""
    for estimand, one in found.items():
        for _, line in one.pairs.iterrows():
            if line["a"] in PAIRED and line["b"] in PAIRED:
                numbers = {k: line[f"difference{end}"] for k, end in ENDS.items()}
                yield {
                    "estimand": estimand,
                    "a": line["a"],
                    "b": line["b"],
                    "difference of tau": _interval(pd.Series(numbers)),
                    "P(a > b)": f"{line['p_greater']:.3f}",
                }


ENDS = {"mean": "", "lower": "_lower", "upper": "_upper"}


def threshold_lines(fit: xr.DataTree, diras: Diras) -> Iterator[Line]:
    """Make a line per threshold of one student's token score, against the latent truth."""
    scores = diras.scores("ft_gc_llama tok")["score"]
    drawn = threshold_sweep(fit, scores, positive="partially", thresholds=THRESHOLDS)
    gold = threshold_sweep(
        diras.relevance(), scores, positive="partially", thresholds=THRESHOLDS
    ).squeeze()
    for at in THRESHOLDS:
        line: Line = {"threshold": at}
        for name in ("precision", "recall", "f1"):
            ours = drawn[name].sel(threshold=at)
            low, high = (float(ours.quantile(q)) for q in (0.025, 0.975))
            line[name] = f"{float(ours.mean()):.3f} ({low:.3f} to {high:.3f})"
            line[f"{name}, gold"] = f"{gold[name].sel(threshold=at).item():.3f}"
        yield line


def main() -> None:
    """Read the command line and write the tables."""
    project = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=project.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder = Path(__file__).resolve().parent / "results" / "diras"
    diras = read_diras(chosen.data)
    fit = fit_experts(diras, EXPERTS, chosen.seed, **EFFORT)
    found = {e: compared(fit, diras, e) for e in ("finite", "population")}
    write(retriever_lines(diras, found), folder / "retrievers.csv")
    write(pair_lines(found), folder / "scorer_pairs.csv")
    write(threshold_lines(fit, diras), folder / "thresholds.csv")


if __name__ == "__main__":
    main()
