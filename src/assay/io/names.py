"""Words by which columns are recognised, and what stands for no answer in cells.

Names of columns match ignoring case, spaces, dashes, dots and underscores.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.typing import Bools
from assay.data.class_words import canonical

OUTRIGHT = ("item", "item_id")
"""Names of the item that take precedence over all others."""
GENERIC = ("id", "uid", "uuid")
"""Names of the item, unless the column only numbers rows."""
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
NUMBERED, NUMBERED_GROUP = "rater (numbered)", "group of raters"
MADE = frozenset({NUMBERED, NUMBERED_GROUP})
"""The columns that the reader adds for raters without names, unlikely in real data."""
KEY_PARTS = ("cluster", "system", "panel", "rank")
"""Roles whose columns may be part of an item's key."""
ASKED = ("question", "question_id", "prompt", "user_input", "frage")
"""Names of questions: a cluster, if each item has one."""
ANSWER_COLUMNS = (
    "label", "rating", "class", "response", "answer", "category", "value", "bewertung", "urteil",
    "wertung", "klasse", "kategorie", "antwort", "winner", "annotation", "judgment", "judgement",
    "verdict", "vote", "decision",
)  # fmt: skip
QUESTION_COLUMNS = ("label", "question", "label_name", "question_id", "dimension", "criterion",
                    "aspect", "criterion_id", "criteria", "criteria_id")  # fmt: skip
