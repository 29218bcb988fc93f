"""Names by which columns are recognised: case, spaces, dashes, dots and underscores are nothing."""

import re
import unicodedata
from collections.abc import Iterable

OUTRIGHT = ("item", "item_id")
"""These name the item whatever else is there."""
GENERIC = ("id", "uid", "uuid")
"""These name the item, unless they only number the rows."""

RECOGNISED: dict[str, tuple[str, ...]] = {
    "rater": (
        "rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id", "coder",
        "coder_id", "judge", "judge_id", "user", "user_id", "performer", "labeler", "labeller",
        "reviewer", "assessor", "evaluator", "expert", "rater_name", "annotator_name",
        "annotated_by", "rated_by", "labeled_by", "labelled_by", "completed_by", "labeler_id",
        "reviewer_id", "assessor_id", "evaluator_id", "expert_id", "judge_name", "judge_model",
        "grader", "grader_id", "scorer", "respondent", "respondent_id", "participant",
        "participant_id", "prolific_pid", "prolific_id", "username", "completed_by.email",
        "completed_by.id", "bewerter", "bewerterin", "bewertet_von", "gutachter", "prüfer",
        "kodierer", "codierer", "annotatorin", "rater_email", "annotator_email", "reviewer_email",
        "email_address", "e_mail_address", "e_mail_adresse",
    ),
    "replicate": ("replicate", "replication"),
    "session": (
        "session", "session_id", "snapshot", "snapshot_id", "period", "round", "wave", "sitzung",
        "runde",
    ),
    "item": (
        *OUTRIGHT, "unit", "unit_id", "task_id", "record_id", "example", "example_id",
        "sample", "sample_id", "instance", "instance_id", "subject", "patient", "question",
        "question_id", "record_uuid", "task", "answer_id", "output", "output_id", "completion_id",
        "generation_id", "doc", "doc_id", "document", "document_id", "chunk", "chunk_id",
        "passage_id", "paragraph_id", "sentence_id", "context_id", "text_id", "hit_id", "trace_id",
        "message_id", "utterance_id", "turn_id", "tweet_id", "post_id", "comment_id", "image",
        "image_id", "pair_id", "case", "case_id", "data_id", "inner_id", "frage",
        "fall", "beispiel", "dokument", "abschnitt", "treffer", "bild", *GENERIC,
    ),
    "cluster": (
        "cluster", "cluster_id", "query", "query_id", "topic", "topic_id", "prompt_id", "qid",
        "search_query", "user_query", "anfrage", "abfrage", "suchanfrage", "suchbegriff",
        "nutzeranfrage", "eingabe", "thema",
    ),
    "panel": ("panel", "panel_id"),
    "rank": (
        "rank", "chunk_rank", "position", "doc_rank", "retrieval_rank", "rang", "platz",
        "trefferposition",
    ),
    "system": (
        "system", "system_id", "model", "model_id", "system_name", "model_name", "pipeline",
        "pipeline_id", "app_id", "app_name", "retriever", "modell", "verfahren", "suchsystem",
    ),
    "group": ("group", "rater_group", "rater_type", "annotator_group", "annotator_type", "gruppe"),
    "weight": ("weight", "design_weight", "gewicht"),
    "stratum": ("stratum", "strata", "schicht"),
    "seconds": (
        "seconds", "duration_seconds", "elapsed_seconds", "time_seconds", "lead_time", "time_s",
        "work_time_in_seconds", "time_taken", "time_spent_seconds", "duration_s", "sekunden",
    ),
}  # fmt: skip
KEY_PARTS = ("cluster", "system", "panel", "rank")
"""Roles whose columns may be part of an item's key."""
ASKED = ("question", "question_id", "prompt", "user_input", "frage")
"""Names of what is asked: a cluster, if each item has one."""
ANSWER_COLUMNS = (
    "label", "rating", "class", "response", "answer", "category", "value", "bewertung", "urteil",
    "wertung", "klasse", "kategorie", "antwort", "winner",
)  # fmt: skip
QUESTION_COLUMNS = ("label", "question", "label_name", "question_id", "dimension", "criterion",
                    "aspect")  # fmt: skip
VALUE_COLUMNS = ("value", "answer", "response", "rating", "class", "category", "winner")
TRUTH_NAMES = frozenset({
    "gold", "goldlabel", "goldstandard", "goldanswer", "truth", "truelabel", "groundtruth",
    "correctanswer", "correctlabel",
})  # fmt: skip
"""What known truth is called, squashed; it is read if ``truth=`` names it, and is no answer."""
FLAGS = frozenset({
    "wascancelled", "wascanceled", "cancelled", "canceled", "skipped", "wasskipped", "discarded",
    "isdiscarded", "draft", "isdraft", "ignored",
})  # fmt: skip
"""Names, squashed, of columns that say true of responses that do not count."""
FORM = (
    "timestamp", "submitted", "startdate", "enddate", "recordeddate", "responseid", "zeitstempel",
)  # fmt: skip
"""What is in the name, squashed, of a column that forms add to the answers of each respondent."""
COUNT_NAMES = frozenset({"n", "count", "counts", "freq", "frequency", "times", "tally"})
"""What the number of items is called in tables of grouped answers, squashed."""


NESTED = ("input.", "answer.", "annotation.", "annotations.", "task.data.", "task.", "data.")
"""What tables flattened from the exports of labelling tools put before the names of columns."""


def bare(name: str) -> str:
    """Return a squashed name without what a flattened export puts before it.

    Examples
    --------
    >>> bare("Input.message_id") == bare("message_id")
    True
    """
    start = next((before for before in NESTED if name.casefold().startswith(before)), "")
    return squash(name[len(start) :])


def squash(name: str) -> str:
    """Return a name without case, spaces, dashes, dots and underscores.

    Examples
    --------
    >>> squash("Annotator ID") == squash("annotator_id")
    True
    """
    return re.sub(r"[\s\-_.]+", "", composed(name)).casefold()


def note_apart(names: Iterable[str]) -> tuple[str, ...]:
    """Return a note on names whose accents are letters of their own, if there are any.

    Examples
    --------
    >>> note_apart(["Anna"])
    ()
    """
    apart = list(dict.fromkeys(n.strip() for n in names if not unicodedata.is_normalized("NFC", n)))
    if not apart:
        return ()
    shown = ", ".join(composed(name)[:40] for name in apart[:3])
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    return (
        f"accents that stand apart from their letters were joined with them (Unicode NFC), as in "
        f"{shown}{more}: names that look alike are one",
    )


def composed(text: str) -> str:
    """Return text with its accents composed (Unicode NFC), so that what looks alike is alike.

    Examples
    --------
    >>> composed("Mu\u0308ller") == "M\u00fcller"
    True
    """
    return unicodedata.normalize("NFC", text)
