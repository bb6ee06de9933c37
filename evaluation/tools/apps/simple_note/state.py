from __future__ import annotations

from dataclasses import dataclass

from evaluation.tools.apps.framework import AppState


@dataclass(frozen=True)
class Note:
    note_id: int
    owner: str
    title: str
    content: str = ""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    created_at: str = ""
    updated_at: str = ""


class SimpleNoteState(AppState):
    app = "simple_note"

    def __init__(self) -> None:
        super().__init__()
        self.notes = self.table("notes", Note, "note", {"owner": "accounts"})
