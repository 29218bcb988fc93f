"""Sphinx configuration: warnings are errors (`sphinx-build -W`), nothing is fetched."""

from importlib.metadata import version as installed_version
from importlib.util import find_spec

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
