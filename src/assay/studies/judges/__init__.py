"""Language models as raters: what they are asked, how, and what their answers say."""

from assay.studies.judges.ask import ModelAnswers, ask_model

__all__ = ["ModelAnswers", "ask_model"]
