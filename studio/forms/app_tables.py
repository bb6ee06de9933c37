"""A table of app data as a form: one row of inputs per record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from studio.domain.app_tables.cells import Record, write_cell
from studio.domain.app_tables.declared import AppField, DeclaredTable, RecordFlaw, form_flaw
from studio.forms.post_data import Posted, number_of

ROWS = "records"


@dataclass(frozen=True)
class GridCell:
    field: AppField
    name: str
    value: str
    error: str = ""
    warning: str = ""

    @property
    def input_type(self) -> str:
        """A picker, unless what stands there is nothing that it could show."""
        pickers = {"date": "date", "time": "time", "moment": "datetime-local", "email": "email", "phone": "tel"}
        picker = pickers.get(self.field.form, "") if self.field.shape == "text" else ""
        return "text" if picker and form_flaw(self.field, self.value) else picker

    @property
    def is_chosen(self) -> bool:
        """Whether it is one of a few words."""
        return bool(self.field.choices) and self.field.shape == "text" and not form_flaw(self.field, self.value)


@dataclass(frozen=True)
class GridRow:
    key: str
    """``r`` with the position in the table, or something else for a new one."""
    number: int
    """In the table, from 1; 0 if it is new."""
    cells: tuple[GridCell, ...]
    error: str = ""


def stored_rows(
    table: DeclaredTable, records: Iterable[tuple[int, Record]], flaws: Sequence[RecordFlaw] = ()
) -> list[GridRow]:
    rows = []
    for index, record in records:
        texts = {field.name: write_cell(field, record.get(field.name)) for field in table.fields}
        own = [flaw for flaw in flaws if flaw.row == index + 1]
        rows.append(_row(table, f"r{index}", texts, (), own))
    return rows


def blank_row(table: DeclaredTable) -> GridRow:
    return _row(table, "__n__", {}, (), ())


def posted_rows(table: DeclaredTable, data: QueryDict, flaws: Sequence[tuple[int, RecordFlaw]] = ()) -> list[GridRow]:
    """As typed; flaws come with the position of their row."""
    return [
        _row(table, str(row["key"]), row, [flaw for at, flaw in flaws if at == place], ())
        for place, row in enumerate(_posted(table, data))
    ]


def posted_cells(table: DeclaredTable, data: QueryDict) -> list[tuple[int | None, dict[str, str]]]:
    """Position in the table, or None for a new record, and texts by field."""
    return [
        (index_of(str(row["key"])), {field.name: str(row[field.name]) for field in table.fields})
        for row in _posted(table, data)
    ]


def index_of(key: str) -> int | None:
    return number_of(key[1:]) if key[:1] == "r" and key[1:].isdecimal() else None


def shown_indices(data: QueryDict) -> list[int]:
    return [number_of(part) for part in data.get("shown", "").split(",") if part.isdecimal()]


def _posted(table: DeclaredTable, data: QueryDict) -> list[dict[str, object]]:
    return Posted(data).rows(ROWS, [field.name for field in table.fields])


def _row(
    table: DeclaredTable,
    key: str,
    texts: Mapping[str, object],
    errors: Sequence[RecordFlaw],
    warnings: Sequence[RecordFlaw],
) -> GridRow:
    wrong = {flaw.column: flaw.message for flaw in errors}
    doubtful = {flaw.column: flaw.message for flaw in warnings}
    index = index_of(key)
    return GridRow(
        key,
        0 if index is None else index + 1,
        tuple(
            GridCell(
                field,
                f"{ROWS}.{key}.{field.name}",
                str(texts.get(field.name, "")),
                wrong.get(field.name, ""),
                doubtful.get(field.name, ""),
            )
            for field in table.fields
        ),
        wrong.get("", ""),
    )
