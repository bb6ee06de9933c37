"""Plays a session: the conversation turn by turn, then grading. Knows of no database; what is kept goes to a store."""
