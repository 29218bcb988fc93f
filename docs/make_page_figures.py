"""Make the figures of the first page and of the tutorial: python docs/make_page_figures.py."""

from pathlib import Path

import assay

FOLDER = Path(__file__).parent / "figures"
DEFAULT = "hierarchical + item_difficulty"
JUDGE = {"model": f"{DEFAULT} + system_bias", "person": DEFAULT}


def main() -> None:
    """Fit the example of the pages as they do, and draw its raters."""
    ratings = assay.load_example("judge_study")
    fit = assay.fit(ratings, raters=JUDGE, prevalence="dirichlet", rng=1, progress=False)
    figure = assay.plot_raters(fit).get_figure(root=True)
    assert figure is not None
    figure.savefig(FOLDER / "tutorial_raters.png", dpi=150)


if __name__ == "__main__":
    main()
