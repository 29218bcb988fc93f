"""Language models as raters: prompts, requests and answers."""

from assay.studies.judges.ask import ModelAnswers, ask_model

__all__ = ["ModelAnswers", "ask_model"]
