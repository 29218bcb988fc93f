"""read_ratings on small tables: columns, values, repeats, gates, truth, panels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_of
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.data.task_files import load_task
from assay.inference.fit import fit
from assay.io import read_ratings, skip_logic
from assay.io.replicates import EXACT
from assay.io.skip_logic import BROKEN
from assay.modelling.prevalence.design import build_design

NO, YES, MISSING, CLOSED = 0, 1, -1, -2


def frame(text: str) -> pd.DataFrame:
    """Build a table of strings from lines of words; ``.`` is an empty cell."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return pd.DataFrame(
        [[w.replace(".", "") if w == "." else w for w in r] for r in rows], columns=head
    )


def notes(ratings: Ratings) -> str:
    return "\n".join(ratings.accounting.notes)


class TestFiles:
    TEXT = "item,rater,label\n1,a,x\n1,b,y\n2,a,y\n"

    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_dialects(self, tmp_path: Path, separator: str, encoding: str, newline: str) -> None:
        path = tmp_path / "r.csv"
        text = self.TEXT.replace(",", separator).replace("\n", newline)
        path.write_bytes(text.encode(encoding))
        ratings = read_ratings(path, task="single")
        assert ratings.answers.ravel().tolist() == [0, 1, 1]
        assert list(ratings.items.index) == ["1", "2"]

    def test_parquet_and_table_and_file_agree(self, tmp_path: Path) -> None:
        table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": [1.0, 2.0, np.nan]})
        table.to_parquet(tmp_path / "r.parquet")
        table.to_csv(tmp_path / "r.csv", index=False)
        sources: list[Any] = [table, tmp_path / "r.parquet", tmp_path / "r.csv"]
        for source in sources:
            ratings = read_ratings(source, task="single")
            assert ratings.task.classes["label"] == ("1", "2")
            assert ratings.answers.ravel().tolist() == [0, 1, MISSING]
            assert ratings.abstained.tolist() == [False, False, True]

    def test_line_numbers_are_those_of_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "r.csv"
        path.write_text(
            'item,rater,label,text\n1,a,x,"two\nlines"\n\n,b,y,"a ""quoted"" one"\n2,b,y,\n'
        )
        account = read_ratings(path, task="single").accounting
        assert account.set_aside["line"].tolist() == [5]
        assert account.rows_read == 3
        assert "1 blank line was skipped" in account.notes

    def test_a_table_is_pointed_at_by_its_index(self) -> None:
        table = pd.DataFrame({"item": ["", "2"], "rater": "a", "label": "x"}, index=["p", "q"])
        assert read_ratings(table, task="single").accounting.set_aside["line"].tolist() == ["p"]

    def test_a_named_index_is_a_column(self) -> None:
        table = frame("item rater label\n1 a x\n2 b y").set_index(["item", "rater"])
        assert list(read_ratings(table, task="single").items.index) == ["1", "2"]

    def test_the_hash_is_of_the_content(self, tmp_path: Path) -> None:
        one, two = frame("item rater label\n1 a x\n1 b y"), frame("item rater label\n1 a y\n1 b x")
        hashes = [read_ratings(t, task="single").accounting.sha256 for t in (one, one.copy(), two)]
        assert hashes[0] == hashes[1] != hashes[2]
        assert len(hashes[0]) == 64


