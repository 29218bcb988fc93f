"""The methods of a fit for a paper: a paragraph, its references, and their BibTeX."""

import json
import re
from dataclasses import dataclass
from html import escape

from assay._util.html import notebook_html
from assay._util.table_texts import latex_text
from assay._util.text import counted, listed
from assay.data.ratings import Ratings
from assay.fits.view import Fit, FitView
from assay.modelling.spec import Spec, catalogue_entries, is_consensus

SOFTWARE = {
    "nuts": "Hoffman & Gelman (2014). The No-U-Turn sampler: adaptively setting path lengths in "
    "Hamiltonian Monte Carlo. Journal of Machine Learning Research 15, 1593-1623.",
    "pymc": "Abril-Pla et al. (2023). PyMC: a modern, and comprehensive probabilistic programming "
    "framework in Python. PeerJ Computer Science 9, e1516.",
    "rhat": "Vehtari et al. (2021). Rank-normalization, folding, and localization: an improved "
    "R-hat. Bayesian Analysis 16(2), 667-718.",
    "psis": "Vehtari et al. (2024). Pareto smoothed importance sampling. Journal of Machine "
    "Learning Research 25(72), 1-58.",
    "tierney": "Tierney & Kadane (1986). Accurate approximations for posterior moments and "
    "marginal densities. Journal of the American Statistical Association 81, 82-86.",
    "em": "Dempster, Laird & Rubin (1977). Maximum likelihood from incomplete data via the EM "
    "algorithm. Journal of the Royal Statistical Society B 39, 1-38.",
    "claims": "Kruschke (2018). Rejecting or accepting parameter values in Bayesian estimation. "
    "Advances in Methods and Practices in Psychological Science 1(2), 270-280.",
}
METHODS = {
    "nuts": "The posterior was sampled with NUTS",
    "laplace": "The posterior was approximated by a normal distribution at its mode (Laplace)",
    "map": "Parameters were set to their posterior mode, so intervals omit their uncertainty",
    "em": "EM set parameters to their posterior mode, so intervals omit their uncertainty",
}
CITED = {"nuts": ("nuts", "pymc", "rhat"), "laplace": ("tierney", "psis", "pymc"),
         "map": ("pymc",), "em": ("em",)}  # fmt: skip
REFERENCE = re.compile(
    r"^(?P<author>.+?) \((?P<year>\d{4})\)\. (?P<title>.+?)\.(?: (?P<venue>.+?)\.?)?$"
)
PAGES = re.compile(r",? (?P<volume>\d+)(?:\((?P<number>[\d, ]+)\))?, (?P<pages>\w+-\w+|e\d+)$")


@dataclass(frozen=True, kw_only=True)
class PaperText:
    """The methods of a fit for a paper.

    paragraph : the methods, in sentences
    references : in the order of the text
    """

    paragraph: str
    references: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.paragraph, "", *self.references])

    def __repr__(self) -> str:
        return (
            f"<assay.PaperText: {counted(len(self.references), 'reference')}; print it, or see "
            ".paragraph, .latex and .bibtex>"
        )

    def _repr_html_(self) -> str:
        """Show the paragraph and the references in a notebook."""
        references = notebook_html("References", {}, self.references)
        return f"<div><p>{escape(self.paragraph)}</p>{references}</div>"

    @property
    def bibtex(self) -> str:
        """The references as BibTeX entries; keys are the first author and the year."""
        taken: set[str] = set()
        return "\n".join(_entry(text, taken) for text in self.references)

    @property
    def latex(self) -> str:
        """The paragraph in LaTeX, with all references cited at its end."""
        taken: set[str] = set()
        keys = [_key(text, taken) for text in self.references]
        return f"{latex_text(self.paragraph)} \\citep{{{','.join(keys)}}}\n"


def methods(fit: Fit) -> PaperText:
    """Write the methods paragraph of a paper, with references.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` or :func:`assay.load`.

    Returns
    -------
    PaperText
        ``paragraph``, ``references``, ``bibtex``, ``latex``; ``print`` writes the first two.

    Raises
    ------
    FitError
        If the tree is no fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=30, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, raters="dawid_skene", method="em", draws=20, rng=1)
    >>> found = methods(tree)
    >>> found.paragraph.startswith("We analysed 90 ratings of 30 items by 3 raters")
    True
    >>> found.bibtex.splitlines()[0]
    '@article{dawid1979,'
    """
    view = FitView.of(fit)
    spec = view.spec
    prevalence, raters = catalogue_entries(spec)
    entries = [*raters, prevalence]
    method = str(view.attrs["method"])
    cited = [text for entry in entries for text in entry.get("references", [])]
    cited += [SOFTWARE[name] for name in CITED[method]]
    # If several entries cite a work differently, the longest citation is used.
    best: dict[str, str] = {}
    for text in cited:
        key = _stem(text)
        best[key] = max(best.get(key, ""), text, key=len)
    said = [
        _data(view.ratings),
        _model(entries, spec),
        _truth(view),
        _inference(view, method),
        _numbers(view),
    ]
    return PaperText(paragraph=" ".join(filter(None, said)), references=tuple(best.values()))


