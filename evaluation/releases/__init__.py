"""Releases: what blocks one, and cutting it."""