class TestColumns:
    @pytest.mark.parametrize(
        "name", ["rater", "Annotator ID", "worker-id", "coder", "JUDGE", "user"]
    )
    def test_names_of_raters_are_recognised(self, name: str) -> None:
        table = frame("item rater label\n1 a x\n1 b y").rename(columns={"rater": name})
        assert list(read_ratings(table, task="single").raters.index) == ["a", "b"]

    @pytest.mark.parametrize("name", ["label", "Rating", "class", "response", "answer", "category"])
    def test_names_of_answers_are_recognised(self, name: str) -> None:
        table = frame("item rater label\n1 a x\n1 b y").rename(columns={"label": name})
        assert read_ratings(table, task="single").answers.ravel().tolist() == [0, 1]

    def test_arguments_win_over_names(self) -> None:
        table = frame("item who rater label\n1 p a x\n1 q b y")
        assert list(read_ratings(table, task="single", rater="who").raters.index) == ["p", "q"]

    def test_alternatives_are_stated_and_unused_columns_listed(self) -> None:
        table = frame("item rater worker label text\n1 a w x t\n1 b w y t")
        roles = read_ratings(table, task="single").accounting.roles.set_index("column")
        assert roles.loc["rater", "alternatives"] == "worker"
        assert roles["role"].to_dict() == {
            "item": "item",
            "rater": "rater",
            "worker": "",
            "label": "label label",
            "text": "",
        }

    def test_composite_keys_are_joined(self) -> None:
        table = frame("doc part rater label\nd 1 a x\nd 2 a y")
        assert list(read_ratings(table, task="single", item=["doc", "part"]).items.index) == [
            "d/1",
            "d/2",
        ]

    def test_an_empty_name_switches_a_role_off(self) -> None:
        table = frame("item rater query label\n1 a q x\n1 b p y")
        assert read_ratings(table, task="single", cluster="").items["cluster"].tolist() == ["1"]

    @pytest.mark.parametrize("labels", [{"misleading": "m"}, ["t", "s", "m"]])
    def test_labels_by_argument(self, labels: Any) -> None:
        table = frame("item rater t s m\n1 a yes no yes")
        assert read_ratings(table, task="retrieval", labels=labels).answers[0, 2] == YES

    def test_a_label_without_a_column_is_missing_and_noted(self) -> None:
        ratings = read_ratings(frame("item rater misleading\n1 a yes"), task="retrieval")
        assert ratings.answers.tolist() == [[MISSING, MISSING, YES]]
        assert "no column holds topically_relevant, evidence_sufficient" in notes(ratings)

    def test_groups(self) -> None:
        table = frame("item rater group label\n1 a people x\n1 b models y")
        assert read_ratings(table, task="single").raters["group"].tolist() == ["people", "models"]
        chosen = read_ratings(table, task="single", group={"a": "p", "b": "p"})
        assert chosen.raters["group"].tolist() == ["p", "p"]
        unnamed = table.assign(group=["u", "v"], rater="a", item=["1", "2"])
        assert "changes within raters" in notes(read_ratings(unnamed, task="single"))

    def test_weight_and_stratum_are_of_the_item(self) -> None:
        table = frame("item rater weight stratum label\n1 a 2.5 s x\n1 b 2.5 s y\n2 a 1 t y")
        items = read_ratings(table, task="single").items
        assert items["weight"].tolist() == [2.5, 1.0]
        assert items["stratum"].tolist() == ["s", "t"]

    def test_numbers_as_names(self) -> None:
        table = pd.DataFrame({"item": [1.0, 2.0], "rater": [7, 8], "label": ["x", "y"]})
        ratings = read_ratings(table, task="single")
        assert list(ratings.items.index) == ["1", "2"]
        strings = table.astype({"item": "str"})
        assert list(read_ratings(strings, task="single").items.index) == ["1", "2"]
        decimals = table.assign(item=["1.0", "1.5"])
        assert list(read_ratings(decimals, task="single").items.index) == ["1.0", "1.5"]


