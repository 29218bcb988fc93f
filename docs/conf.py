"""Sphinx configuration: warnings are errors (`sphinx-build -W`), nothing is fetched."""

import re
from dataclasses import fields, is_dataclass
from importlib.metadata import version as installed_version
from importlib.util import find_spec

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.directives.patches import CSVTable

project = "assay"
author = "The assay developers"
copyright = "The assay developers, Apache-2.0"
version = release = installed_version("assay")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
# Formulas are drawn without a network where this package is installed (group docs).
extensions += [name for name in ["sphinx-mathjax-offline"] if find_spec(name)]
exclude_patterns = ["_build", "jupyter_execute"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"assay {version}"

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # pages hold prose; the tests execute the notebooks

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have the types, with shapes and dims
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Pages link to the files of cards, and cards to each other: the links work in the repository too.
CARD = re.compile(r"\]\(\.\./models/raters/(\w+)\.md\)")
OTHER_CARD = re.compile(r"\]\((\w+)\.md\)")
FIELD = re.compile(r"(\w+(?:, \w+)*) : (.*)")


PLAIN = re.compile(r"-?(?!\d+[.)](\s|$))\w[\w.,% -]*")
"""A cell of words and numbers, without markup."""


class PlainTable(CSVTable):
    """A table of a CSV file. To parse plain cells as pages took a third of the time."""

    def run(self):
        """Take plain cells as they are."""
        parse = self.state.nested_parse

        def parse_cell(block, input_offset, node, *rest, **more):
            text = " ".join(block)
            if PLAIN.fullmatch(text):
                node += nodes.paragraph(text, text)
            else:
                parse(block, input_offset, node, *rest, **more)

        self.state.nested_parse = parse_cell
        try:
            return super().run()
        finally:
            self.state.nested_parse = parse


def link_to_cards(app, docname, source):
    """Name the page of a card in the place of its file, which lies outside of this folder."""
    card = OTHER_CARD if docname.startswith("families/") else CARD
    source[0] = card.sub(r"](/families/\1)", source[0])


def list_fields(app, what, name, obj, options, lines):
    """Make the fields of a result, ``name : meaning``, numpydoc's section of attributes."""
    if not is_dataclass(obj) or "Attributes" in lines:
        return
    text, listed = [], []
    for line in lines:
        if found := FIELD.fullmatch(line):
            listed += [found[1], f"    {found[2]}"]
        else:
            (listed if listed and line.startswith(" ") else text).append(line)
    named = {name for line in listed if line[0] != " " for name in line.split(", ")}
    listed += [one.name for one in fields(obj) if one.name not in named and one.name[0] != "_"]
    lines[:] = [*text, "", "Attributes", "----------", *listed, ""]


def setup(app):
    directives.register_directive("csv-table", PlainTable)
    app.connect("source-read", link_to_cards)
    app.connect("autodoc-process-docstring", list_fields, priority=400)  # before numpydoc
