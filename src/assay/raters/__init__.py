"""Results about raters: reliability, agreement, and scores compared with the truth."""
