"""What knows nothing of ratings: errors, validation, text, files, progress."""
