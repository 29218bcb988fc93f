"""Documents ordered by a model, window by window."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from endpoints import Reply, asked, chat, endpoint

import assay

WORTH = [3, 9, 1, 7, 5, 0, 8, 2, 6, 4]
PAIRS = pd.DataFrame(
    {
        "item": [f"{q}{n}" for q in "ab" for n in range(10)],
        "query_id": [q for q in "ab" for _ in range(10)],
        "query": "Which?",
        "document": [f"worth {n}" for n in WORTH * 2],
        "retriever_rank": [*range(10, 0, -1), *range(1, 11)],
    }
)


def best_first(number: int, body: dict[str, Any]) -> Reply:
    worth = re.findall(r"^\[(\d+)\] worth (\d)$", asked(body), re.MULTILINE)
    order = sorted(worth, key=lambda pair: -int(pair[1]))
    return chat(" > ".join(f"[{place}]" for place, _ in order))


@pytest.mark.parametrize(("window", "step", "windows"), [(20, 10, 1), (4, 2, 4), (2, 1, 9)])
def test_the_best_documents_come_to_the_top(
    window: int, step: int, windows: int, tmp_path: Path
) -> None:
    with endpoint(best_first) as told:
        found = assay.ask_model(
            PAIRS, "relevance", model="m", prompt="relevance_list", log=tmp_path / "log.jsonl",
            url=told.url, window=window, step=step,
        )  # fmt: skip
        assert len(told.bodies) == found.plan.to_send == 2 * windows
        again = assay.ask_model(
            PAIRS, "relevance", model="m", prompt="relevance_list", log=tmp_path / "log.jsonl",
            url=told.url, window=window, step=step,
        )  # fmt: skip
        assert len(told.bodies) == 2 * windows
    assert found.ratings.equals(again.ratings)
    assert again.plan.to_send == 0
    ratings = found.ratings.merge(PAIRS[["item", "document"]], on="item")
    for _, of in ratings.groupby("query_id"):
        top = of.sort_values("list_rank")["document"].tolist()[: window - step]
        assert top == [f"worth {9 - n}" for n in range(window - step)][:10]
        assert sorted(of["score"]) == pytest.approx([n / 9 for n in range(10)])
    read = assay.read_ratings(found.ratings, task="relevance")
    assert read.accounting.rows_used == 20


def test_a_window_without_an_order_leaves_documents_as_they_were(tmp_path: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Reply:
        return chat("I cannot order them.") if number == 0 else best_first(number, body)

    with endpoint(answer) as told:
        found = assay.ask_model(
            PAIRS[:10], "relevance", model="m", prompt="relevance_list", log=tmp_path / "log",
            url=told.url, window=4, step=2,
        )  # fmt: skip
    (note,) = found.notes
    assert note.code == "unparsed-answers"
    assert note.numbers == {"answers": 4, "unparsed": 1}
    assert found.unparsed["text"].tolist() == ["I cannot order them."]
    assert found.ratings["windows_without_order"].eq(1).all()
    # The first window is the end of the list: the retriever's ranks 7 to 10.
    last = found.ratings.sort_values("list_rank")["item"].tolist()
    assert last[-2:] == ["a1", "a0"]
