"""The APIs that records have in every app (list, show, create, update, delete), by the names that each app gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework.app import App, Call, Parameters
from evaluation.tools.apps.framework.errors import ConflictError, ForbiddenError
from evaluation.tools.apps.framework.tables import Table, without_owner

ALL = ("list", "show", "create", "update", "delete")


@dataclass(frozen=True)
class Records:
    """Records of people, in the field ``owner``; or, what they write about other records, in the field ``author``."""

    table: str
    name: str
    """Of one of them in the names of the APIs: ``song_review``."""
    written: Parameters
    """What people write: field → annotation and default; ... where there is none."""
    about: str = ""
    """The field with the number of the record that it is about: ``song_id``. Empty: they are people's own."""
    found: str = ""
    """Where the agent finds that number."""
    visible: Callable[[Call[Any], int], object] = lambda call, number: None
    """Raises NotFoundError for a record that people may not see, and so nothing about it."""
    once: bool = False
    """Whether everybody writes one about each."""
    ready: Callable[[Call[Any], Any], Any] = lambda call, record: record
    """A record as it is stored. Raises AppError for one that may not be."""
    shown: Callable[[Call[Any], Any], dict[str, Any]] = lambda call, record: without_owner(record)
    apis: tuple[str, ...] = ALL
    names: Mapping[str, str] = field(default_factory=dict)
    """Of APIs with another name than ``create_<name>`` and so on."""
    done: str = "created"


def add_records(app: App[Any], records: Records) -> None:
    declared = app.state_type().tables[records.table]
    key, noun, about = declared.key, declared.noun, records.about
    article = "an" if noun[0] in "aeiou" else "a"
    person = "author" if about else "owner"
    dated = {each.name for each in fields(declared.record_type)} & {"created_at", "updated_at"}
    what = about.removesuffix("_id").replace("_", " ")
    where = f" on a {what}" if about else ""
    names = {"list": f"show_{records.name}s"} | {api: f"{api}_{records.name}" for api in ALL[1:]} | dict(records.names)

    def table(call: Call[Any]) -> Table[Any]:
        found: Table[Any] = call.state.tables[records.table]
        return found

    def find(call: Call[Any], number: int) -> Any:
        if not about:
            return call.own(table(call), number)
        record = table(call).get(number)
        records.visible(call, getattr(record, about))
        return record

    def own(call: Call[Any], number: int) -> Any:
        record = find(call, number)
        if getattr(record, person) != call.user:
            raise ForbiddenError(f"This {noun} is somebody else's.")
        return record

    def show_all(call: Call[Any], **given: int) -> Iterable[Any]:
        if about:
            records.visible(call, given[about])
        listed = table(call).having(about or person, given[about] if about else call.user)
        return map(partial(records.shown, call), listed)

    def show(call: Call[Any], **given: int) -> dict[str, Any]:
        return records.shown(call, find(call, given[key]))

    def create(call: Call[Any], **given: Any) -> dict[str, Any]:
        if about:
            records.visible(call, given[about])
        if records.once and any(each.author == call.user for each in table(call).having(about, given[about])):
            raise ConflictError(f"You have reviewed this {what} already. Change it with {names['update']}.")
        number = table(call).next_id()
        mine = {key: number, person: call.user} | dict.fromkeys(dated, call.stamp)
        table(call).put(records.ready(call, declared.record_type(**given, **mine)))
        return {"message": f"The {noun} was {records.done}.", key: number}

    def update(call: Call[Any], **given: Any) -> dict[str, Any]:
        record = own(call, given.pop(key))
        changes = {field: value for field, value in given.items() if value is not None}
        changes |= dict.fromkeys(dated - {"created_at"}, call.stamp)
        table(call).put(records.ready(call, replace(record, **changes)))
        return {"message": f"The {noun} was updated."}

    def delete(call: Call[Any], **given: int) -> dict[str, Any]:
        table(call).remove(getattr(own(call, given[key]), key))
        return {"message": f"The {noun} was deleted."}

    which: dict[str, Any] = {key: (Annotated[int, Field(description=f"From {names['list']}")], ...)}
    of: dict[str, Any] = {about: (Annotated[int, Field(description=records.found)], ...)} if about else {}
    optional = {name: (kind | None, None) for name, (kind, _) in records.written.items()}
    once = "; one for each" if records.once else ""
    verb = names["create"].partition("_")[0].capitalize() if not about else "Write"
    left = " What is left out stays as it is."
    made: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
        "list": (f"List the {noun}s{where}, oldest first." if about else f"List your {noun}s.", show_all, of),
        "show": (f"Show {article} {noun}{where}.", show, which),
        "create": (f"{verb} {article} {noun}{where}{once}.", create, of | dict(records.written)),
        "update": (f"Change {article} {noun} of yours.{left}", update, which | optional),
        "delete": (f"Delete {article} {noun} of yours.", delete, which),
    }
    for api in records.apis:
        text, function, parameters = made[api]
        app.api(names[api], text, parameters, page=5 if api == "list" else 0)(function)
