"""Tasks, states, ratings, and which raters overlap on which items."""
