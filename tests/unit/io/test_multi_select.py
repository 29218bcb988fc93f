from assay.data.task import Label
from assay.io.multi_select import joined_answers, task_line


def test_parts_must_be_answers_by_themselves() -> None:
    single = Label(name="label", classes=())
    assert joined_answers(["calm", "calm|sad", "sad"], single).options == ("calm", "sad")
    joined_answers(["agree, strongly", "disagree, strongly", "neutral"], single)


def test_each_option_is_a_label() -> None:
    assert task_line(["calm", "sad"]) == 'labels = [{name = "calm"}, {name = "sad"}]'
