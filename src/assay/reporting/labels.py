"""Section: labels, and the least certain items."""

from assay.display.frames import least_certain
from assay.display.result_tables import labels_table
from assay.reporting.material import Material
from assay.reporting.page import Block, Section, prose

COUNT = 15


def labels_section(material: Material) -> Section:
    """Report how certain the labels are, and which items to check again."""
    frame = material.labels
    least = least_certain(frame, COUNT)
    sure = float((frame["probability"] >= material.level).mean())
    blocks: list[Block] = [
        prose(
            f"{sure:.0%} of the {len(frame)} labels are known with probability "
            f"{material.level:.2f} or more. To improve the labels, check the items below first."
        ),
        labels_table(least, len(frame), export=frame),
    ]
    return Section(key="labels", title="Labels", blocks=tuple(blocks), is_appendix=False)
