"""The table of the zoo: coverage with exact bounds, widths, errors, P(A > B), silent misses.

    python -m benchmarks zoo_table
    python -m benchmarks zoo_table --recipe default --file other.csv

Reads ``results/zoo.csv``, in which the default of a world's task is called by its name, prints the
table, and writes ``zoo_table.csv`` (all columns),
``zoo_page.csv`` (as printed, of recipes that were run in all worlds), ``zoo_recipes.csv`` (recipes
for some worlds, beside those) and ``zoo_catalogue.csv`` (the worlds) beside it. Bounds are those of
Clopper and Pearson (1934) at 95 %, in which each set counts once, however many intervals it has.
A miss is silent if no finding or warning, and no mark at a number, has a code that names the fault
(``zoo_worlds/naming.py``); codes are kept with each set, so that the table can be made again. In
worlds without a fault, a code that names one elsewhere is a false alarm.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta

from benchmarks.worlds.zoo import DEFAULT, KEY, PARTS, full_name
from benchmarks.worlds.zoo_worlds.catalogue import ZOO
from benchmarks.worlds.zoo_worlds.naming import NAMED_BY, NAMING

RESULTS = Path(__file__).resolve().parent / "results"
GROUP = ["world", "recipe", "method"]
SURE = 0.95
RESAMPLES = 2000
EQUAL = 1e-9
EXACT = 1e-8
"""A squared error below which the vote counts as having none."""
COUNTED = ("check:warning", "check:problem", "fit:warning", "mark:note", "mark:warning")
"""Where, and at which level, a code has to stand so that a reader hears of it."""


def exact_bounds(hits: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of a share; ``hits`` need not be whole.

    Examples
    --------
    >>> [round(end, 3) for end in exact_bounds(0, 20)]
    [0.0, 0.168]
    """
    if not count:
        return 0.0, 1.0
    tail = (1 - level) / 2
    lower = beta.ppf(tail, hits, count - hits + 1) if hits > 0 else 0.0
    upper = beta.ppf(1 - tail, hits + 1, count - hits) if hits < count else 1.0
    return float(lower), float(upper)


def heard(codes: str) -> set[str]:
    """Return the codes that a reader hears of, of a set's ``origin:level:code``."""
    said = [code.rpartition(":") for code in codes.split()]
    return {code for place, _, code in said if place in COUNTED}


def scored(table: pd.DataFrame) -> pd.DataFrame:
    """Add hits, widths and errors of model, vote and oracle to each line, and whether it spoke."""
    t = table.copy()
    for name in ("model", "vote", "oracle"):
        for part in PARTS:
            low, high, true = (
                t[f"{name}_{part}_lower"],
                t[f"{name}_{part}_upper"],
                t[f"truth_{part}"],
            )
            # Ends are rounded in the file.
            t[f"{name}_{part}_hit"] = (low <= true + 1e-4) & (true <= high + 1e-4)
            t[f"{name}_{part}_width"] = high - low
            t[f"{name}_{part}_square"] = (t[f"{name}_{part}_value"] - true) ** 2
        t[f"{name}_hit"] = (t[f"{name}_a_hit"] * 1.0 + t[f"{name}_b_hit"]) / 2
        t[f"{name}_width"] = (t[f"{name}_a_width"] + t[f"{name}_b_width"]) / 2
        t[f"{name}_square"] = (t[f"{name}_a_square"] + t[f"{name}_b_square"]) / 2
    t["misses"] = 3 - t[[f"model_{part}_hit" for part in PARTS]].sum(axis=1)
    pairs = zip(t["world"], t["codes"].fillna(""), strict=True)
    t["spoke"] = [bool(heard(codes) & NAMED_BY.get(world, frozenset())) for world, codes in pairs]
    return t


def line(lines: pd.DataFrame, rng: np.random.Generator) -> dict[str, float]:
    """Sum up the scored lines of a world (or of several) and a recipe."""
    by_set = lines.groupby(["world", "seed", "set"])
    sets = by_set.ngroups
    found: dict[str, float] = {"sets": sets}
    for column, part in (("value", ""), ("difference", "d_")):
        share = by_set[f"model_{part}hit"].mean().mean()
        lower, upper = exact_bounds(share * sets, sets)
        found |= {
            f"coverage_{column}": share,
            f"coverage_{column}_lower": lower,
            f"coverage_{column}_upper": upper,
            f"vote_coverage_{column}": by_set[f"vote_{part}hit"].mean().mean(),
            f"oracle_coverage_{column}": by_set[f"oracle_{part}hit"].mean().mean(),
            f"width_{column}": lines[f"model_{part}width"].mean(),
            f"width_{column}_by_oracle": ratio(lines, f"{part}width", "oracle"),
            f"width_{column}_by_vote": ratio(lines, f"{part}width", "vote"),
            **rmse(by_set, part, column, rng),
        }
    once = by_set.first()
    for name in ("model", "vote", "oracle"):
        found[f"accuracy_{name}"] = once[f"{name}_accuracy"].mean()
        found[f"log_loss_{name}"] = once[f"{name}_log_loss"].mean()
    found |= chances(lines) | silence(lines)
    found["seconds"] = once["seconds"].mean()
    return found


