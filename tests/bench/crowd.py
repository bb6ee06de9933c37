"""Fifty people at once on a studio as `make run` starts it: `python -m tests.bench.crowd` prints what they met.

Everyone signs in at the same moment and then reads, types (which autosaves), saves, comments and searches, with pauses
as people make them, on connections that are kept open as browsers do. At the end every save that was confirmed is
looked for among the versions, and every text that was autosaved after it on the page. Memory is that of the web
server's processes, by the minute; growth is from the end of the first third, when caches are filled, to the end.

Status 1 if a request failed, a connection was reset, a save was lost, or memory grew by more than a tenth.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.local.processes import finish, processes_of, start
from tests.studio.page_forms import form_of

PASSWORD = "a crowd of people"
GROWTH = 0.10
PREPARE = """
from studio.models import Benchmark, Membership, Role, User
from studio.access import create_benchmark
from tests.factories import a_persona, a_task, a_task_spec
from django.contrib.auth.hashers import make_password
password = make_password({password!r})
people = [User(username=f"crowd{{n}}", password=password) for n in range({people})]
User.objects.bulk_create(people)
people = list(User.objects.filter(username__startswith="crowd").order_by("pk"))
benchmark = create_benchmark(name="Crowd", slug="crowd", by=people[0])
Membership.objects.bulk_create(
    [Membership(benchmark=benchmark, user=person, role=Role.AUTHOR) for person in people], ignore_conflicts=True
)
for number, person in enumerate(people):
    if number % 10 == 0:
        persona = a_persona(benchmark, f"baker{{number}}", by=people[0], tools=("write_file", "read_file"))
    task = a_task(persona, f"bread{{number}}", by=person)
    print("TASK", person.username, task.get_absolute_url())
"""


@dataclass
class Record:
    """What the whole crowd met."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    resets: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    saves: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, seconds: float) -> None:
        with self.lock:
            self.seconds[what].append(seconds)

    def fail(self, kind: Counter[str], what: str) -> None:
        with self.lock:
            kind[what] += 1


class Person:
    """One browser: one connection that is kept, cookies, and a task to write."""

    def __init__(self, name: str, task: str, address: str, record: Record) -> None:
        self.name, self.task, self.record = name, task, record
        where = urlsplit(address)
        self.connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=120)
        self.cookies: dict[str, str] = {}
        self.chance = random.Random(name)
        self.saved = ""
        self.typed = ""
        self.number = 0

    def ask(self, what: str, method: str, path: str, data: dict[str, list[str]] | None = None) -> tuple[int, str]:
        """Status and text; a connection that was reset is counted and the request not repeated."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if data is not None:
            data = data | {"csrfmiddlewaretoken": [self.cookies.get("csrftoken", "")]}
            body = urlencode(data, doseq=True)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        started = time.monotonic()
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            self.record.fail(self.record.resets, f"{what}: {type(error).__name__}")
            return 0, ""
        self.record.add(what, time.monotonic() - started)
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if response.status >= 400 and response.status != 409:
            self.record.fail(self.record.errors, f"{what}: {response.status}")
        return response.status, text

    def sign_in(self) -> None:
        self.ask("sign-in page", "GET", "/login/")
        self.ask("sign in", "POST", "/login/", {"username": [self.name], "password": [PASSWORD]})

    def work(self, until: float) -> None:
        acts: list[tuple[Callable[[], object], int]] = [
            (self.write, 4),
            (self.comment, 1),
            (lambda: self.ask("home", "GET", "/"), 1),
            (lambda: self.ask("board", "GET", self.task.partition("tasks/")[0]), 2),
            (lambda: self.ask("tasks", "GET", "/b/crowd/tasks/"), 1),
            (lambda: self.ask("findings", "GET", "/b/crowd/findings/"), 1),
            (lambda: self.ask("search", "GET", "/search/?q=rye"), 1),
            (lambda: self.ask("versions", "GET", f"{self.task}versions/"), 1),
        ]
        choices, weights = zip(*acts, strict=True)
        while time.monotonic() < until:
            self.chance.choices(choices, weights)[0]()
            time.sleep(self.chance.uniform(0.5, 5))

    def write(self) -> None:
        """Open the task, type twice, and save."""
        status, page = self.ask("task", "GET", self.task)
        if status != 200:
            return
        form = form_of(page, "task").data()
        for _ in range(2):
            time.sleep(self.chance.uniform(0.5, 2))
            self.number += 1
            text = f"Baking plan, edition {self.number} of {self.name}."
            form["description"] = [text]
            status, answer = self.ask("autosave", "POST", f"{self.task}keep/", form)
            if status == 200:
                self.typed = text
                form["base_draft"] = [str(json.loads(answer)["draft"])]
        status, _ = self.ask("save", "POST", self.task, form)
        if status == 302:
            self.saved, self.typed = text, ""
            with self.record.lock:
                self.record.saves += 1

    def comment(self) -> None:
        self.ask("comment", "POST", f"{self.task}remarks/", {"text": [f"What about the rolls? ({self.number})"]})

    def check(self) -> None:
        """Look for what was confirmed: after the last save, or typed since."""
        wanted = self.typed or self.saved
        _, page = self.ask("task", "GET", self.task)
        if wanted and wanted not in page:
            self.record.lost.append(f"{self.name}: {wanted}")


@contextmanager
def studio(data: Path, **more: str) -> Iterator[str]:
    """A studio of its own, with ``more`` in its environment; its address."""
    process = start(["manage.py", "run", "--no-sample", "--port", "0"], data, **more)
    said = ""
    try:
        assert process.stdout
        for line in process.stdout:
            said += line
            if found := re.search(r"π-Bench Studio is at (\S+)", line):
                break
        else:
            raise SystemExit(said)
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield found[1]
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def web_memory(data: Path) -> int:
    """Bytes that the web server's processes hold of their own."""
    total = 0
    for pid, command in processes_of(data).items():
        if "gunicorn studio.wsgi" in command:
            try:
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            except OSError:
                continue
            total += sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.M)) * 1024
    return total


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.crowd")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowd-") as folder, studio(Path(folder)) as address:
        return crowd(Path(folder), address, options.people, options.minutes, as_json=options.json)


