"""One's own account: signing in, settings, sessions, tokens."""
