"""Packs outside of the studio: run, scored, shown and verified by ``pibench``. Knows no Django and no database."""
