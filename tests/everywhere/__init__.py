"""What holds for every page and every operation of the API, generated from their tables."""
