"""Names of environment variables that the studio accepts."""

KEY_VARIABLE = r"^[A-Z][A-Z0-9_]*API_KEY$"
"""Pattern for a variable that holds an endpoint's key; also in a constraint of the database."""
