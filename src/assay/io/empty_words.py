"""Words that stand for no answer, and what cells say beside them."""

import numpy as np
import pandas as pd

from assay._util.typing import Bools
from assay.data.class_words import canonical

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
