"""One rule per file; files are discovered automatically."""
