"""Parts: the raters that one recipe covers, from their parameters to the rows of the likelihood."""

from assay.parts.answers import AnswerPart
from assay.parts.build import build_parts
from assay.parts.part import Part

__all__ = ["AnswerPart", "Part", "build_parts"]
