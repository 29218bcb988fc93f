"""What the columns say about items and raters beside the answers."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import Codes, first_rows
from assay._util.plurals import counted, some
from assay.io.columns import Roles
from assay.io.identifiers import codes_of, joined_ids
from assay.io.ledger import Ledger
from assay.io.numbers import point_wanted, with_points
from assay.io.tables import Table, cell_text

ONE_GROUP = "all"
GROUP_UNUSED = "changes within raters: it is not used as their group"
"""The end of a note."""
Words = NDArray[Any]


def constant_within(
    values: "pd.Series[str]",
    owner: Codes,
    names: "pd.Index[str]",
    *,
    what: str,
    table: Table,
    ledger: Ledger,
    mend: str = "",
    fatal: bool = True,
) -> "Words | None":
    """Return the one value that each owner has, ``""`` where it has none.

    Several values for one owner are a problem that names the first, with what to do (``mend``), or
    ``None`` if not fatal.
    """
    codes, distinct = codes_of(values)
    known = np.where(codes >= 0, owner, -1)
    first = first_rows(known, len(names))
    words = np.append(distinct.to_numpy(object), "")
    code = np.where(first >= 0, codes[first], -1)
    clash = np.flatnonzero((known >= 0) & (codes != code[known]))
    if len(clash):
        if not fatal:
            return None
        one = names[known[clash[0]]]
        rows = np.array([first[known[clash[0]]], clash[0]])
        count = len(np.unique(known[clash]))
        more = f", and so have {count - 1} more" if count > 1 else ""
        ledger.problem(
            "changing-value",
            f"{one!r} has more than one {what}: {words[codes[rows[0]]]!r} and "
            f"{words[codes[rows[1]]]!r}{more}",
            where=table.where(rows, str(values.name or "")),
            mend=f"a {what} must not change; "
            + (mend or f'name another column, or {what}="" for none'),
        )
    return np.asarray(words[code], object)


def item_table(
    names: "pd.Index[str]",
    item: Codes,
    cluster: Words,
    roles: Roles,
    ledger: Ledger,
) -> pd.DataFrame:
    """Return the items with cluster, stratum and weight (see ``Ratings.items``).

    Covariates are added by :mod:`assay.io.covariates`.
    """
    frame = ledger.table.frame
    items = pd.DataFrame({"cluster": pd.Series(cluster, dtype="str")})
    own = items["cluster"] == ""
    items["cluster"] = items["cluster"].where(~own, pd.Series(names, dtype="str"))
    items["stratum"] = pd.Series([""] * len(names), dtype="str")
    items["weight"] = 1.0
    for role in ("stratum", "weight"):
        if role not in roles:
            continue
        values = joined_ids(frame, roles[role].columns)
        values.name = ", ".join(roles[role].columns)
        found = constant_within(values, item, names, what=role, table=ledger.table, ledger=ledger)
        words = pd.Series(found, dtype="str", name=values.name)
        items[role] = words if role == "stratum" else _weights(words, values, item, ledger)
    return items.set_index(pd.Index(names, name="item"))


def _weights(
    words: "pd.Series[str]", values: "pd.Series[str]", item: Codes, ledger: Ledger
) -> "pd.Series[float]":
    words = with_points(words, ledger)
    weight = pd.to_numeric(words.mask(words == "", "1"), errors="coerce").astype(float)
    numbers = weight.to_numpy(float)
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    rows = np.flatnonzero((item >= 0) & wrong[item] & (values != "").to_numpy(bool))
    if len(rows):
        ledger.problem(
            "weight-words",
            f"{values.iloc[rows[0]]!r} is no weight",
            where=ledger.table.where(rows, str(values.name)),
            allowed="positive numbers",
            mend=point_wanted([str(values.iloc[rows[0]])]),
        )
    elif (words == "").any():
        alone = int((words == "").sum())
        ledger.note(f"{counted(alone, 'item', 'have')} no weight; the weight is 1")
    return weight


def rater_table(
    names: "pd.Index[str]",
    rater: Codes,
    roles: Roles,
    group: object,
    ledger: Ledger,
) -> pd.DataFrame:
    """Return the raters with their group: from a mapping, a column, or one group for all."""
    groups: Words | None = np.full(len(names), ONE_GROUP, object)
    if isinstance(group, Mapping):
        groups = _mapped_groups(names, group, ledger)
    elif "group" in roles:
        values = joined_ids(ledger.table.frame, roles["group"].columns)
        values.name = ", ".join(roles["group"].columns)
        groups = constant_within(
            values, rater, names, what="group", table=ledger.table, ledger=ledger,
            fatal=group is not None,
        )  # fmt: skip
        if groups is None:
            ledger.note(f"column {values.name} {GROUP_UNUSED}")
            groups = np.full(len(names), ONE_GROUP, object)
        groups = np.where(groups == "", ONE_GROUP, groups)
    index = pd.Index(names, name="rater")
    return pd.DataFrame({"group": pd.Series(groups, dtype="str").to_numpy()}, index=index)


def _mapped_groups(
    names: "pd.Index[str]", group: Mapping[Hashable, Hashable], ledger: Ledger
) -> Words:
    given = {cell_text(r).strip(): cell_text(g).strip() for r, g in group.items()}
    missing = [name for name in names if name not in given]
    if missing:
        ledger.problem(
            "group-incomplete",
            f"group= names no group for {counted(len(missing), 'rater')}: {some(missing)}",
            mend="add them to it",
            numbers={"raters": len(missing)},
        )
    unknown = [name for name in given if name not in set(names)]
    if unknown:
        ledger.note(
            f"group= names {counted(len(unknown), 'rater')} who rated nothing: {some(unknown)}"
        )
    return np.array([given.get(name, ONE_GROUP) for name in names], object)
