"""``notebook_edit``: cells of a Jupyter notebook, replaced, inserted or deleted."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.documents import joined, notebook_cells
from evaluation.tools.tool import Arguments, FilePath, ToolError, ToolOutcome
from evaluation.tools.workspace import Workspace

EMPTY: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class NotebookEdit(Arguments):
    path: FilePath
    cell_index: Annotated[int, Field(ge=0, description="Number of the cell, from 0")]
    new_source: Annotated[str, Field(description="The cell's whole new content")] = ""
    cell_type: Annotated[Literal["code", "markdown"], Field(description="Kind of a new or changed cell")] = "code"
    edit_mode: Annotated[
        Literal["replace", "insert", "delete"], Field(description="insert puts the cell after that number")
    ] = "replace"


def notebook_edit(workspace: Workspace, arguments: NotebookEdit) -> ToolOutcome:
    """A notebook that does not exist is made by inserting its first cell."""
    new = arguments.edit_mode == "insert" and not workspace.is_file(arguments.path)
    notebook = dict(EMPTY, cells=[]) if new else _parse(arguments.path, workspace.read(arguments.path))
    cells, at = notebook["cells"], arguments.cell_index
    if arguments.edit_mode == "insert":
        at = min(at + 1, len(cells)) if cells else 0
        cells.insert(at, _cell(arguments, _free_id(cells)))
        said = f"Inserted cell {at}"
    elif at >= len(cells):
        raise ToolError(f"{arguments.path} has {len(cells)} cells; there is no cell {at}.")
    elif arguments.edit_mode == "delete":
        del cells[at]
        said = f"Deleted cell {at}"
    else:
        cells[at] = {**_cell(arguments, cells[at].get("id")), "metadata": cells[at].get("metadata") or {}}
        said = f"Replaced cell {at}"
    workspace.write(arguments.path, (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode())
    change = f"{arguments.path}: {'new file' if new else 'changed'}"
    return ToolOutcome(f"{said} of {arguments.path}; it has {len(cells)} cells now.", (change,))


def _parse(path: str, content: bytes) -> dict[str, Any]:
    cells = notebook_cells(path, content)
    notebook: dict[str, Any] = json.loads(content)
    return notebook | {"cells": cells}


def _cell(arguments: NotebookEdit, identity: Any) -> dict[str, Any]:
    named = {"id": identity} if identity is not None else {}
    cell = {"cell_type": arguments.cell_type, **named, "metadata": {}, "source": joined(arguments.new_source)}
    return cell | ({"execution_count": None, "outputs": []} if arguments.cell_type == "code" else {})


def _free_id(cells: list[dict[str, Any]]) -> str:
    taken = {cell.get("id") for cell in cells}
    return next(name for number in range(len(cells) + 1) if (name := f"cell-{number + 1}") not in taken)