class TestValues:
    @pytest.mark.parametrize(
        "word", ["yes", " YES ", "y", "True", "t", "1", "1.0", 1, 1.0, True], ids=lambda w: repr(w)
    )
    def test_yes(self, word: Any) -> None:
        table = pd.DataFrame({"item": [1], "rater": ["a"], "misleading": [word]})
        assert read_ratings(table, task="retrieval").answers[0, 2] == YES

    @pytest.mark.parametrize(
        "word", ["", "NA", "NaN", "null", "n/a", None, np.nan, pd.NA], ids=lambda w: repr(w)
    )
    def test_missing(self, word: Any) -> None:
        table = pd.DataFrame({"item": [1, 2], "rater": "a", "misleading": ["no", word]})
        assert read_ratings(table, task="retrieval").answers[:, 2].tolist() == [NO, MISSING]

    def test_classes_from_data_sort_as_numbers(self) -> None:
        table = frame("item rater label\n1 a 10\n2 a 9\n3 a 9.0\n4 a -1")
        ratings = read_ratings(table, task="single")
        assert ratings.task.classes["label"] == ("-1", "9", "10")
        assert ratings.answers.ravel().tolist() == [2, 1, 1, 0]

    def test_long_numbers_are_not_rounded_together(self) -> None:
        table = frame("item rater label\n1 a 10000000000000001\n2 a 10000000000000002\n3 a 1e400")
        assert len(read_ratings(table, task="single").task.classes["label"]) == 3

    def test_classes_of_truth_count_too(self) -> None:
        table = frame("item rater label\n1 a x\n2 a y")
        ratings = read_ratings(table, task="single", truth=frame("item label\n1 z\n2 y"))
        assert ratings.task.classes["label"] == ("x", "y", "z")
        assert ratings.truth.ravel().tolist() == [2, 1]

    def test_a_single_class_gets_a_second(self) -> None:
        ratings = read_ratings(frame("item rater label\n1 a x\n2 a x"), task="single")
        assert ratings.task.classes["label"] == ("x", "other")
        assert "every answer to label is 'x'" in notes(ratings)

    def test_no_stands_before_yes_where_the_alphabet_has_it_after(self) -> None:
        """The second class of two is the one that sensitivity is about."""
        table = frame("item rater label\n1 a ja\n2 a nein\n3 a ja")
        assert read_ratings(table, task="single").task.classes["label"] == ("nein", "ja")

    def test_ordered_classes_by_name(self) -> None:
        table = frame("item rater relevance\n1 a Partially\n2 a YES\n3 a no")
        assert read_ratings(table, task="relevance").answers.ravel().tolist() == [1, 2, 0]


class TestRepeats:
    ROWS = "item rater rep label\n1 a 1 x\n1 a 2 y\n1 b 1 x"

    def test_a_column_of_replicates(self) -> None:
        ratings = read_ratings(frame(self.ROWS), task="single", replicate="rep")
        assert ratings.replicate.tolist() == [0, 1, 0]

    def test_replicates_are_numbered_in_the_order_of_their_values(self) -> None:
        table = frame("item rater rep label\n1 a 10 x\n1 a 9 y\n1 a 2 x")
        assert read_ratings(table, task="single", replicate="rep").replicate.tolist() == [2, 1, 0]

    def test_rows_as_replicates(self) -> None:
        table = frame("item rater label\n1 a x\n1 a x\n1 a y")
        ratings = read_ratings(table, task="single", replicate="row")
        assert ratings.replicate.tolist() == [0, 1, 2]
        assert ratings.accounting.rows_used == 3

    def test_exact_repeats_go_aside(self) -> None:
        account = read_ratings(
            frame("item rater label\n1 a x\n1 b y\n1 a x"), task="single"
        ).accounting
        assert account.reasons == {EXACT: 1}
        assert account.set_aside["detail"].tolist() == ["repeats row 0"]

    def test_a_rating_listed_under_two_systems_counts_once_and_keeps_both_places(self) -> None:
        table = frame("item rater query system misleading\n1 a q s no\n1 a q t no\n2 a q t yes")
        ratings = read_ratings(table, task="retrieval")
        assert len(ratings.answers) == 2
        assert ratings.panels[["panel", "rank", "item"]].to_numpy().tolist() == [
            ["s/q", 1, 0],
            ["t/q", 1, 0],
            ["t/q", 2, 1],
        ]


