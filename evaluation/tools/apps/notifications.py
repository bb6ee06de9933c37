"""What an app tells somebody about what others did in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import OWNED, App, Call, NotFoundError, Table

NotificationId = Annotated[int, Field(description="From show_notifications")]
Only = Annotated[bool | None, Field(description="Only read, or only unread ones")]
Read = Annotated[bool, Field(description="False marks it unread")]


@dataclass(frozen=True)
class Notification:
    notification_id: int
    owner: str
    message: str
    is_read: bool = False
    created_at: str = ""


NOTIFICATIONS = Table(Notification, "notification", "message owner is_read", OWNED)
"""For the states of such apps, as ``notifications``."""


def notify(call: Call[Any], owner: str, message: str) -> None:
    table = _table(call)
    table.put(Notification(table.next_id(), owner, message, created_at=call.stamp))


def add_notification_apis(app: App[Any]) -> None:
    @app.api(page=5)
    def show_notifications(call: Call[Any], is_read: Only = None) -> Iterable[Any]:
        """List your notifications, newest first."""
        return sorted(_own(call, is_read), key=lambda each: (each.created_at, each.notification_id), reverse=True)

    @app.api(alias="show_notification_count")
    def show_notifications_count(call: Call[Any], is_read: Only = None) -> dict[str, Any]:
        """Count your notifications."""
        return {"count": len(list(_own(call, is_read)))}

    @app.api()
    def mark_notification(call: Call[Any], notification_id: NotificationId, is_read: Read = True) -> dict[str, Any]:
        """Mark a notification as read or unread."""
        notification = call.own(_table(call), notification_id)
        _table(call).put(replace(notification, is_read=is_read))
        return {"message": "The notification was marked."}

    @app.api()
    def mark_notifications(call: Call[Any], is_read: Read = True) -> dict[str, Any]:
        """Mark all your notifications as read or unread."""
        for notification in list(_own(call)):
            _table(call).put(replace(notification, is_read=is_read))
        return {"message": "The notifications were marked."}

    @app.api()
    def delete_notification(call: Call[Any], notification_id: NotificationId) -> dict[str, Any]:
        """Delete a notification."""
        _table(call).remove(call.own(_table(call), notification_id).notification_id)
        return {"message": "The notification was deleted."}

    @app.api()
    def delete_notifications(
        call: Call[Any],
        notification_ids: Annotated[tuple[int, ...] | None, Field(description="All of yours if left out")] = None,
    ) -> dict[str, Any]:
        """Delete notifications."""
        own = {each.notification_id for each in _own(call)}
        for number in sorted(own) if notification_ids is None else dict.fromkeys(notification_ids):
            if number not in own:
                raise NotFoundError(f"You have no notification with notification_id {number}.")
            _table(call).remove(number)
        return {"message": "The notifications were deleted."}


def _table(call: Call[Any]) -> Table[Notification]:
    table: Table[Notification] = call.state.tables["notifications"]
    return table


def _own(call: Call[Any], is_read: bool | None = None) -> Iterator[Notification]:
    return (each for each in _table(call) if each.owner == call.user and is_read in (None, each.is_read))
