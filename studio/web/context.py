"""Template context of the frame around every page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from studio.notifications.inbox import count_unread

ROOMS = [
    ("home", "Home", "h", "studio:home"),
    ("benchmarks", "Benchmarks", "b", "studio:benchmarks"),
    ("pilots", "Pilots", "p", "evaluation:pilots"),
    ("audits", "Audits", "a", "annotations:campaigns"),
    ("releases", "Releases", "l", "evaluation:releases"),
    ("settings", "Settings", "s", "studio:settings"),
]
ROOMLESS = ("styleguide", "search", "inbox")
SETTINGS = frozenset({
    "settings", "tokens", "token_revoke", "api", "notification_choices",
})  # fmt: skip
THEMES = {"": "Theme: system", "light": "Theme: light", "dark": "Theme: dark"}


def frame(request: HttpRequest) -> dict[str, Any]:
    """Navigation, theme, shortcuts and unread notifications."""
    theme = request.COOKIES.get("theme", "")
    theme = theme if theme in THEMES else ""
    rail = request.COOKIES.get("rail", "")
    current = _room_of(request)
    return {
        "frame": {
            "rooms": [
                {"key": key, "name": name, "icon": room, "url": reverse(target), "here": room == current}
                for room, name, key, target in ROOMS
            ],
            "theme": theme,
            "theme_label": THEMES[theme],
            "keys": "" if getattr(request.user, "letter_keys", True) else "off",
            "rail": rail if rail in ("open", "closed") else "",  # not chosen: open on wide screens
            "unread": SimpleLazyObject(lambda: count_unread(request.user)),
        }
    }


def _room_of(request: HttpRequest) -> str:
    match = request.resolver_match
    if match is None:
        return ""
    name = match.url_name or ""
    if match.namespace == "annotations":
        return "audits"
    if match.namespace == "evaluation":
        if match.route.startswith("audits/"):
            return "audits"
        if match.route.startswith("b/"):
            return "benchmarks"
        for prefix, room in (
            ("release", "releases"),
            ("endpoint", "settings"),
            ("benchmark_endpoint", "benchmarks"),
            ("result", "benchmarks"),
            ("validation", "benchmarks"),
            ("rehearsal", "benchmarks"),
            ("assistance", "benchmarks"),
        ):
            if name.startswith(prefix):
                return room
        return "pilots"
    if name in ("home", "recent_activity", "introduction"):
        return "home"
    if name in SETTINGS or (not match.namespace and name.startswith(("account_", "mfa_", "usersessions_"))):
        return "settings"
    return "benchmarks" if match.namespace == "studio" and name not in ROOMLESS else ""
