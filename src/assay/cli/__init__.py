"""The command line: each command reads, computes, writes, and only then renders.

Exit status: 0 done, 1 no result (with --strict: a warning), 2 wrong usage, 3 a claim is
contradicted or undecided, 130 interrupted. Whatever is heavy is imported inside the commands, so
that ``assay --help`` answers at once.

``app`` is the program; the commands stand in ``ratings_commands``, ``fit_commands`` and
``report_commands``. ``reading`` and ``fitting`` are the options of one step as a value each, which
``spreading`` turns into options of a command; ``options``, ``metric_options`` and ``claims`` are
single options that commands share. ``shell`` is how things are said and how a command ends,
``tables`` how a table is delivered.
"""

from assay.cli import fit_commands, ratings_commands, report_commands
from assay.cli.app import app, main

__all__ = ["app", "fit_commands", "main", "ratings_commands", "report_commands"]