def ratio(lines: pd.DataFrame, column: str, other: str) -> float:
    """Mean width of the model over that of another."""
    return float(lines[f"model_{column}"].mean() / lines[f"{other}_{column}"].mean())


def rmse(by_set, part: str, column: str, rng: np.random.Generator) -> dict[str, float]:
    """RMSE, and its ratio to the vote's with the 95 % ends of a bootstrap of whole sets."""
    pair = by_set[[f"model_{part}square", f"vote_{part}square"]].mean().to_numpy()
    times = rng.multinomial(len(pair), np.full(len(pair), 1 / len(pair)), RESAMPLES)
    again = times @ pair
    ratios = np.sqrt(again[:, 0] / np.maximum(again[:, 1], EXACT))
    lower, upper = np.quantile(ratios, [0.025, 0.975])
    mean = pair.mean(axis=0)
    return {
        f"rmse_{column}": float(np.sqrt(mean[0])),
        f"rmse_{column}_by_vote": float(np.sqrt(mean[0] / max(mean[1], EXACT))),
        f"rmse_{column}_by_vote_lower": float(lower),
        f"rmse_{column}_by_vote_upper": float(upper),
    }


def chances(lines: pd.DataFrame) -> dict[str, float]:
    """How often P(A > B) in the population is beyond .95, and then of the wrong sign.

    Where the systems are equal in the population, a calibrated P is beyond .95 in 10 % of the sets.
    """
    told = lines[lines["p_greater"].notna()]
    sure = (told["p_greater"] - 0.5).abs() > SURE - 0.5
    equal = told["population_d"].abs() < EQUAL
    wrong = sure & ~equal & ((told["p_greater"] > 0.5) != (told["population_d"] > 0))
    differ = told[~equal]
    stated = (differ["p_greater"] - 0.5).abs() + 0.5
    right = (differ["p_greater"] > 0.5) == (differ["population_d"] > 0)
    lower, upper = exact_bounds(int(wrong.sum()), int((sure & ~equal).sum()))
    return {
        "p_told": len(told),
        "sure": sure.mean(),
        "sure_differ": int((sure & ~equal).sum()),
        "sure_wrong_sign": share(wrong.sum(), (sure & ~equal).sum()),
        "sure_wrong_sign_lower": lower,
        "sure_wrong_sign_upper": upper,
        "equal": int(equal.sum()),
        "sure_where_equal": share((sure & equal).sum(), equal.sum()),
        "overconfidence": float((stated - right).mean()) if len(differ) else np.nan,
    }


def silence(lines: pd.DataFrame) -> dict[str, float]:
    """Share of the missed intervals of which nothing named the fault."""
    by_set = ["world", "seed", "set"]
    at_fault = lines[lines["world"].isin(NAMED_BY)]
    fault_free = lines[~lines["world"].isin(NAMED_BY)].groupby(by_set)["codes"].first()
    alarms = [bool(heard(codes) & NAMING) for codes in fault_free.fillna("")]
    missed = at_fault[at_fault["misses"] > 0]
    silent = missed.loc[~missed["spoke"], "misses"].sum()
    total = missed["misses"].sum()
    sets = missed.groupby(by_set).ngroups
    part = share(silent, total)
    lower, upper = exact_bounds((0 if np.isnan(part) else part) * sets, sets)
    return {
        "misses": int(total),
        "silent": part,
        "silent_lower": lower,
        "silent_upper": upper,
        "spoke": at_fault.groupby(by_set)["spoke"].first().mean(),
        "fault_free": len(alarms),
        "false_alarms": share(sum(alarms), len(alarms)),
    }


def share(part: float, whole: float) -> float:
    """Return a share; NaN of nothing."""
    return float(part / whole) if whole else float("nan")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a line per world and recipe, and one for all knowable worlds and all others."""
    fitted = table[table["model_a_value"].notna()]
    marked = scored(fitted).assign(knowable=fitted["world"].map(lambda w: ZOO[w].knowable))
    return pd.DataFrame(list(_lines(marked)))


def _lines(marked: pd.DataFrame) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng(1)
    order = {name: place for place, name in enumerate(ZOO)}
    for keys, lines in sorted(
        marked.groupby(GROUP), key=lambda pair: (pair[0][1:], order[pair[0][0]])
    ):
        knowable = bool(lines["knowable"].iloc[0])
        yield {**dict(zip(GROUP, keys, strict=True)), "knowable": knowable, **line(lines, rng)}
    for (recipe, method, knowable), lines in marked.groupby(["recipe", "method", "knowable"]):
        if lines["world"].nunique() == 1:
            continue
        name = "all knowable" if knowable else "all others"
        keys = {"world": name, "recipe": recipe, "method": method, "knowable": knowable}
        yield {**keys, **line(lines, rng)}


def page(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as people read it: shares with bounds, the vote's in brackets."""
    return pd.DataFrame([cells(entry) for _, entry in table.iterrows()])


