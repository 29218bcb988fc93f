"""Forms of annotation tools, made from a task."""

from assay.studies.forms.form import FORMS, Form, make_form

__all__ = ["FORMS", "Form", "make_form"]
