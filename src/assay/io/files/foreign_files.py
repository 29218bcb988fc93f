"""Files that are not read as they are: what wrote them, and the command that makes a table."""

import re
import shlex
from pathlib import PurePath

from assay._util.errors import RatingsError

LFS = b"version https://git-lfs"
WEB_PAGE = re.compile(
    rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|head|meta|style|table)\b",
    re.IGNORECASE,
)
FROM_PANDAS = (
    "python -c 'import sys, pandas; pandas.read_{kind}(sys.argv[1])"
    ".to_csv(sys.argv[2], index=False)' {{source}} {{table}}"
)
FROM_R = (
    "Rscript -e 'a <- commandArgs(TRUE); write.csv(readRDS(a[1]), a[2], row.names = FALSE)' "
    "{source} {table}"
)
PROGRAMS = {
    b"<stata_dta>": ("Stata", FROM_PANDAS.format(kind="stata")),
    b"$FL2": ("SPSS", f"pip install pyreadstat && {FROM_PANDAS.format(kind='spss')}"),
    b"X\n\x00\x00\x00": ("R", FROM_R),
}
"""How files of other programs begin: the program, and what makes CSV of them."""


def is_page(data: bytes) -> bool:
    """Whether bytes are a page of the web."""
    return WEB_PAGE.match(data) is not None


def refuse_pointer(data: bytes, source: str) -> None:
    """Refuse a pointer that stands in the place of the data.

    Raises
    ------
    RatingsError
    """
    if data.startswith(LFS):
        raise RatingsError.of(
            "lfs-pointer",
            "the file is a pointer of Git LFS, and the data are not here yet",
            source,
            mend="fetch them with git lfs pull",
            first="git lfs pull",
        )


def no_table(source: str) -> RatingsError:
    """Refuse a page of the web that has no table."""
    return RatingsError.of(
        "web-page",
        "the file is a web page without a table of ratings",
        source,
        mend="download the file itself, such as by the link called raw, or save the table as CSV",
    )


def no_text(data: bytes, source: str) -> RatingsError:
    """Refuse bytes that are no text; of known programs, name the command that makes CSV."""
    known = next((one for mark, one in PROGRAMS.items() if data.startswith(mark)), None)
    if known is None:
        return RatingsError.of(
            "binary-file",
            "the file is neither text nor a kind of table that can be read",
            source,
            mend="save it as CSV, Excel, Parquet, Feather or JSON; if it is text, name its "
            "encoding, such as `encoding='cp1252'`",
        )
    table = str(PurePath(source).with_suffix(".csv"))
    title, command = known
    return RatingsError.of(
        "binary-file",
        f"the file has the format of {title}, which cannot be read directly",
        source,
        mend="save it as CSV there, or by the command below",
        first=command.format(source=shlex.quote(source), table=shlex.quote(table)),
        go_on={"source": table},
    )
