"""Drafts as rows and as specs: load, validate, write, autosave, rebase. Saves are in ``tasks`` and ``personas``."""
