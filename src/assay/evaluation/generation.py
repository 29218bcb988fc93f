"""Metrics of the task ``generation``: rates over answers."""

from assay.evaluation.registry import register_rates

register_rates(
    "generation",
    {
        "proper_action_rate": "Share of answers that are what the query called for.",
        "on_topic_rate": "Share of answers that are about the query.",
        "helpfulness_rate": "Share of answers that help.",
        "incompleteness_rate": "Share of answers that leave out something essential.",
        "unsafe_content_rate": "Share of answers with unsafe content.",
    },
    lower=("incompleteness_rate", "unsafe_content_rate"),
)
