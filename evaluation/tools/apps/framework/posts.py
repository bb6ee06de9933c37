"""What people write below a record (comments, reviews, questions): the same APIs, by the names that each app gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework.app import App, Call, Parameters
from evaluation.tools.apps.framework.errors import ConflictError, ForbiddenError
from evaluation.tools.apps.framework.paging import Page, PageIndex, PageLimit, paginate
from evaluation.tools.apps.framework.tables import Table, as_dict

ALL = ("list", "show", "write", "update", "delete")


@dataclass(frozen=True)
class Posts:
    """Records with the fields of ``written``, an ``author``, the field ``on``, and when they were written."""

    table: str
    name: str
    """Of one of them in the names of the APIs: ``song_review``."""
    on: str
    """The field that says what it is on: ``song_id``."""
    found: str
    """Where the agent finds that number."""
    written: Parameters
    """What the author writes: field → annotation and default; ... where there is none."""
    visible: Callable[[Call[Any], int], object]
    """Raises NotFoundError for what the person may not see."""
    write: str = ""
    """The name of the API that writes one; ``post_<name>`` if empty."""
    once: bool = False
    """Whether everybody has one for each."""
    apis: tuple[str, ...] = ALL
    shown: Callable[[Call[Any], Any], dict[str, Any]] = lambda call, record: as_dict(record)


def add_posts(app: App[Any], posts: Posts) -> None:
    declared = app.state_type().tables[posts.table]
    key, noun, on = declared.key, declared.noun, posts.on
    dated = {each.name for each in fields(declared.record_type)} & {"created_at", "updated_at"}
    what = on.removesuffix("_id").replace("_", " ")
    key_type = Annotated[int, Field(description=f"From show_{posts.name}s")]
    on_type = Annotated[int, Field(description=posts.found)]
    optional = {field: (kind | None, None) for field, (kind, _) in posts.written.items()}

    def table(call: Call[Any]) -> Table[Any]:
        found: Table[Any] = call.state.tables[posts.table]
        return found

    def find(call: Call[Any], number: int) -> Any:
        record = table(call).get(number)
        posts.visible(call, getattr(record, on))
        return record

    def own(call: Call[Any], number: int) -> Any:
        record = find(call, number)
        if record.author != call.user:
            raise ForbiddenError(f"This {noun} is somebody else's.")
        return record

    def show_all(call: Call[Any], page_index: int, page_limit: int, **given: int) -> Page:
        posts.visible(call, given[on])
        return paginate(table(call).having(on, given[on]), page_index, page_limit, partial(posts.shown, call))

    def show(call: Call[Any], **given: int) -> dict[str, Any]:
        return posts.shown(call, find(call, given[key]))

    def write(call: Call[Any], **given: Any) -> dict[str, Any]:
        posts.visible(call, given[on])
        if posts.once and any(each.author == call.user for each in table(call).having(on, given[on])):
            raise ConflictError(f"You have reviewed this {what} already. Change it with update_{posts.name}.")
        number = table(call).next_id()
        stamps = dict.fromkeys(dated, call.stamp)
        table(call).put(declared.record_type(**{key: number}, author=call.user, **given, **stamps))
        return {"message": f"The {noun} was {'written' if posts.once else 'posted'}.", key: number}

    def update(call: Call[Any], **given: Any) -> dict[str, Any]:
        record = own(call, given.pop(key))
        changes = {field: value for field, value in given.items() if value is not None}
        changes |= dict.fromkeys(dated - {"created_at"}, call.stamp)
        table(call).put(replace(record, **changes))
        return {"message": f"The {noun} was updated."}

    def delete(call: Call[Any], **given: int) -> dict[str, Any]:
        table(call).remove(getattr(own(call, given[key]), key))
        return {"message": f"The {noun} was deleted."}

    of: dict[str, Any] = {on: (on_type, ...)}
    which: dict[str, Any] = {key: (key_type, ...)}
    pages = {"page_index": (PageIndex, 0), "page_limit": (PageLimit, 5)}
    once = "; one for each" if posts.once else ""
    names = {"list": f"show_{posts.name}s", "write": posts.write or f"post_{posts.name}"}
    made: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
        "list": (f"List the {noun}s on a {what}, oldest first.", show_all, of | pages),
        "show": (f"Show a {noun} on a {what}.", show, which),
        "write": (f"Write a {noun} on a {what}{once}.", write, of | dict(posts.written)),
        "update": (f"Change a {noun} of yours.", update, which | optional),
        "delete": (f"Delete a {noun} of yours.", delete, which),
    }
    for api in posts.apis:
        about, function, parameters = made[api]
        app.add(names.get(api, f"{api}_{posts.name}"), about, function, partial(dict, parameters))
