"""Notes with titles and tags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    rank,
)


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
    notes = Table(Note, "note", "title content tags owner updated_at", OWNED)


app = App(
    "simple_note",
    SimpleNoteState,
    "Simple Note",
    "Find, write, change and delete notes.",
)
add_account_apis(app)

SimpleNoteCall = Call[SimpleNoteState]
NoteId = Annotated[int, Field(description="From search_notes")]
Title = Annotated[str, Field(min_length=1, max_length=500, description="Title of the note")]
Content = Annotated[str, Field(max_length=100_000, description="Text of the note")]
Tags = Annotated[tuple[str, ...], Field(max_length=50, description="Words to find it by")]


@app.api(page=5)
def search_notes(
    call: SimpleNoteCall,
    query: Annotated[str, Field(max_length=500, description="Words of the title or content; empty for all")] = "",
    tags: Annotated[list[str] | None, Field(description="Only notes with all of these tags")] = None,
    pinned: Annotated[bool | None, Field(description="Only pinned, or only unpinned notes")] = None,
) -> Iterable[Any]:
    """Search your notes. The list leaves out their content; show_note has it."""
    found = [
        note
        for note in rank(query, call.state.notes, lambda note: (note.title, note.content))
        if note.owner == call.user and pinned in (None, note.pinned) and (not tags or set(tags) <= set(note.tags))
    ]
    found = [*(note for note in found if note.pinned), *(note for note in found if not note.pinned)]
    return map(_summary, found)


@app.api()
def show_note(call: SimpleNoteCall, note_id: NoteId) -> dict[str, Any]:
    """Show a note with its content."""
    note = call.own(call.state.notes, note_id)
    return {**_summary(note), "content": note.content}


add_records(
    app,
    Records(
        "notes",
        "note",
        {
            "title": (Title, ...),
            "content": (Annotated[Content, Field(description="All of the text")], ""),
            "tags": (Tags, ()),
            "pinned": (Annotated[bool, Field(description="Keep it on top of the list")], False),
        },
        ready=lambda call, note: replace(note, tags=tuple(dict.fromkeys(note.tags))),
        apis=("create", "update", "delete"),
        names={"list": "search_notes"},
    ),
)


@app.api()
def add_content_to_note(
    call: SimpleNoteCall,
    note_id: NoteId,
    added_content: Annotated[
        Content,
        Field(min_length=1, description="The text", validation_alias=AliasChoices("added_content", "content")),
    ],
    at_start: Annotated[bool, Field(description="Put it before what is there, instead of after")] = False,
) -> dict[str, Any]:
    """Add text to a note's content, as a new paragraph."""
    note = call.own(call.state.notes, note_id)
    parts = (added_content, note.content) if at_start else (note.content, added_content)
    text = "\n".join(part for part in parts if part)
    call.state.notes.put(replace(note, content=text, updated_at=call.stamp))
    return {"message": "The content was added."}


def _summary(note: Note) -> dict[str, Any]:
    shown = as_dict(note)
    del shown["owner"], shown["content"]
    return shown