class TestOneLabelARow:
    ROWS = """item rater label value
    1 a topically_relevant yes
    1 a misleading no
    1 b Misleading .
    1 b topically-relevant no
    2 a evidence_sufficient yes"""

    def test_rows_are_joined(self) -> None:
        ratings = read_ratings(frame(self.ROWS), task="retrieval")
        assert ratings.answers.tolist() == [
            [YES, MISSING, NO],
            [NO, MISSING, MISSING],
            [YES, YES, MISSING],  # what is evidence is relevant
        ]
        assert ratings.item.tolist() == [0, 0, 1]
        assert ratings.rater.tolist() == [0, 1, 0]
        assert ratings.accounting.rows_used == 5

    def test_columns_by_argument(self) -> None:
        table = frame(self.ROWS).rename(columns={"label": "asked", "value": "said"})
        ratings = read_ratings(table, task="retrieval", label="asked", value="said")
        assert len(ratings.answers) == 3

    def test_all_rows_of_a_forbidden_rating_go_aside(self) -> None:
        table = frame(self.ROWS + "\n 3 a evidence_sufficient yes\n 3 a misleading yes")
        account = read_ratings(table, task="retrieval").accounting
        assert account.reasons == {f"{BROKEN} sufficient_is_not_misleading": 2}
        assert account.set_aside["line"].tolist() == [5, 6]

    def test_replicates(self) -> None:
        table = frame("item rater label value\n1 a misleading no\n1 a misleading yes")
        ratings = read_ratings(table, task="retrieval", replicate="row")
        assert ratings.replicate.tolist() == [0, 1]


class TestGates:
    def read(self, rows: str) -> Ratings:
        head = "item rater flagged interpretable attributable\n"
        return read_ratings(frame(head + rows), task="ais")

    def test_empty_answers_behind_a_closed_gate_are_not_asked(self) -> None:
        ratings = self.read("1 a yes . .\n2 a no no .\n3 a no yes .")
        assert ratings.answers.tolist() == [
            [YES, CLOSED, CLOSED],
            [NO, NO, CLOSED],
            [NO, YES, MISSING],
        ]

    def test_a_gate_that_hangs_on_a_missing_answer_leaves_it_missing(self) -> None:
        assert self.read("1 a . . .\n2 a no . yes").answers.tolist() == [
            [MISSING, MISSING, MISSING],
            [NO, MISSING, YES],
        ]

    def test_no_behind_a_closed_gate_counts_as_not_asked_and_is_noted(self) -> None:
        ratings = self.read("1 a yes no no\n2 a no yes no")
        assert ratings.answers.tolist() == [[YES, CLOSED, CLOSED], [NO, YES, NO]]
        assert "interpretable 1, attributable 1" in notes(ratings)

    def test_yes_behind_a_closed_gate_contradicts(self) -> None:
        ratings = self.read("1 a yes yes .\n2 a no no yes\n3 a no yes yes")
        assert ratings.accounting.reasons == {skip_logic.CLOSED: 2}
        assert ratings.accounting.set_aside["detail"].tolist() == ["interpretable", "attributable"]
        assert len(ratings.items) == 3

    def test_a_first_class_that_is_no_no_contradicts(self, tmp_path: Path) -> None:
        path = tmp_path / "t.toml"
        path.write_text(
            '[[labels]]\nname="bad"\n[[labels]]\nname="how"\nclasses=["a","b"]\nasked_if="bad"\n'
        )
        ratings = read_ratings(frame("item rater bad how\n1 r no a\n2 r yes a"), task=path)
        assert ratings.accounting.rows_used == 1


