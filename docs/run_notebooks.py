"""Run notebooks and keep their outputs: python docs/run_notebooks.py notebooks/NAME.ipynb ..."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KEPT = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def main(names: list[str]) -> None:
    """Execute each notebook in place, without times and versions of the machine."""
    for name in names:
        path = Path(name)
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
        notebook.metadata = nbformat.from_dict(KEPT)
        for number, cell in enumerate(notebook.cells):
            cell.id = f"cell-{number}"
            cell.metadata = nbformat.from_dict({})
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
