"""Open what is given: bytes of any format, folders, archives and tables, as rows or records."""
