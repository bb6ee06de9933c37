"""One-command start: the embedded PostgreSQL and Valkey, and the supervisor of all parts. Nothing here needs Django."""