def crowd(data: Path, address: str, people: int, minutes: float, *, as_json: bool) -> int:
    code = PREPARE.format(password=PASSWORD, people=people)
    told = finish(["manage.py", "shell", "-v", "0", "-c", code], data, DJANGO_SETTINGS_MODULE="studio.settings")
    record = Record()
    persons = [Person(name, task, address, record) for name, task in re.findall(r"^TASK (\S+) (\S+)", told, re.M)]
    assert len(persons) == people, told
    everyone(persons, Person.sign_in)
    start_at = time.monotonic()
    until = start_at + minutes * 60
    memory: list[tuple[float, int]] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(5):
            memory.append((time.monotonic() - start_at, web_memory(data)))

    watcher = threading.Thread(target=look)
    watcher.start()
    everyone(persons, lambda person: person.work(until))
    memory.append((time.monotonic() - start_at, web_memory(data)))
    over.set()
    watcher.join()
    everyone(persons, Person.check)
    return report(record, memory, people, minutes, as_json=as_json)


def everyone(persons: list[Person], act: Callable[[Person], object]) -> None:
    threads = [threading.Thread(target=act, args=[person]) for person in persons]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def report(record: Record, memory: list[tuple[float, int]], people: int, minutes: float, *, as_json: bool) -> int:
    length = memory[-1][0]
    third = statistics.median(size for at, size in memory if length / 4 <= at <= length / 2)
    last = statistics.median(size for at, size in memory if at >= length * 0.9)
    growth = last / third - 1
    requests = sum(len(times) for times in record.seconds.values())
    failed = bool(record.errors or record.resets or record.lost or growth > GROWTH)
    if as_json:
        print(
            json.dumps(
                {
                    "people": people,
                    "minutes": minutes,
                    "requests": requests,
                    "saves": record.saves,
                    "errors": dict(record.errors),
                    "resets": dict(record.resets),
                    "lost": record.lost,
                    "memory": [[round(at), size] for at, size in memory],
                    "growth": growth,
                    "median": {what: statistics.median(times) for what, times in record.seconds.items()},
                }
            )
        )
        return int(failed)
    print(f"{people} people, {minutes:g} minutes, {requests:,} requests, {record.saves:,} saves")
    print(f"{'':<16}{'number':>8}{'median':>10}{'95 %':>10}{'longest':>10}")
    for what, times in sorted(record.seconds.items(), key=lambda row: -len(row[1])):
        ordered = sorted(times)
        high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        print(f"{what:<16}{len(times):>8,}{statistics.median(times):>8.2f} s{high:>8.2f} s{ordered[-1]:>8.2f} s")
    for name, found in (("errors", record.errors), ("resets", record.resets)):
        print(f"{name}: " + (", ".join(f"{what} × {number}" for what, number in found.items()) or "none"))
    print(f"lost saves: {'; '.join(record.lost) or 'none'}")
    minute = {int(at // 60): size for at, size in memory}
    print("memory of the web server, MB by the minute: " + " ".join(f"{size / 1e6:.0f}" for size in minute.values()))
    print(f"growth after the first third: {growth:+.0%}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