def _data(ratings: Ratings) -> str:
    clusters = ratings.items["cluster"].nunique()
    within = f" in {counted(clusters, 'cluster')}" if clusters < len(ratings.items) else ""
    of = f" of {counted(len(ratings.systems), 'system')}" if len(ratings.systems) > 1 else ""
    aside = len(ratings.accounting.set_aside)
    left = f" {counted(aside, 'row', 'were')} set aside." if aside else ""
    strict = [rule.expression for rule in ratings.task.rules if rule.response == "block"]
    rules = (
        f" The interface refused answers that break {counted(len(strict), 'rule')} "
        f"({'; '.join(strict)}); the likelihood is normalised over the admissible answers."
        if strict
        else ""
    )
    return (
        f"We analysed {counted(len(ratings.answers), 'rating')} of "
        f"{counted(len(ratings.items), 'item')}{within}{of} by "
        f"{counted(len(ratings.raters), 'rater')}.{left} Raters answered "
        f"{counted(len(ratings.task.labels), 'label')} ({listed(list(ratings.task.label_names))})."
        f"{rules}"
    )


def _model(entries: list[dict[str, object]], spec: Spec) -> str:
    first, *layers, last = [str(entry["title"]) for entry in entries]
    parts = [first, *(title[:1].lower() + title[1:] for title in layers)]
    changed = [f"{name} ~ {text}" for name, text in spec.priors.items()]
    priors = (
        f" Priors differ from the defaults in {'; '.join(changed)}."
        if changed
        else (" Priors were the defaults of the package.")
    )
    covariates = f" Prevalence depends on the covariates {spec.formula}." if spec.formula else ""
    return (
        f"The models are {' with '.join(parts)} (raters) and {last} (prevalence). "
        f"The true classes were summed out exactly.{covariates}{priors}"
    )


def _truth(view: FitView) -> str:
    reference = str(view.attrs["reference"])
    pool = view.pool_lean is not None
    drawn = " The raters who define it count as a random sample of a pool." * pool
    if is_consensus(reference):
        return (
            f"The truth is defined as the {reference}; how often all raters err together is not "
            f"identifiable from these data.{drawn}"
        )
    return f"The truth is defined as: {reference}.{drawn}"


def _inference(view: FitView, method: str) -> str:
    numbers, sizes = json.loads(view.attrs["diagnostics"]), view["posterior"].sizes
    text = f"{METHODS[method]}, {counted(sizes['chain'], 'chain')} of {sizes['draw']} draws"
    if method == "nuts":
        text += f"; {counted(numbers['divergences'], 'divergence')}"
        if numbers.get("r_hat_max") is not None:
            text += f", largest R-hat {numbers['r_hat_max']:.3f}"
        text += f", smallest effective sample size {numbers['ess_min']:.0f}"
    elif numbers.get("k_hat") is not None:
        text += f"; PSIS k-hat {numbers['k_hat']:.2f}"
    versions = json.loads(view.attrs["versions"])
    named = [f"{name} {versions[name]}" for name in ("assay", "pymc", "nutpie") if name in versions]
    return f"{text} ({', '.join(named)}; seed {view.attrs['seed']})."


def _numbers(view: FitView) -> str:
    several = len(view.ratings.systems) > 1
    compared = " Systems were compared on the same draws." if several else ""
    return (
        "We report posterior means with equal-tailed 95% intervals, which include the uncertainty "
        f"about labels{'' if view.attrs['method'] in ('map', 'em') else ' and raters'}.{compared}"
    )


def _stem(text: str) -> str:
    """Return the first author and the year, which identify a work."""
    found = re.match(r"^([\w'-]+).*?\((\d{4})\)", text)
    return f"{found[1]}{found[2]}".lower() if found else text


def _key(text: str, taken: set[str]) -> str:
    stem = re.sub(r"\W", "", _stem(text))
    key = next(k for k in (stem, *(f"{stem}{letter}" for letter in "bcdefgh")) if k not in taken)
    taken.add(key)
    return key


def _entry(text: str, taken: set[str]) -> str:
    """Write a reference as an entry, or as a note if it cannot be parsed."""
    key, found = _key(text, taken), REFERENCE.match(text)
    if found is None:
        return f"@misc{{{key},\n  note = {{{latex_text(text)}}},\n}}\n"
    fields = {"author": _authors(found["author"]), "title": f"{{{latex_text(found['title'])}}}"}
    venue = found["venue"] or ""
    pages = PAGES.search(venue)
    kind = "article" if pages else "misc"
    if pages:
        fields["journal"] = latex_text(venue[: pages.start()])
        fields |= {k: v.replace("-", "--") for k, v in pages.groupdict().items() if v}
    elif venue:
        fields["howpublished"] = latex_text(venue)
    fields["year"] = found["year"]
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _authors(text: str) -> str:
    """Join the authors as BibTeX does."""
    text = text.replace(" et al.", " and others")
    if re.search(r", [A-Z]\.", text):  # surnames with initials
        parts = re.split(r"(?<=\.), | & ", text)
    else:
        parts = re.split(r", | & ", text)
    return latex_text(" and ".join(parts))
