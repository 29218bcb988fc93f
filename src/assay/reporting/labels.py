"""Section: labels, and the least certain items."""

from assay.display.frames import least_certain
from assay.display.table import table_of
from assay.reporting.material import Material
from assay.reporting.page import Block, Section, prose

COUNT = 15


def labels_section(material: Material) -> Section:
    """Report how certain the labels are, and which items to check again."""
    frame = material.labels
    least = least_certain(frame, COUNT)
    note = f"Estimand: these items. Reference: {material.reference}."
    chances = [str(c) for c in least.columns if str(c).startswith("p[")]
    table = least.assign(**{c: least[c].map("{:.2f}".format).replace("nan", "") for c in chances})
    sure = float((frame["probability"] >= material.level).mean())
    blocks: list[Block] = [
        prose(
            f"{sure:.0%} of the {len(frame)} labels are known with probability "
            f"{material.level:.2f} or more. To improve the labels, check the items below first."
        ),
        table_of(
            "labels",
            f"The {len(least)} least certain of {len(frame)} labels: posterior probabilities",
            table,
            {"item": "Item", "label": "Label", "class": "Most likely"}
            | {c: f"P({c[2:-1]})" for c in chances},
            note=note,
            export=frame,
        ),
    ]
    return Section(key="labels", title="Labels", blocks=tuple(blocks), is_appendix=False)
