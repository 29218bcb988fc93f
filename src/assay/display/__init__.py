"""Results as data frames, as tables of the terminal, and in words."""
