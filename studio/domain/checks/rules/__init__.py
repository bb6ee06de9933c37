"""One rule, one file. A new file here is found by itself; nothing else names it."""