def everywhere(table: pd.DataFrame) -> pd.Series:
    """Mark the lines of recipes that have been run in all worlds."""
    worlds = table.groupby("recipe")["world"].transform(lambda names: set(ZOO) <= set(names))
    return worlds.astype(bool)


def side_by_side(table: pd.DataFrame) -> pd.DataFrame:
    """Return what recipes for some worlds do there, each world below what the others do in it."""
    general = everywhere(table)
    some = table[~general & table["world"].isin(ZOO)]
    order = {name: place for place, name in enumerate(ZOO)}
    lines = table.assign(general=general, place=table["world"].map(order))
    lines = lines[lines["world"].isin(some["world"])]
    lines = lines.sort_values(["place", "general", "recipe"], ascending=[True, False, True])
    return lines.drop(columns=["general", "place"])


def cells(entry: pd.Series) -> dict[str, str]:
    """Write a line of the table."""

    def bounds(name: str) -> str:
        return f"{entry[f'{name}_lower']:.2f} to {entry[f'{name}_upper']:.2f}"

    coverage = {
        f"coverage of {kind}s (vote)": f"{entry[f'coverage_{kind}']:.2f}, "
        f"{bounds(f'coverage_{kind}')} ({entry[f'vote_coverage_{kind}']:.2f})"
        for kind in ("value", "difference")
    }
    return {
        "recipe": entry["recipe"],
        "world": str(entry["world"]).replace("_", " "),
        "sets": str(int(entry["sets"])),
        "knowable": "yes" if entry["knowable"] else "no",
        **coverage,
        "width over oracle, vote": f"{entry['width_value_by_oracle']:.1f}, "
        f"{entry['width_value_by_vote']:.1f}",
        "RMSE over vote": f"{entry['rmse_value_by_vote']:.2f}, {bounds('rmse_value_by_vote')}",
        "accuracy (vote)": f"{entry['accuracy_model']:.3f} ({entry['accuracy_vote']:.3f})",
        "log loss (vote, oracle)": f"{entry['log_loss_model']:.2f} "
        f"({entry['log_loss_vote']:.2f}, {entry['log_loss_oracle']:.2f})",
        "sure, wrong sign": of(entry["sure_wrong_sign"], entry["sure_differ"]),
        "sure, no difference": of(entry["sure_where_equal"], entry["equal"]),
        "silent misses": of(entry["silent"], entry["misses"]),
        "false alarms": of(entry["false_alarms"], entry["fault_free"]),
    }


def of(part: float, whole: float) -> str:
    """Write a share and of how many."""
    return "–" if not whole else f"{part:.2f} of {int(whole)}"


def catalogue() -> pd.DataFrame:
    """Return what happens in each world, and whether it can be known."""
    lines = [
        {
            "world": world.name.replace("_", " "),
            "what happens": world.what,
            "knowable": "yes" if world.knowable else "no",
            "because": world.because,
        }
        for world in ZOO.values()
    ]
    return pd.DataFrame(lines)


def main() -> None:
    """Make the table from the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", action="append", help="recipes; all of the file if none")
    parser.add_argument("--file", type=Path, default=RESULTS / "zoo.csv")
    chosen = parser.parse_args()
    table = pd.read_csv(chosen.file).drop_duplicates([*KEY, "metric"])
    named = table["world"].map({name: full_name(DEFAULT, world) for name, world in ZOO.items()})
    table["recipe"] = table["recipe"].mask(table["recipe"] == named, DEFAULT)
    if chosen.recipe:
        table = table[table["recipe"].isin(chosen.recipe)]
    found = summary(table)
    general = found[everywhere(found)]
    written = page(general if len(general) else found)
    stem = chosen.file.with_suffix("")
    page(side_by_side(found)).to_csv(f"{stem}_recipes.csv", index=False)
    found.to_csv(f"{stem}_table.csv", index=False, float_format="%.4g")
    written.to_csv(f"{stem}_page.csv", index=False)
    catalogue().to_csv(chosen.file.with_name("zoo_catalogue.csv"), index=False)
    shown = pd.concat([written, page(side_by_side(found))]).drop_duplicates()
    for recipe, lines in shown.groupby("recipe", sort=False):
        sys.stdout.write(f"\n{recipe}\n{markdown(lines.drop(columns='recipe'))}\n")


def markdown(table: pd.DataFrame) -> str:
    """Write a table with bars."""
    rows = [table.columns, ["---"] * len(table.columns), *table.to_numpy()]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in rows)


if __name__ == "__main__":
    main()