class TestRules:
    ROWS = "item rater topically_relevant evidence_sufficient misleading\n"

    def test_a_partial_answer_goes_aside_only_if_every_completion_breaks_a_rule(self) -> None:
        table = frame(self.ROWS + "1 a no yes .\n2 a . yes .\n3 a yes . yes")
        ratings = read_ratings(table, task="retrieval")
        assert ratings.accounting.reasons == {f"{BROKEN} sufficient_is_relevant": 1}
        assert len(ratings.answers) == 2

    @pytest.mark.parametrize("strength", ["warn", "off"])
    def test_a_rule_that_does_not_block_keeps_its_rows(self, strength: str) -> None:
        table = frame(self.ROWS + "1 a yes yes yes")
        ratings = read_ratings(
            table, task="retrieval", response={"sufficient_is_not_misleading": strength}
        )
        assert ratings.accounting.rows_used == 1
        assert ratings.task.rules[1].response == strength

    def test_rules_that_only_together_forbid_are_named_together(self, tmp_path: Path) -> None:
        path = tmp_path / "t.toml"
        rules = '[[rules]]\nname="r1"\nexpression="a -> b"\n'
        rules += '[[rules]]\nname="r2"\nexpression="a -> not b"\ntruth="off"\nresponse="block"\n'
        path.write_text('[[labels]]\nname="a"\n[[labels]]\nname="b"\n' + rules)
        account = read_ratings(frame("item rater a b\n1 r yes .\n2 r no no"), task=path).accounting
        assert account.reasons == {"breaks the blocked rules r1, r2 together": 1}


class TestTruth:
    TABLE = "item rater topically_relevant evidence_sufficient misleading gold\n"
    ROWS = "1 a yes no no yes\n2 a no no no no\n2 b no no no ."

    def test_a_table_may_be_partial(self) -> None:
        truth = pd.DataFrame({"item": [2, 9], "misleading": [True, False]})
        ratings = read_ratings(frame(self.TABLE + self.ROWS), task="retrieval", truth=truth)
        assert ratings.truth.tolist() == [[MISSING] * 3, [MISSING, MISSING, YES]]
        assert note_of(ratings, "truth-of-others").numbers == {"items": 1}

    def test_a_column_of_the_ratings(self) -> None:
        table = frame(self.TABLE + self.ROWS)
        ratings = read_ratings(table, task="retrieval", truth={"topically_relevant": "gold"})
        assert ratings.truth[:, 0].tolist() == [YES, NO]
        roles = ratings.accounting.roles.set_index("column")["role"]
        assert roles["gold"] == "truth of topically_relevant"

    def test_one_column_needs_one_label(self) -> None:
        with pytest.raises(RatingsError, check=refusal("one-column-several-labels")):
            read_ratings(frame(self.TABLE + self.ROWS), task="retrieval", truth="gold")
        table = frame("item rater label gold\n1 a x y\n2 b y .")
        assert read_ratings(table, task="single", truth="gold").truth.ravel().tolist() == [
            1,
            MISSING,
        ]

    def test_a_truth_that_no_state_admits_is_a_problem(self) -> None:
        truth = frame("item topically_relevant evidence_sufficient\n1 no yes\n2 yes yes")
        with pytest.raises(RatingsError, check=refusal("truth-impossible")) as caught:
            read_ratings(frame(self.TABLE + self.ROWS), task="retrieval", truth=truth)
        assert "item '1'" in str(caught.value)

    def test_gates_close_labels_of_the_truth(self) -> None:
        table = frame(
            "item rater flagged interpretable attributable\n1 a no yes yes\n2 a no yes no"
        )
        truth = frame("item flagged interpretable attributable\n1 yes . .\n2 no . .")
        ratings = read_ratings(table, task="ais", truth=truth)
        assert ratings.truth.tolist() == [[YES, CLOSED, CLOSED], [NO, MISSING, MISSING]]

    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "gold.csv"
        path.write_text("item,label\n1,y\n")
        table = frame("item rater label\n1 a x\n2 b y")
        assert read_ratings(table, task="single", truth=path).truth.ravel().tolist() == [1, MISSING]
        assert read_ratings(table, task="single", truth=str(path)).truth[0, 0] == 1

    def test_a_file_whose_column_is_called_gold(self) -> None:
        table = frame("item rater label\n1 a x\n2 b y")
        gold = frame("item gold note\n1 y sure")
        ratings = read_ratings(table, task="single", truth=gold)
        assert ratings.truth.ravel().tolist() == [1, MISSING]
        several = frame("item gold truth\n1 y x")
        with pytest.raises(RatingsError, check=refusal("truth-labels")):
            read_ratings(table, task="single", truth=several)
        said = table.rename(columns={"label": "said"})
        with pytest.raises(RatingsError, check=refusal("truth-labels")):
            read_ratings(said, task="single", labels="said", truth=several)

    def test_gold_of_one_column_is_not_that_of_several_labels(self) -> None:
        with pytest.raises(RatingsError, check=refusal("truth-labels")):
            read_ratings(
                frame(self.TABLE + self.ROWS), task="retrieval", truth=frame("item gold\n1 yes")
            )


