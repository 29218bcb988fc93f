"""What a fit says of raters; their agreement, and scores held against the truth."""
