"""Plate diagrams of the rater families: what depends on what, drawn with matplotlib."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from assay.plots.style import COLOURS

RADIUS = 0.3
SCALE = 0.8
"""Inches to a unit."""
MARGIN = 0.1
Box = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Plates:
    """A diagram.

    Attributes
    ----------
    nodes : mapping of str to tuple
        Symbol and its place (x, y), in units of about an inch.
    edges : tuple of str
        ``"from>to"``.
    plates : mapping of str to str
        Caption, and the names of the nodes that are repeated.
    summed : tuple of str
        Nodes that are summed out exactly.
    """

    nodes: Mapping[str, tuple[str, float, float]]
    edges: tuple[str, ...]
    plates: Mapping[str, str]
    summed: tuple[str, ...] = ("s",)

    def add(
        self,
        nodes: Mapping[str, tuple[str, float, float]],
        edges: str,
        plates: Mapping[str, str],
        *,
        without: str = "",
        summed: str = "s",
    ) -> "Plates":
        """Return a larger diagram; plates of the same caption hold the new nodes too."""
        joined = dict(self.plates)
        for caption, names in plates.items():
            joined[caption] = f"{joined.get(caption, '')} {names}".strip()
        return replace(
            self,
            nodes=dict(self.nodes) | dict(nodes),
            edges=tuple(e for e in self.edges if e not in without.split()) + tuple(edges.split()),
            plates=joined,
            summed=tuple(summed.split()),
        )


DATA = Plates(
    nodes={"y": (r"$y_a$", 4, 0), "s": (r"$s_i$", 5.3, 0), "pi": (r"$\pi$", 6.6, 0)},
    edges=("s>y", "pi>s"),
    plates={"rating a": "y", "item i": "y s"},
)
THETA = {"theta": (r"$\theta$", 2.4, 0)}
WITH_THETA = DATA.add(THETA, "theta>y", {"rater j": "theta"})
POOLED_LOGITS = WITH_THETA.add(
    {"mu": (r"$\mu$", 0.5, 0.45), "sigma": (r"$\sigma$", 0.5, -0.45)},
    "mu>theta sigma>theta",
    {"group g": "mu sigma"},
)


def loading_of_raters(of_group: str, of_rater: str) -> Plates:
    """Draw a continuous difficulty that matters to each rater by a number of its own."""
    return WITH_THETA.add(
        {"x": (r"$x_i$", 5.3, 1.1), "tau": (of_group, 0.5, 1.25), "lam": (of_rater, 2.4, 1.25)},
        "x>y tau>lam lam>y",
        {"item i": "x", "group g, label l": "tau", "rater j": "lam"},
        summed="s x",
    )


def impressions(symbol: str, x: float, of: str, summed: str) -> Plates:
    """Draw impressions, which move the answers of a rater together, in a plate of their own."""
    return WITH_THETA.add(
        {"h": (r"$h$", 0.5, -0.8), "eta": (r"$\eta$", 0.5, -1.6), "m": (symbol, x, -1.3)},
        "h>y eta>m m>y",
        {"group g": "h eta", of: "m"},
        summed=summed,
    )


PLATES: dict[str, Plates] = {
    "one_coin": DATA.add({"a": (r"$a$", 2.4, 0)}, "a>y", {"rater j": "a"}),
    "class_conditional": DATA.add(
        {"a": (r"$a$", 2.2, 0)}, "a>y", {"label l, class k": "a", "rater j": "a"}
    ),
    "dawid_skene": DATA.add(THETA, "theta>y", {"label l, class k": "theta", "rater j": "theta"}),
    "pooled": DATA.add(THETA, "theta>y", {"label l, class k": "theta"}),
    "hierarchical": POOLED_LOGITS,
    "ability_bias": POOLED_LOGITS.add(
        {
            "mu": (r"$\gamma, \bar\alpha, \mu$", 0.5, 0.45),
            "sigma": (r"$\alpha, \kappa, \beta$", 0.5, -0.45),
            "abc": (r"$a, b, c$", 2.4, 1.0),
        },
        "abc>theta",
        {"rater j": "abc"},
    ),
    "mace": DATA.add(
        {
            "phi": (r"$\phi$", 2.2, 0.45),
            "xi": (r"$\xi$", 2.2, -0.45),
            "h": ("spam?", 4, 1.1),
        },
        "phi>h h>y xi>y",
        {"rating a": "h", "item i": "h", "rater j": "phi xi"},
        summed="s h",
    ),
    "ordinal": DATA.add(
        {
            "delta": (r"$\delta$", 0.4, 1.5),
            "sd": (r"$\sigma^a$", 0.4, 0.5),
            "bw": (r"$\bar b, \bar w$", 0.4, -0.5),
            "a": (r"$a$", 2.1, 0.15),
            "b": (r"$b, w$", 2.1, -0.75),
            "lambda": (r"$\lambda$", 0.4, 2.5),
        },
        "delta>y sd>a bw>b a>y b>y lambda>y",
        {"group g": "delta sd bw lambda", "rater j": "a b"},
    ),
    "joint": POOLED_LOGITS.add({"h": (r"$h, v$", 2.4, 1.25)}, "h>y", {"group g, label pair": "h"}),
    "scored": DATA.add(
        {
            "mean": (r"$\bar\beta, \bar\eta$", 0.4, 0.45),
            "spread": (r"$\sigma, \rho$", 0.4, -0.45),
            "beta": (r"$\beta$", 2.1, 0.45),
            "eta": (r"$\eta$", 2.1, -0.45),
        },
        "mean>beta mean>eta spread>beta spread>eta beta>y eta>y",
        {"group g": "mean spread", "rater j": "beta eta"},
    ),
    "item_difficulty": WITH_THETA.add(
        {"d": (r"$d_i$", 5.3, 1.1), "rho": (r"$\rho$", 6.6, 1.1), "lam": (r"$\lambda$", 2.4, 1.25)},
        "rho>d d>y lam>y",
        {"item i": "d", "group g, label l": "lam"},
        summed="s d",
    ),
    "item_difficulty_continuous": WITH_THETA.add(
        {"x": (r"$x_i$", 5.3, 1.1), "lam": (r"$\lambda$", 2.4, 1.25)},
        "x>y lam>y",
        {"item i": "x", "group g, label l": "lam"},
        summed="s x",
    ),
    "item_difficulty_by_rater": loading_of_raters(r"$\lambda_g, \tau$", r"$\lambda_j$"),
    "item_difficulty_by_class": loading_of_raters(r"$\lambda_{gk}, \tau$", r"$\lambda_{jk}$"),
    "drift": WITH_THETA.add(
        {"tau": (r"$\tau$", 0.5, -1.2), "w": (r"$w_t$", 2.4, -1.2)},
        "tau>w w>y",
        {"group g": "tau", "session t": "w", "rater j": "w"},
    ),
    "halo": impressions(r"$m_a$", 4, "rating a", summed="s"),
    "lapses": WITH_THETA.add(
        {
            "m": (r"$m, \tau$", 0.5, -0.8),
            "n": (r"$n, \upsilon$", 0.5, -1.6),
            "e": (r"$\epsilon, \xi$", 2.4, -1.2),
        },
        "m>e n>e e>y",
        {"group g": "m n", "rater j": "e"},
    ),
    "misreading": impressions(r"$m_{jc}$", 2.4, "rater j, cluster c", summed="s m"),
    "perception": DATA.add(
        {
            "theta": (r"$\theta$", 1.3, 0),
            "a": (r"$a_{ig}$", 4, 0),
            "y": (r"$y_a$", 2.7, 0),
            "eps": (r"$\epsilon, \tau$", 4, 2.5),
            "x": (r"$x_i$", 5.3, 1.1),
            "pi": (r"$\pi$", 6.6, 1.1),
        },
        "s>a a>y theta>y eps>a pi>a x>a",
        {"rater j": "theta", "rater group g": "y a", "item i": "a x", "group g": "eps"},
        without="s>y",
        summed="s a x",
    ),
    "system_bias": WITH_THETA.add(
        {
            "sigma": (r"$\sigma$", -0.1, -0.8),
            "m": (r"$m_c$", 1.4, -0.8),
            "tau": (r"$\tau$", -0.1, -1.6),
            "b": (r"$b_c$", 2.4, -1.6),
        },
        "sigma>m m>y tau>b b>y",
        {"group g, label l": "sigma m tau", "system c": "m b", "rater j": "b"},
    ),
}
"""The diagram of each entry of the catalogue; ratings are grey, what is summed out is dashed."""


def draw_plates(diagram: Plates) -> Figure:
    """Draw a diagram to scale, plates around their nodes."""
    boxes = _boxes(diagram)
    spots = [(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS) for _, x, y in diagram.nodes.values()]
    every = [*boxes.values(), *spots]
    left, low = (min(box[n] for box in every) - 0.08 for n in (0, 1))
    right, high = (max(box[n] + box[n + 2] for box in every) + 0.08 for n in (0, 1))
    figure = Figure(figsize=(SCALE * (right - left), SCALE * (high - low)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    axes.axis("off")
    for caption, box in boxes.items():
        _draw_box(axes, caption, box)
    for edge in diagram.edges:
        start, end = (diagram.nodes[n][1:] for n in edge.split(">"))
        axes.add_patch(
            FancyArrowPatch(
                start, end, arrowstyle="-|>", mutation_scale=9, lw=0.9, color=COLOURS["ink"],
                shrinkA=RADIUS * SCALE * 72, shrinkB=RADIUS * SCALE * 72,
            )
        )  # fmt: skip
    for name, (symbol, x, y) in diagram.nodes.items():
        face = COLOURS["line"] if name == "y" else COLOURS["paper"]
        style = "--" if name in diagram.summed else "-"
        spot = Circle((x, y), RADIUS, zorder=3, lw=1.1, ec=COLOURS["ink"], fc=face, ls=style)
        axes.add_patch(spot)
        size = 8 if symbol.isascii() and "$" not in symbol else 10
        axes.text(x, y, symbol, ha="center", va="center", zorder=4, fontsize=size)
    return figure


def _boxes(diagram: Plates) -> dict[str, Box]:
    """Left, bottom, width and height of each plate: inner ones first, room for captions below."""
    boxes: dict[str, Box] = {}
    for caption, names in sorted(diagram.plates.items(), key=lambda item: len(item[1].split())):
        members = set(names.split())
        inside = [boxes[c] for c in boxes if set(diagram.plates[c].split()) <= members]
        places = [diagram.nodes[n][1:] for n in members]
        inside += [(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS) for x, y in places]
        left, bottom = (min(box[n] for box in inside) for n in (0, 1))
        right, top = (max(box[n] + box[n + 2] for box in inside) for n in (0, 1))
        short = max(0.0, 0.085 * len(caption) + 0.1 - (right - left + 2 * MARGIN)) / 2
        width = right - left + 2 * (MARGIN + short)
        boxes[caption] = (
            left - MARGIN - short, bottom - MARGIN - 0.18, width, top - bottom + 2 * MARGIN + 0.18
        )  # fmt: skip
    return boxes


def _draw_box(axes: Axes, caption: str, box: Box) -> None:
    left, bottom, width, height = box
    rounded = "round,pad=0,rounding_size=0.08"
    plate = FancyBboxPatch(
        (left, bottom), width, height, boxstyle=rounded, fc="none", ec=COLOURS["muted"], lw=0.9
    )
    axes.add_patch(plate)
    clear = {"facecolor": COLOURS["paper"], "edgecolor": "none", "pad": 0.6}
    axes.text(
        left + 0.06, bottom + 0.05, caption, ha="left", va="bottom", fontsize=7.5,
        color=COLOURS["muted"], bbox=clear, zorder=2,
    )  # fmt: skip
