"""Assistance: a model proposes changes to a task, and an author accepts or dismisses them."""