VALUE_COLUMNS = (
    "value", "answer", "response", "rating", "class", "category", "winner", "annotation",
    "judgment", "judgement", "verdict", "vote", "decision",
)  # fmt: skip
TRUTH_NAMES = frozenset({
    "gold", "goldlabel", "goldstandard", "goldanswer", "truth", "truelabel", "groundtruth",
    "correctanswer", "correctlabel", "final", "finallabel", "finalanswer", "finaldecision",
    "finalrating", "adjudicated", "adjudication", "adjudicatedlabel", "consensus",
    "consensuslabel", "reconciled", "konsens", "endgültig", "musterlösung",
})  # fmt: skip
"""Squashed names of known truth, which is read only if ``truth=`` names it."""
SUMMARIES = frozenset({
    "majority", "majorityvote", "majoritylabel", "majorityclass", "majorityanswer",
    "majorityrating", "mean", "average", "avg", "meanrating", "averagerating", "meanscore",
    "averagescore", "avgscore", "avgrating", "median", "allagree",
    "aggregated", "aggregate", "mehrheit", "mehrheitsurteil", "mittelwert", "durchschnitt",
})  # fmt: skip
"""Squashed names of what is computed from several raters, and is no answer of one."""
FLAGS = frozenset({
    "wascancelled", "wascanceled", "cancelled", "canceled", "skipped", "wasskipped", "discarded",
    "isdiscarded", "draft", "isdraft", "ignored",
})  # fmt: skip
"""Squashed names of columns that mark responses that do not count."""
PEOPLE = frozenset({
    "email", "mail", "observer", "participant", "respondent", "coder", "rater", "annotator",
    "worker", "judge", "reviewer", "user", "evaluator", "assessor", "prolific", "username",
})  # fmt: skip
"""Words in names of columns of respondents."""
EXPERTS = PEOPLE | {"expert", "doctor", "dr", "physician", "nurse", "reader", "teacher", "human"}
"""Words in names of columns that are raters."""
RATER_WORDS = PEOPLE | {
    "who",
    "whom",
    "by",
    "grader",
    "scorer",
    "labeler",
    "labeller",
    "expert",
    "wer",
    "gutachter",
    "kodierer",
    "bewerter",
    "prüfer",
}
"""Words in names of a column that says who rated."""
SYSTEM_WORDS = frozenset({
    "system", "model", "bot", "chatbot", "arm", "variant", "version", "pipeline", "engine", "llm",
    "assistant", "method", "retriever", "condition", "config", "configuration", "candidate",
    "modell", "variante", "verfahren",
})  # fmt: skip
"""Words in names of a column that says what is compared."""
LONGEST_ROLE = 3
"""Words beyond which a name is a question."""
CRITERIA = frozenset({
    "correct", "relevant", "relevance", "faithful", "complete", "grounded", "supported", "fluent",
    "coherent", "coherence", "concise", "accurate", "accuracy", "consistent", "safe", "toxic",
    "polite", "style", "tone", "grammar", "format", "clarity", "clear", "quality", "overall",
    "hallucination", "hallucinated", "factual", "fluency", "bias", "depth", "honest", "harmless",
    "harmful", "refusal", "richtig", "korrekt", "relevanz", "stil", "grammatik",
})  # fmt: skip
"""Words in names of columns that are criteria."""
CRITERIA_END = ("ness", "ity", "ful", "able", "ible", "keit", "heit", "reich")
"""How further such words end."""
QUESTIONS = ("item", "question", "q", "task", "case", "image", "answer", "is", "how", "text", "doc")
"""Beginnings of names of columns that are items."""
FORM = (
    "timestamp", "submitted", "submitdate", "datestamp", "startlanguage", "startdate",
    "enddate", "recordeddate", "responseid", "zeitstempel",
)  # fmt: skip
"""Squashed parts of names of columns that forms add for each respondent."""
REMARKS = frozenset({
    "feedback", "comment", "comments", "remark", "remarks", "notes", "suggestions", "kommentar",
    "kommentare", "bemerkung", "bemerkungen", "anmerkung", "anmerkungen", "anythingelse?",
    "anyothercomments?", "anycomments?", "furthercomments", "additionalcomments", "othercomments",
})  # fmt: skip
"""Squashed names of free remarks."""
GRADES = frozenset({
    "grade", "grades", "score", "scores", "rating", "ratings", "star", "stars", "point", "points",
    "level", "likert", "scale", "degree", "quality", "severity", "relevance", "note", "noten",
    "punkte", "sterne", "stufe", "bewertung", "wertung", "skala", "grad",
})  # fmt: skip
"""Words in names of labels whose numbers are grades."""
CODES = frozenset({
    "label", "labels", "class", "category", "cat", "code", "codes", "type", "kind", "topic",
    "theme", "genre", "emotion", "intent", "species", "language", "group", "cluster", "id", "nr",
    "number", "tag", "target", "color", "colour", "answer", "choice", "option", "vote", "response",
    "value", "annotation", "winner", "decision", "verdict", "klasse", "kategorie", "antwort",
    "urteil", "thema", "typ", "art", "gruppe", "sprache",
})  # fmt: skip
"""Words in names of labels whose numbers may be codes."""
WORKPLACE = frozenset({
    "country", "region", "city", "ip", "ipaddress", "channel", "browser", "device", "useragent",
    "os", "land", "gerät",
})  # fmt: skip
"""Squashed names of where a rater worked, which is no answer."""
COUNT_NAMES = frozenset({
    "n", "count", "counts", "freq", "frequency", "times", "tally", "votes", "nvotes", "numvotes",
    "numberofvotes", "votecount", "votescount", "nratings", "numratings", "anzahl", "häufigkeit",
    "haeufigkeit", "stimmen", "stimmenzahl", "anzahlstimmen", "nombre", "effectif", "fréquence",
    "frequence", "nbvotes", "votos", "frecuencia", "frequência", "número", "frequenza", "voti",
    "aantal", "antal", "liczba", "количество", "数量", "件数", "人数", "票数",
})  # fmt: skip
"""Squashed names of frequencies in tables of grouped answers."""
NESTED = ("input.", "answer.", "annotation.", "annotations.", "task.data.", "task.", "data.")
"""Prefixes of column names in flattened exports."""


