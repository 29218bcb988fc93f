"""The layout of confusions, and the columns of the main effects, by the labels of a task."""

from assay.data.states import state_space
from assay.data.task_files import load_task
from assay.modelling.confusion import confusion_layout
from assay.modelling.prevalence.base import main_columns


def test_rows_are_named_by_label_and_true_class():
    assert confusion_layout(load_task("ais")).row_names[:2] == ["flagged=no", "flagged=yes"]


def test_binary_labels_have_a_column_each():
    task = load_task("retrieval")
    columns, names = main_columns(task, state_space(task))
    assert columns.shape == (5, 3)
    assert names == task.label_names