class TestPanels:
    def test_without_clusters_each_item_is_alone(self) -> None:
        ratings = read_ratings(frame("item rater label\n1 a x\n2 a y"), task="single")
        assert ratings.panels.to_dict("list") == {
            "panel": ["1", "2"],
            "system": ["", ""],
            "cluster": ["1", "2"],
            "rank": [1, 1],
            "item": [0, 1],
        }
        assert ratings.systems == []

    def test_clusters_and_systems_make_panels(self) -> None:
        table = frame("item rater query system rank label\n1 a q s 1 x\n2 a q s 2 y\n3 a q t 1 y")
        panels = read_ratings(table, task="single").panels
        assert panels["panel"].tolist() == ["s/q", "s/q", "t/q"]
        assert panels["rank"].tolist() == [1, 2, 1]

    def test_ranks_from_zero_move_up(self) -> None:
        ratings = read_ratings(
            frame("item rater query rank label\n1 a q 0 x\n2 a q 3 y"), task="single"
        )
        assert ratings.panels["rank"].tolist() == [1, 4]
        assert "count from 0" in notes(ratings)

    def test_order_of_the_file_stands_in_for_the_rank_of_ranked_lists_alone(self) -> None:
        table = frame("item rater query label\n1 a q x\n1 b q x\n2 a q y\n3 a p y")
        single = load_task("single")
        lists = replace(single, columns={**single.columns, "rank": ("place",)})
        ratings = read_ratings(table, task=lists)
        assert ratings.panels["rank"].tolist() == [1, 2, 1]
        assert "order of the file" in notes(ratings)
        ratings = read_ratings(table, task=single)
        assert ratings.panels["rank"].tolist() == [1, 1, 1]
        assert "order of the file" not in notes(ratings)

    def test_items_of_a_list_without_an_order_have_no_effect_of_the_rank(self) -> None:
        table = pd.DataFrame(
            {
                "item": [f"{n}" for n in range(60)],
                "rater": "a",
                "query": [f"q{n // 6}" for n in range(60)],
                "label": ["x", "y", "y"] * 20,
            }
        )
        assert not build_design(read_ratings(table, task="single")).effects
        ranked = table.assign(rank=[1 + n % 6 for n in range(60)])
        (effect,) = build_design(read_ratings(ranked, task="single")).effects
        assert effect.name == "rank"

    def test_items_in_no_panel_are_of_an_average_place(self) -> None:
        """Their shares were 0 / 0, and no model could be fitted."""
        table = frame("item rater label\n1 a x\n2 a y\n3 a x\n4 a y")
        places = frame("system query rank item\ns q 1 1\ns q 2 2\ns q 3 3\nt q 1 2")
        ratings = read_ratings(table, task="single", panels=places)
        assert "1 rated item is in no panel" in notes(ratings)
        design = build_design(ratings)
        shares = {e.name: e.share[design.item_context].tolist() for e in design.effects}
        assert shares["system"] == [[1, 0], [0.5, 0.5], [1, 0], [0.75, 0.25]]
        assert shares["rank"][3] == [0.5, 0.25, 0.25]
        ended = fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1)
        assert np.isfinite(ended["labels"]["state_probability"]).all()

    def test_a_table_of_places_holds_unrated_items(self) -> None:
        table = frame("item rater label\n1 a x\n2 a y")
        places = frame("system query rank item\ns q 1 2\ns q 2 9\nt q 1 1\nt q 2 2")
        ratings = read_ratings(table, task="single", panels=places)
        assert list(ratings.items.index) == ["1", "2", "9"]
        assert ratings.items["cluster"].tolist() == ["q", "q", "q"]
        assert ratings.panels[["panel", "rank", "item"]].to_numpy().tolist() == [
            ["s/q", 1, 1],
            ["s/q", 2, 2],
            ["t/q", 1, 0],
            ["t/q", 2, 1],
        ]
        assert "1 of 3 items has no answer" in notes(ratings)
        assert ratings.truth.shape == (3, 1)

    def test_a_table_of_systems_is_joined(self, tmp_path: Path) -> None:
        table = frame("item rater panel label\n1 a p1 x\n2 a p2 y\n3 a p3 y")
        side = frame("panel query system\np1 q s\np2 q t")
        ratings = read_ratings(table, task="single", panels=side)
        assert ratings.panels["system"].tolist() == ["s", "t", ""]
        assert ratings.items["cluster"].tolist() == ["q", "q", "3"]
        assert "query, system" in note_of(ratings, "table-joined")
        lacking = note_of(ratings, "table-lacks-values")
        assert lacking.numbers == {"values": 1, "of": 3}
        assert "panel" in lacking

    def test_a_panel_under_two_systems_is_two_panels(self) -> None:
        table = frame("item rater panel system label\n1 a p s x\n2 a p t y")
        assert read_ratings(table, task="single").panels["panel"].tolist() == ["s/p", "t/p"]

    def test_a_panel_holds_one_cluster(self) -> None:
        table = frame("item rater panel query label\n1 a p q x\n2 a p r y")
        with pytest.raises(
            RatingsError,
            match="panel 'p' holds",
            check=refusal("panel-clusters", clusters=2, panels=1),
        ):
            read_ratings(table, task="single")


