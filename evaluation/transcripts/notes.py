"""Notes that people make on the turns of a session."""

from __future__ import annotations

from evaluation.models import Turn, TurnNote
from studio.models import User

MAX_NOTE = 5_000


class NoteError(Exception):
    """Its text says why the note cannot be."""


def add_note(turn: Turn, by: User, text: str) -> TurnNote:
    """Raises NoteError."""
    text = text.replace("\r\n", "\n").replace("\0", "").strip()
    if not text:
        raise NoteError("Write the note first.")
    if len(text) > MAX_NOTE:
        raise NoteError(f"This has {len(text):,} characters; a note has at most {MAX_NOTE:,}.")
    return TurnNote.objects.create(turn=turn, author=by, text=text)


def delete_note(turn: Turn, by: User, key: str) -> None:
    """One's own; another's stays."""
    if key.isascii() and key.isdecimal() and len(key) < 19:
        TurnNote.objects.filter(pk=int(key), turn=turn, author=by).delete()
