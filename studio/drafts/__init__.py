"""Drafts as rows and as specs: load, validate, write, autosave, rebase, save."""
