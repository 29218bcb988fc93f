"""Sampling of pairs, forms for raters, language models as raters, and scorers compared."""

JUDGES = {
    "budget-prices": (
        "A budget needs prices, and prices are two numbers. Give the prices of a million tokens "
        "sent and answered."
    ),
    "budget-reached": (
        "The next request could exceed the budget, so that the run stopped. All answers are kept; "
        "a higher budget goes on."
    ),
    "embedding-shape": (
        "An embedding function returns no row of finite numbers for each text. Correct it."
    ),
    "endpoint-failed": (
        "An endpoint does not answer as it should. Check its address, the model and the key. All "
        "answers are kept."
    ),
    "endpoint-key": "The environment variable with the key of an endpoint is not set. Set it.",
    "endpoint-url": (
        "The address of an endpoint cannot be used. Give one without user, password or query."
    ),
    "failed-requests": "Some requests have no answer. Another call asks them again.",
    "few-queries": (
        "A comparison is about queries like these, and there are few of them. Its intervals tend "
        "to be too narrow."
    ),
    "form-without-gates": (
        "A tool shows questions that are not asked of all items. The form says as text when to "
        "answer."
    ),
    "form-without-rules": (
        "A tool does not block answers that break a rule. Read its ratings with `response=`, as "
        "the message shows."
    ),
    "guesses-without-score": (
        "Some answers have a class and no confidence that can be read. They are ratings without a "
        "score."
    ),
    "guidelines-missing": ("A task has no guidelines for raters. Write a text of your own."),
    "log-damaged": "Lines of a log cannot be read. They are passed over.",
    "log-file": "A file is no log of requests. Name a new file, or the log of an earlier run.",
    "log-in-use": "Another run writes to the log. Wait until it ends, or name another file.",
    "no-model-ratings": "No item has a rating. The messages before say why.",
    "one-draw-of-truth": (
        "The truth is known and the items are fixed, so that probabilities are 0 or 1. Use "
        "`estimand='population'` for queries like these."
    ),
    "pairs-names": "Names of pairs would not be unique. Give queries or documents other ids.",
    "pairs-size": (
        "A sample would be larger than what it is drawn from. Give a number that the message "
        "allows."
    ),
    "pairs-without-truth": (
        "Judged pairs are not in the truth. Fit ratings of all pairs of the sample."
    ),
    "prompt-file": "A prompt file has problems. Correct them; the message lists all of them.",
    "prompt-unfit": "A prompt is for another task or purpose. Choose another one.",
    "run-documents": (
        "Listed documents are in no stratum of the sample. Check the ids of documents."
    ),
    "run-file": "A ranked list cannot be read. Write it as TREC run files are written.",
    "score-measure": "A measure leaves something out, or is biased. The message says how.",
    "scored-by-some": "Items without a score of every scorer are left out of a comparison.",
    "student-pairs": (
        "A student cannot learn from these judgements. Judge pairs of several queries, of both "
        "kinds."
    ),
    "teacher-scores": ("Scores of a teacher are no probabilities. Give numbers from 0 to 1."),
    "texts-without-words": (
        "Documents have no words, so that BM25 cannot rank them. Give texts, or embeddings."
    ),
    "unknown-prompt": "No prompt has this name. Use one that the message lists, or a .toml file.",
    "unparsed-answers": (
        "Some answers of a model name no class. They are kept whole, and are no ratings."
    ),
}
