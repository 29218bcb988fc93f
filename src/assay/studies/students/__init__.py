"""Students: small models that learn relevance from a teacher's judgements."""

from assay.studies.students.student import Student, train_student
from assay.studies.students.training_data import training_chats, write_qlora

__all__ = ["Student", "train_student", "training_chats", "write_qlora"]
