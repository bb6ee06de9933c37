"""Notes with titles and tags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.framework import (
    App,
    AppState,
    Call,
    Page,
    PageIndex,
    PageLimit,
    add_account_apis,
    as_dict,
    given,
    paginate,
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

    def __init__(self) -> None:
        super().__init__()
        self.notes = self.table("notes", Note, "note", {"owner": "accounts"}, "title content tags owner updated_at")


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


@app.api()
def search_notes(
    call: SimpleNoteCall,
    query: Annotated[str, Field(max_length=500, description="Words of the title or content; empty for all")] = "",
    tags: Annotated[list[str] | None, Field(description="Only notes with all of these tags")] = None,
    pinned: Annotated[bool | None, Field(description="Only pinned, or only unpinned notes")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search your notes. The list leaves out their content; show_note has it."""
    found = [
        note
        for note in rank(query, call.state.notes, lambda note: (note.title, note.content))
        if note.owner == call.user and pinned in (None, note.pinned) and (not tags or set(tags) <= set(note.tags))
    ]
    found = [*(note for note in found if note.pinned), *(note for note in found if not note.pinned)]
    return paginate(found, page_index, page_limit, _summary)


@app.api()
def show_note(call: SimpleNoteCall, note_id: NoteId) -> dict[str, Any]:
    """Show a note with its content."""
    note = call.own(call.state.notes, note_id)
    return {**_summary(note), "content": note.content}


@app.api()
def create_note(
    call: SimpleNoteCall,
    title: Title,
    content: Content = "",
    tags: Tags = (),
    pinned: Annotated[bool, Field(description="Keep it on top of the list")] = False,
) -> dict[str, Any]:
    """Create a note."""
    note = call.state.notes.put(
        Note(
            call.state.notes.next_id(),
            call.user,
            title,
            content,
            tuple(dict.fromkeys(tags)),
            pinned,
            created_at=call.stamp,
            updated_at=call.stamp,
        )
    )
    return {"message": "The note was created.", "note_id": note.note_id}


@app.api()
def update_note(
    call: SimpleNoteCall,
    note_id: NoteId,
    title: Annotated[Title | None, Field(description="The new title")] = None,
    content: Annotated[Content | None, Field(description="The whole new content")] = None,
    tags: Annotated[Tags | None, Field(description="The new tags, instead of all old ones")] = None,
    pinned: Annotated[bool | None, Field(description="Keep it on top of the list")] = None,
) -> dict[str, Any]:
    """Change a note. What is left out stays as it is."""
    tags = None if tags is None else tuple(dict.fromkeys(tags))
    _change(call, note_id, **given(title=title, content=content, pinned=pinned, tags=tags))
    return {"message": "The note was updated."}


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
    old = call.own(call.state.notes, note_id).content
    parts = (added_content, old) if at_start else (old, added_content)
    _change(call, note_id, content="\n".join(part for part in parts if part))
    return {"message": "The content was added."}


@app.api()
def delete_note(call: SimpleNoteCall, note_id: NoteId) -> dict[str, Any]:
    """Delete a note for good."""
    call.state.notes.remove(call.own(call.state.notes, note_id).note_id)
    return {"message": "The note was deleted."}


def _change(call: SimpleNoteCall, note_id: int, **changes: Any) -> None:
    call.state.notes.put(replace(call.own(call.state.notes, note_id), updated_at=call.stamp, **changes))


def _summary(note: Note) -> dict[str, Any]:
    shown = as_dict(note)
    del shown["owner"], shown["content"]
    return shown