def own_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of the file, without those that the reader added."""
    return [column for column in columns if column not in MADE]


def words_of(column: str) -> list[str]:
    """Return the words of a name: Email Address is email and address."""
    return "".join(c if c.isalpha() else " " for c in column.casefold()).split()


def names_rater(column: str) -> bool:
    """Whether a short name is that of a rater: who_rated, Rated by."""
    return _has_word(column, RATER_WORDS)


def names_system(column: str) -> bool:
    """Whether a short name is that of a system: ChatSystem, bot."""
    return _has_word(column, SYSTEM_WORDS) and not names_rater(column)


def _has_word(column: str, known: Set[str]) -> bool:
    """Whether a name that is no question has one of these words, also in camel case."""
    words = words_of(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column))
    found = known & {*words, *(word.removesuffix("s") for word in words)}
    return bool(found) and len(words) <= LONGEST_ROLE and "?" not in column


def names_criterion(column: str) -> bool:
    """Whether the name of a column is that of a criterion."""
    words = set(words_of(column))
    return bool(words & CRITERIA) or any(word.endswith(CRITERIA_END) for word in words)


def names_question(column: str) -> bool:
    """Whether a name is that of an item or a question: item 3, Q12, Is answer 1 correct?"""
    return squash(column).strip("0123456789").startswith(QUESTIONS)


def bare(name: str) -> str:
    """Return a squashed name without the prefix of a flattened export."""
    start = next((before for before in NESTED if name.casefold().startswith(before)), "")
    return squash(name[len(start) :])


def squash(name: str) -> str:
    """Return a name without case, spaces, dashes, dots and underscores."""
    return re.sub(r"[\s\-_.]+", "", composed(name)).casefold()


def note_apart(names: Iterable[str]) -> tuple[Note, ...]:
    """Return a note on names with decomposed accents, if any."""
    apart = list(dict.fromkeys(n.strip() for n in names if not unicodedata.is_normalized("NFC", n)))
    if not apart:
        return ()
    shown = ", ".join(composed(name)[:40] for name in apart[:3])
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    text = (
        f"separate accents were joined with their letters (Unicode NFC), as in {shown}{more}, so "
        "names that look alike are one"
    )
    return (Note(text, code="accents-joined", level="note", numbers={"names": len(apart)}),)


def composed(text: str) -> str:
    """Return text with composed accents (Unicode NFC), so that equal-looking text is equal."""
    return unicodedata.normalize("NFC", text)


KNOWN = {role: frozenset(map(squash, names)) for role, names in RECOGNISED.items()}
"""Squashed names of each role."""
ALL_KNOWN = frozenset().union(*KNOWN.values())


def is_called(column: str, names: Iterable[str]) -> bool:
    """Whether a column has one of these names."""
    return squash(column) in map(squash, names)


EMPTY = frozenset({"", "[]", "na", "n/a", "nan", "null", "<na>", "nat"})
NO_ANSWER = frozenset({  # English; then German, French, Spanish and others
    "none", "-", "--", "---", "\u2013", "\u2014", "?", "??", "???", ".", "/", "skip", "skipped",
    "unsure", "not sure", "uncertain", "unknown", "unclear", "dk", "don't know", "dont know",
    "do not know", "idk", "can't tell", "cannot tell", "can't say", "cannot say", "no answer",
    "not answered", "no response", "no opinion", "not applicable", "missing", "blank", "empty",
    "undefined", "abstain", "abstained", "abstention", "ignore", "ignored", "n.a.", "n.a", "n / a",
    "na.", "#n/a", "#na", "#null!", "nil", "(none)", "<none>", "[none]", "null.", "not rated",
    "unrated", "unlabeled", "unlabelled", "unanswered", "not available", "prefer not to say",
    "don\u2019t know", "can\u2019t tell", "can\u2019t say", "can't decide", "cannot decide",
    "undecided", "no idea", "refused", "no rating",
    "keine angabe", "k.a.", "k. a.", "k.a", "weiss nicht", "weiss ich nicht",
    "unklar", "unsicher", "unbekannt", "unentschieden", "enthaltung", "keine antwort",
    "keine meinung", "keine bewertung", "nicht beurteilbar", "nicht bewertbar", "nicht bewertet",
    "nicht zutreffend", "trifft nicht zu", "übersprungen", "fehlt", "entfällt", "leer",
    "je ne sais pas", "ne sait pas", "ne sais pas", "nsp", "sans réponse", "pas de réponse",
    "aucune réponse", "sans avis", "sans opinion", "inconnu", "incertain", "non applicable",
    "no sé", "no se", "no sabe", "no lo sé", "ns/nc", "nsnc", "sin respuesta", "no contesta",
    "no aplica", "desconocido", "sin opinión",
    "não sei", "nao sei", "sem resposta", "não se aplica", "non so", "non lo so",
    "nessuna risposta", "weet niet", "weet ik niet", "geen antwoord", "geen mening", "n.v.t.",
    "nvt", "nie wiem", "trudno powiedzieć", "brak odpowiedzi", "vet ej", "vet inte", "ved ikke",
    "vet ikke", "не знаю", "затрудняюсь ответить", "нет ответа", "неизвестно",
    "不知道", "不确定", "不清楚", "未知", "わからない", "分からない", "不明", "無回答", "未回答",
})  # fmt: skip
"""Words that may mean no answer; a note names them if the data define the classes."""


def words_in(column: "pd.Series[str]") -> set[str]:
    """Return the distinct words of a column in canonical form, without those for nothing."""
    return {canonical(str(word)) for word in pd.unique(column)} - EMPTY


def empty_cells(column: "pd.Series[str]") -> Bools:
    """Return which cells are empty or hold a word for nothing."""
    raw, distinct = pd.factorize(column)
    return np.array([canonical(str(word)) in EMPTY for word in distinct], bool)[raw]


COUNT = r"\d{1,9}(\.0)?"
BESIDE = ("rater", "replicate", "session")
"""Roles that distinguish ratings of one item."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """The columns of a role, and the evidence."""

    columns: tuple[str, ...]
    evidence: str
    alternatives: tuple[str, ...] = ()


Roles = Mapping[str, Role]


def columns_of(roles: Roles, *names: str) -> list[str]:
    """Return the columns of some roles, in this order."""
    return [column for name in names if name in roles for column in roles[name].columns]


class ColumnFinder:
    """Finds columns by name."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = list(columns)
        self._squashed: dict[str, str] = {}
        self._bare: dict[str, list[str]] = {}
        for column in self.columns:
            self._squashed.setdefault(squash(column), column)
            self._bare.setdefault(bare(column), []).append(column)

    def get(self, name: str) -> str | None:
        """Return the column of this name, up to case, separators and a unique nested prefix."""
        if name in self.columns:
            return name
        alike = self._bare.get(bare(name), [])
        return self._squashed.get(squash(name)) or (alike[0] if len(alike) == 1 else None)

    def all_of(self, names: str | Sequence[str]) -> list[str]:
        """Return the named columns that exist, without repeats."""
        found = (self.get(name) for name in ([names] if isinstance(names, str) else names))
        return list(dict.fromkeys(c for c in found if c is not None))


def question_column(frame: pd.DataFrame) -> str:
    """Return the column that names the question of each row, beside one of answers; else ""."""
    finder = ColumnFinder(frame.columns)
    names = finder.all_of(QUESTION_COLUMNS)
    answers = finder.all_of(VALUE_COLUMNS)
    found = (c for c in names if any(a != c for a in answers) and frame[c].nunique() > 1)
    return next(found, "")


def count_column(frame: pd.DataFrame) -> str:
    """Return the column of frequencies, if there is one."""
    found = [str(c) for c in frame.columns if squash(str(c)) in COUNT_NAMES]
    return next((c for c in found if frame[c].str.fullmatch(COUNT).all()), "")


def named_columns(finder: ColumnFinder, *arguments: object) -> list[str]:
    """Return the existing columns that arguments name."""
    listed: list[object] = []
    for argument in arguments:
        if isinstance(argument, Mapping):
            listed += argument.values()
        else:
            listed += argument if isinstance(argument, list | tuple) else [argument]
    return finder.all_of([name for name in listed if isinstance(name, str) and name])