class TestRatings:
    def test_items_whose_only_row_goes_aside_keep_their_place(self) -> None:
        rows = "item rater query rank topically_relevant evidence_sufficient misleading\n"
        table = frame(rows + "1 a q 1 no yes no\n2 a q 2 yes no no")
        ratings = read_ratings(table, task="retrieval")
        assert list(ratings.items.index) == ["1", "2"]
        assert ratings.item.tolist() == [1]
        assert ratings.panels["rank"].tolist() == [1, 2]

    def test_a_rater_who_only_abstained_stays(self) -> None:
        ratings = read_ratings(frame("item rater label\n1 a x\n2 b .\n2 a y"), task="single")
        assert list(ratings.raters.index) == ["a", "b"]
        assert ratings.abstained.tolist() == [False, True, False]
        assert "1 rater only abstained: b" in notes(ratings)

    def test_one_item(self) -> None:
        assert len(read_ratings(frame("item rater label\n1 a x"), task="single").items) == 1

    def test_types_are_those_of_the_contract(self) -> None:
        ratings = read_ratings(
            frame("item rater label\n1 a x\n2 b y"), task="single", partial="draft"
        )
        assert ratings.answers.dtype == ratings.truth.dtype == np.int16
        for array in (ratings.item, ratings.rater, ratings.replicate):
            assert array.dtype == np.int64
        assert ratings.abstained.dtype == bool
        assert (ratings.items.index.name, ratings.raters.index.name) == ("item", "rater")
        assert (ratings.partial, ratings.resolve) == ("draft", "retry")


@pytest.mark.parametrize("named", [{"label": "said"}, {"value": "said"}, {"labels": "said"}])
def test_the_one_answer_column_can_be_named_in_any_way_and_the_truth_has_it_too(named: dict):
    table = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "said": [*"nny"]})
    gold = pd.DataFrame({"item": ["b"], "said": ["n"]})
    ratings = read_ratings(table, task="single", truth=gold, **named)
    assert ratings.answers[:, 0].tolist() == [0, 0, 1]
    assert ratings.truth[:, 0].tolist() == [-1, 0]
