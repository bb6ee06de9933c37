"""A person's own files and directories, apart from the workspace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    Table,
    add_account_apis,
    matches,
)


@dataclass(frozen=True)
class Directory:
    directory_path: str
    """Absolute, without a slash at its end."""
    owner: str
    created_at: str = ""


@dataclass(frozen=True)
class File:
    file_path: str
    owner: str
    content: str = ""
    created_at: str = ""
    updated_at: str = ""


def home_of(username: str) -> str:
    return f"/home/{username.partition('@')[0]}"


class FileSystemState(AppState):
    app = "file_system"
    files = Table(File, "file", "file_path content updated_at", OWNED)
    directories = Table(Directory, "directory", "directory_path owner", OWNED)

    def complete(self) -> None:
        """Everybody has a home, and every file its directories."""
        for account in self.accounts:
            self._add(home_of(account.username), account.username)
        for folder, owner in {(file.file_path.rpartition("/")[0], file.owner): None for file in self.files}:
            path = PurePosixPath(folder)
            for parent in (*reversed(path.parents), path):
                if len(parent.parts) > 2:
                    self._add(str(parent), owner)

    def _add(self, path: str, owner: str) -> None:
        if path not in self.directories:
            self.directories.put(Directory(path, owner))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for path in [*(each.directory_path for each in self.directories), *(each.file_path for each in self.files)]:
            parent = str(PurePosixPath(path).parent)
            if parent not in self.directories and parent not in ("/", "/home"):
                yield f"{path}: its directory {parent} does not exist."
        for file in self.files:
            if file.file_path in self.directories:
                yield f"{file.file_path} is both a file and a directory."


app = App(
    "file_system",
    FileSystemState,
    "File System",
    "Create, read, copy, move and delete one's own files and directories.",
)
add_account_apis(app)

FileCall = Call[FileSystemState]
Path = Annotated[str, Field(min_length=1, max_length=1_000, description="E.g. ~/letters/landlord.txt; ~ is your home")]
Content = Annotated[str, Field(max_length=1_000_000, description="Text of the file")]
MOST_PARTS = 32


@app.api(page=20)
def show_directory(
    call: FileCall,
    directory_path: Path = "~",
    query: Annotated[str, Field(max_length=200, description="Words of the names; empty for all")] = "",
    recursive: Annotated[bool, Field(description="Go into its directories")] = False,
) -> Iterable[Any]:
    """List what is in a directory; directories end with a slash."""
    path = _directory(call, directory_path).directory_path
    directories = [name for each in call.state.directories if _is_in(name := each.directory_path, path, recursive)]
    files = [name for each in call.state.files if _is_in(name := each.file_path, path, recursive)]
    inside = [*(f"{name}/" for name in directories), *files]
    return sorted(name for name in inside if matches(query, name))


@app.api()
def create_directory(
    call: FileCall,
    directory_path: Path,
    recursive: Annotated[bool, Field(description="Also the directories above it")] = False,
) -> dict[str, Any]:
    """Create a directory."""
    path = _path(call, directory_path)
    _require_free(call, path)
    _require_parents(call, path, create=recursive)
    call.state.directories.put(Directory(path, call.user, call.stamp))
    return {"message": "The directory was created.", "directory_path": path}


@app.api()
def delete_directory(call: FileCall, directory_path: Path) -> dict[str, Any]:
    """Delete a directory with everything in it."""
    path = _directory(call, directory_path).directory_path
    _require_not_home(call, path)
    _remove_tree(call, path)
    return {"message": "The directory was deleted."}


@app.api()
def directory_exists(call: FileCall, directory_path: Path) -> dict[str, Any]:
    """Tell whether a directory exists."""
    return {"exists": _path(call, directory_path) in call.state.directories}


@app.api()
def compress_directory(
    call: FileCall,
    directory_path: Path,
    compressed_file_path: Annotated[
        str | None, Field(description="Ends with .zip or .tar; left out: beside the directory, as .zip")
    ] = None,
    delete_directory: Annotated[bool, Field(description="Delete the directory afterwards")] = False,
    overwrite: Annotated[bool, Field(description="Replace a file that is there")] = False,
) -> dict[str, Any]:
    """Compress a directory with everything in it into one file."""
    source = _directory(call, directory_path).directory_path
    path = _path(call, compressed_file_path or f"{source}.zip")
    if not path.endswith((".zip", ".tar")):
        raise InvalidError("The path of the compressed file must end with .zip or .tar.")
    inside = {
        each.file_path[len(source) + 1 :]: each.content for each in call.state.files if _is_in(each.file_path, source)
    }
    save_file(call, path, json.dumps(inside, ensure_ascii=False), overwrite)
    if delete_directory:
        _require_not_home(call, source)
        _remove_tree(call, source)
    return {"message": "The directory was compressed.", "compressed_file_path": path}


@app.api()
def decompress_file(
    call: FileCall,
    compressed_file_path: Path,
    decompressed_directory_path: Annotated[
        str | None, Field(description="Left out: beside the file, by its name")
    ] = None,
) -> dict[str, Any]:
    """Decompress a file that compress_directory made into a new directory."""
    file = _file(call, compressed_file_path)
    target = _destination(call, decompressed_directory_path or file.file_path.rpartition(".")[0])
    try:
        inside = json.loads(file.content)
    except (ValueError, RecursionError):
        inside = None
    if not isinstance(inside, dict):
        raise InvalidError(f"{file.file_path} is not a compressed directory.")
    call.state.directories.put(Directory(target, call.user, call.stamp))
    for name, content in inside.items():
        save_file(call, f"{target}/{name}", str(content), overwrite=False)
    return {"message": "The file was decompressed.", "decompressed_directory_path": target}


@app.api()
def copy_directory(call: FileCall, source_directory_path: Path, destination_directory_path: Path) -> dict[str, Any]:
    """Copy a directory with everything in it."""
    source = _directory(call, source_directory_path).directory_path
    destination = _destination(call, destination_directory_path)
    _require_outside(source, destination)
    _copy_tree(
        call, source, destination, lambda file, path: File(path, call.user, file.content, call.stamp, call.stamp)
    )
    return {"message": "The directory was copied.", "directory_path": destination}


@app.api()
def move_directory(call: FileCall, source_directory_path: Path, destination_directory_path: Path) -> dict[str, Any]:
    """Move or rename a directory."""
    source = _directory(call, source_directory_path).directory_path
    _require_not_home(call, source)
    destination = _destination(call, destination_directory_path)
    _require_outside(source, destination)
    _copy_tree(call, source, destination, lambda file, path: replace(file, file_path=path))
    _remove_tree(call, source)
    return {"message": "The directory was moved.", "directory_path": destination}


@app.api()
def show_file(call: FileCall, file_path: Path) -> dict[str, Any]:
    """Show a file with its content."""
    file = _file(call, file_path)
    return {
        "file_path": file.file_path,
        "content": file.content,
        "created_at": file.created_at,
        "updated_at": file.updated_at,
    }


@app.api()
def create_file(
    call: FileCall,
    file_path: Path,
    content: Content = "",
    overwrite: Annotated[bool, Field(description="Replace a file that is there")] = False,
) -> dict[str, Any]:
    """Create a file."""
    path = _path(call, file_path)
    old = call.state.files.find(path)
    if old is None or not overwrite:
        path = _destination(call, file_path)
    call.state.files.put(File(path, call.user, content, old.created_at if old else call.stamp, call.stamp))
    return {"message": "The file was created.", "file_path": path}


@app.api()
def update_file(
    call: FileCall, file_path: Path, content: Annotated[Content, Field(description="The whole new content")]
) -> dict[str, Any]:
    """Replace the content of a file."""
    call.state.files.put(replace(_file(call, file_path), content=content, updated_at=call.stamp))
    return {"message": "The file was updated."}


@app.api()
def delete_file(call: FileCall, file_path: Path) -> dict[str, Any]:
    """Delete a file."""
    call.state.files.remove(_file(call, file_path).file_path)
    return {"message": "The file was deleted."}


@app.api()
def file_exists(call: FileCall, file_path: Path) -> dict[str, Any]:
    """Tell whether a file exists."""
    return {"exists": _path(call, file_path) in call.state.files}


@app.api()
def copy_file(call: FileCall, source_file_path: Path, destination_file_path: Path) -> dict[str, Any]:
    """Copy a file."""
    file, path = _file(call, source_file_path), _destination(call, destination_file_path)
    call.state.files.put(File(path, call.user, file.content, call.stamp, call.stamp))
    return {"message": "The file was copied.", "file_path": path}


@app.api()
def move_file(call: FileCall, source_file_path: Path, destination_file_path: Path) -> dict[str, Any]:
    """Move or rename a file."""
    file, path = _file(call, source_file_path), _destination(call, destination_file_path)
    call.state.files.put(replace(file, file_path=path))
    call.state.files.remove(file.file_path)
    return {"message": "The file was moved.", "file_path": path}


def read_file(call: FileCall, path: str) -> File:
    """Raises NotFoundError."""
    return _file(call, path)


def save_file(call: FileCall, path: str, content: str, overwrite: bool) -> str:
    """The path it has now, with the directories above it. Raises ConflictError."""
    path = _path(call, path)
    old = call.state.files.find(path)
    if path in call.state.directories or (old is not None and not overwrite):
        raise ConflictError(f"{path} exists already.")
    _require_parents(call, path, create=True)
    call.state.files.put(File(path, call.user, content, old.created_at if old else call.stamp, call.stamp))
    return path


def _require_parents(call: FileCall, path: str, *, create: bool) -> None:
    """Raises NotFoundError for a directory that is not there, unless it may be created."""
    home = PurePosixPath(home_of(call.user))
    for parent in reversed([each for each in PurePosixPath(path).parents if each.is_relative_to(home)]):
        if str(parent) in call.state.files:
            raise InvalidError(f"{parent} is a file.")
        if str(parent) not in call.state.directories:
            if not create:
                raise NotFoundError(f"The directory {parent} does not exist. Create it, or use recursive.")
            call.state.directories.put(Directory(str(parent), call.user, call.stamp))


def _path(call: FileCall, path: str) -> str:
    home = home_of(call.user)
    text = (
        home + path[1:] if path == "~" or path.startswith("~/") else path if path.startswith("/") else f"{home}/{path}"
    )
    parts = PurePosixPath(text).parts
    if ".." in parts or len(parts) > MOST_PARTS or "\0" in text:
        raise InvalidError(f"{path!r} is not a valid path.")
    normal = "/" + "/".join(part for part in parts[1:] if part != "/")
    if normal != home and not normal.startswith(f"{home}/"):
        raise ForbiddenError(f"You may only use what is in your home, {home}.")
    return normal


def _directory(call: FileCall, path: str) -> Directory:
    directory = call.state.directories.find(_path(call, path))
    if directory is None:
        raise NotFoundError(f"The directory {path} does not exist.")
    return directory


def _file(call: FileCall, path: str) -> File:
    file = call.state.files.find(_path(call, path))
    if file is None:
        raise NotFoundError(f"The file {path} does not exist.")
    return file


def _destination(call: FileCall, path: str) -> str:
    """A free path in a directory there is."""
    normal = _path(call, path)
    _require_free(call, normal)
    parent = str(PurePosixPath(normal).parent)
    if parent not in call.state.directories:
        raise NotFoundError(f"The directory {parent} does not exist.")
    return normal


def _require_free(call: FileCall, path: str) -> None:
    if path in call.state.files or path in call.state.directories:
        raise ConflictError(f"{path} exists already.")


def _require_not_home(call: FileCall, path: str) -> None:
    if path == home_of(call.user):
        raise ForbiddenError("Your home stays where it is.")


def _require_outside(source: str, destination: str) -> None:
    if destination.startswith(f"{source}/"):
        raise InvalidError("A directory cannot be put into itself.")


def _is_in(path: str, directory: str, recursive: bool = True) -> bool:
    return path.startswith(f"{directory}/") and (recursive or "/" not in path[len(directory) + 1 :])


def _copy_tree(call: FileCall, source: str, destination: str, copied: Callable[[File, str], File]) -> None:
    call.state.directories.put(Directory(destination, call.user, call.stamp))
    for directory in [each for each in call.state.directories if _is_in(each.directory_path, source)]:
        path = destination + directory.directory_path[len(source) :]
        call.state.directories.put(replace(directory, directory_path=path))
    for file in [each for each in call.state.files if _is_in(each.file_path, source)]:
        call.state.files.put(copied(file, destination + file.file_path[len(source) :]))


def _remove_tree(call: FileCall, path: str) -> None:
    for file in [each for each in call.state.files if _is_in(each.file_path, path)]:
        call.state.files.remove(file.file_path)
    for directory in [each for each in call.state.directories if _is_in(each.directory_path, path)]:
        call.state.directories.remove(directory.directory_path)
    call.state.directories.remove(path)
