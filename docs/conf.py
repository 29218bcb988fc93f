"""Sphinx configuration: warnings are errors (`sphinx-build -W`), nothing is fetched."""

from importlib.metadata import version as installed_version

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
exclude_patterns = ["_build", "jupyter_execute"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

html_theme = "furo"
html_title = f"assay {version}"

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # pages hold prose; the tests execute the notebooks

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have the types, with shapes and dims
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
