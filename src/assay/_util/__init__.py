"""Tools that know nothing of ratings: errors, validation, text, files, progress."""
