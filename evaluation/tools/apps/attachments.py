"""Files of the File System app, attached to what is in other apps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.file_system import read_file, save_file
from evaluation.tools.apps.framework import App, Call, InvalidError, Table, as_dict
from evaluation.tools.apps.framework.app import Parameters, parameters_of

FileToken = Annotated[str, Field(min_length=1, max_length=200, description="From file_system__login")]
FilePaths = Annotated[tuple[str, ...], Field(max_length=20, description="Absolute paths in the File System app")]
FilePath = Annotated[str, Field(max_length=1_000, description="Absolute path in the File System app")]
SaveAs = Annotated[str, Field(max_length=1_000, description="In the File System app; ~/downloads if left out")]
Overwrite = Annotated[bool, Field(description="Replace a file that is there")]


@dataclass(frozen=True)
class Attachment:
    attachment_id: int
    file_name: str
    content: str = ""


def attach(call: Call[Any], table: Table[Attachment], paths: Sequence[str], file_token: str | None) -> tuple[int, ...]:
    """The numbers of attachments made of files. Raises AppError."""
    if not paths:
        return ()
    if file_token is None:
        raise InvalidError("Attaching a file needs the file_system_access_token.")
    files = call.beside("file_system", file_token)
    made = []
    for path in paths:
        file = read_file(files, path)
        name = file.file_path.rpartition("/")[2]
        made.append(table.put(Attachment(table.next_id(), name, file.content)).attachment_id)
    return tuple(made)


SAVING: dict[str, Any] = {
    "file_system_access_token": (FileToken, ...),
    "download_to_file_path": (SaveAs | None, None),
    "overwrite": (Overwrite, False),
}


def saves_file(
    app: App[Any], name: str, about: str, takes: Parameters | None = None
) -> Callable[[Callable[..., Attachment]], object]:
    """Declare an API that saves what the function gives in the File System."""

    def declare(find: Callable[..., Attachment]) -> object:
        @app.api(name, about, {**(parameters_of(find) if takes is None else takes), **SAVING})
        def save(
            call: Call[Any],
            *,
            file_system_access_token: str,
            download_to_file_path: str | None,
            overwrite: bool,
            **given: Any,
        ) -> dict[str, Any]:
            file = find(call, **given)
            files = call.beside("file_system", file_system_access_token)
            path = save_file(files, download_to_file_path or f"~/downloads/{file.file_name}", file.content, overwrite)
            return {"message": "The file was downloaded to the File System app.", "file_path": path}

        return save

    return declare


def with_attachments(record: Any, table: Table[Attachment]) -> dict[str, Any]:
    """As people read it; only where there are any."""
    shown = as_dict(record)
    attached = [table.get(number) for number in shown.pop("attachments")]
    if attached:
        shown["attachments"] = [{"id": each.attachment_id, "file_name": each.file_name} for each in attached]
    return shown
