"""Simulated apps with 10,000 records each: reading a state, calls, snapshots.

    python -m tests.bench.apps

Prints milliseconds of CPU, and how many times as much 10,000 records cost as 100.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from evaluation.tools.apps import World
from evaluation.tools.apps.catalog import APPS

SMALL, LARGE = 100, 10_000
MAIN = {
    "amazon": ("products", "product_id", "name"),
    "file_system": ("files", "file_path", "content"),
    "gmail": ("emails", "email_id", "subject"),
    "phone": ("messages", "text_message_id", "message"),
    "simple_note": ("notes", "note_id", "title"),
    "splitwise": ("expenses", "expense_id", "description"),
    "spotify": ("songs", "song_id", "title"),
    "todoist": ("tasks", "task_id", "title"),
}
SEARCH: dict[str, tuple[str, dict[str, Any]]] = {
    "amazon": ("search_products", {"query": "lake"}),
    "file_system": ("show_directory", {"directory_path": "~"}),
    "gmail": ("show_inbox_threads", {"query": "lake"}),
    "phone": ("search_text_messages", {"query": "lake"}),
    "simple_note": ("search_notes", {"query": "lake"}),
    "splitwise": ("show_group_expenses", {"group_id": 1, "query": "lake"}),
    "spotify": ("search_songs", {"query": "lake"}),
    "todoist": ("show_tasks", {"query": "lake"}),
}
SHOW: dict[str, tuple[str, dict[str, Any]]] = {
    "amazon": ("show_product", {"product_id": 7}),
    "file_system": ("file_exists", {"file_path": "~/notes/7.txt"}),
    "gmail": ("show_email", {"email_id": 7}),
    "phone": ("show_text_message", {"text_message_id": 7}),
    "simple_note": ("show_note", {"note_id": 7}),
    "splitwise": ("show_expense", {"expense_id": 7}),
    "spotify": ("show_song", {"song_id": 7}),
    "todoist": ("show_task", {"task_id": 7}),
}
WRITE: dict[str, tuple[str, dict[str, Any]]] = {
    "amazon": ("add_product_to_cart", {"product_id": 7}),
    "file_system": ("create_file", {"file_path": "~/notes/new.txt", "content": "x"}),
    "gmail": ("send_email", {"email_addresses": ["noor@example.com"], "subject": "Lake", "body": "x"}),
    "phone": ("send_text_message", {"phone_number": "4155550101", "message": "x"}),
    "simple_note": ("create_note", {"title": "Lake"}),
    "splitwise": ("record_expense", {"group_id": 1, "description": "Lake", "amount": 10}),
    "spotify": ("create_playlist", {"title": "Lake"}),
    "todoist": ("create_task", {"title": "Lake"}),
}


def data_of(app: str, count: int) -> bytes:
    """The app's example with ``count`` records in its largest table, a hundredth of which a search finds."""
    example = APPS[app].example
    table, key, name = MAIN[app]
    [first, *_] = example[table]
    rows = []
    for number in range(1, count + 1):
        words = f"{'Lake' if number % 100 == 0 else 'River'} walk number {number}, with bread and a map"
        identity = f"/home/ada/notes/{number}.txt" if key == "file_path" else number
        rows.append(first | {key: identity, name: words})
    return json.dumps(example | {table: rows}).encode()


def milliseconds(action: Callable[[], Any], times: int = 5) -> float:
    """The median; CPU time, since the machine may be busy."""
    took = []
    for _ in range(times):
        started = time.process_time()
        action()
        took.append((time.process_time() - started) * 1000)
    return sorted(took)[times // 2]


def measure(app: str, count: int) -> dict[str, float]:
    seed = data_of(app, count)
    figures = {"read a seed as people wrote it": milliseconds(lambda: World({app: seed}).state(app), 3)}
    world = World({app: seed})
    me = json.loads(seed)["accounts"][0]
    login = {"username": me["username"], "password": me["password"]}
    token = world.call(f"{app}__login", login).response["access_token"]
    left = world.snapshot()
    figures["read what a session left"] = milliseconds(lambda: World({app: left[app]}).state(app), 3)

    def call(name: str, arguments: dict[str, Any]) -> None:
        result = world.call(f"{app}__{name}", {**arguments, "access_token": token})
        assert result.ok or app == "file_system", (app, name, result.response)

    figures["show"] = milliseconds(lambda: call(*SHOW[app]), 25)
    figures["search"] = milliseconds(lambda: call(*SEARCH[app]))
    world.snapshot()
    figures["snapshot, unchanged"] = milliseconds(world.snapshot)
    figures["write"] = milliseconds(lambda: call(*WRITE[app]))
    figures["snapshot after writes"] = milliseconds(world.snapshot, 1)
    return figures


def main() -> int:
    apps = sys.argv[1:] or sorted(APPS)
    for app in apps:
        small, large = measure(app, SMALL), measure(app, LARGE)
        print(app)
        for name, took in large.items():
            print(f"  {name:44} {took:8.2f} ms   × {took / max(small[name], 0.001):.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
