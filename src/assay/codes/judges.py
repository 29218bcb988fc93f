"""Sampling of pairs, forms for raters, language models as raters, and scorers compared."""

JUDGES = {
    "budget-prices": (
        "A budget needs prices as two numbers. Give the prices of a million tokens sent and of a "
        "million tokens received."
    ),
    "budget-reached": (
        "The next request could exceed the budget, so the run stopped. All answers are kept. "
        "Continue with a higher budget."
    ),
    "embedding-shape": (
        "An embedding function does not return a row of finite numbers for each text. Correct the "
        "function."
    ),
    "endpoint-failed": (
        "An endpoint does not answer as expected. Check its address, the model and the key. All "
        "answers are kept."
    ),
    "endpoint-key": "The environment variable with the key of an endpoint is not set. Set it.",
    "endpoint-url": (
        "The address of an endpoint cannot be used. Give one without user, password or query."
    ),
    "failed-requests": "Some requests have no answer. Another call sends them again.",
    "few-queries": (
        "A comparison concerns queries like these, but there are few of them. Its intervals tend "
        "to be too narrow."
    ),
    "form-without-gates": (
        "The tool shows some questions regardless of earlier answers. The form says as text when "
        "to answer them."
    ),
    "form-without-rules": (
        "The tool does not block answers that break a rule. Read its ratings with `response=`, as "
        "the message shows."
    ),
    "guesses-without-score": (
        "Some answers have a class but no readable confidence. They are ratings without a score."
    ),
    "guidelines-missing": ("A task has no guidelines for raters. Write a text of your own."),
    "log-damaged": "Some lines of a log cannot be read. They are skipped.",
    "log-file": "The file is not a log of requests. Name a new file, or the log of an earlier run.",
    "log-in-use": "Another run writes to the log. Wait until it ends, or name another file.",
    "no-model-ratings": "No item has a rating. The messages before this one give the reasons.",
    "one-draw-of-truth": (
        "The truth is known and the items are fixed, so probabilities are 0 or 1. For queries like "
        "these, use `estimand='population'`."
    ),
    "pairs-names": "Some pairs would have the same name. Give queries or documents other ids.",
    "pairs-size": (
        "The sample is larger than the set from which it is drawn. Give a number that the message "
        "allows."
    ),
    "pairs-without-truth": (
        "Judged pairs are missing in the truth. Fit ratings of all pairs of the sample."
    ),
    "prompt-file": "A prompt file has problems. Correct them; the message lists all of them.",
    "prompt-unfit": "A prompt is for another task or purpose. Choose another one.",
    "run-documents": (
        "Some listed documents are in no stratum of the sample. Check the ids of documents."
    ),
    "run-file": "A ranked list cannot be read. Write it in the format of TREC run files.",
    "score-measure": "A measure leaves something out, or is biased. The message gives details.",
    "scored-by-some": "Items that some scorer did not score are left out of a comparison.",
    "student-pairs": (
        "A student cannot learn from these judgements. Judge pairs of several queries, of both "
        "kinds."
    ),
    "teacher-scores": "Scores of a teacher are not probabilities. Give numbers from 0 to 1.",
    "texts-without-words": (
        "Some documents have no words, so BM25 cannot rank them. Give texts, or embeddings."
    ),
    "unknown-prompt": "No prompt has this name. Use one that the message lists, or a .toml file.",
    "unparsed-answers": (
        "Some answers of a model name no class. They are kept in full but are not ratings."
    ),
}
