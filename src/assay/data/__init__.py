"""Tasks, states, ratings, and the overlap of raters on items."""
