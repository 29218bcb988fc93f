from assay.data.task import Label
from assay.io.multi_select import joined_answers, task_line


def test_joined_answers_example() -> None:
    single = Label(name="label", classes=())
    assert joined_answers(["calm", "calm|sad", "sad"], single).options == ("calm", "sad")
    joined_answers(["agree, strongly", "disagree, strongly", "neutral"], single)


def test_task_line_example() -> None:
    assert task_line(["calm", "sad"]) == 'labels = [{name = "calm"}, {name = "sad"}]'
