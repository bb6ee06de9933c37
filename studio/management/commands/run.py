"""`manage.py run`: the whole studio on this machine until Ctrl-C."""

from __future__ import annotations

import io
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connections

from studio.celery import app as celery
from studio.local import shared_server, stack
from studio.local.paths import LocalError, data_folder
from studio.local.supervisor import Supervisor
from studio.web.static_files import collect_changed


class Command(BaseCommand):
    help = "Start the studio: tables, sample benchmark, scripted model, worker and web server under one supervisor."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="the first port to try (default: %(default)s)")
        parser.add_argument("--no-sample", action="store_true", help="without the sample benchmark and demo accounts")
        parser.add_argument(
            "--stop-with-parent", action="store_true", help="stop when the process that started this ends"
        )

    def handle(self, *args: Any, host: str, port: int, no_sample: bool, stop_with_parent: bool, **options: Any) -> None:
        supervisor = Supervisor(stack.environment(), self.say)
        if stop_with_parent:
            stack.stop_with_parent()
        try:
            lock = stack.lock_data_folder(
                lambda: self.say(f"A studio on {data_folder()} is starting; waiting for its address …")
            )
        except stack.AlreadyRunningError as running:
            self.describe_running(running.studio)
            return
        except LocalError as error:
            raise CommandError(str(error)) from None
        supervisor.stop_on_signals()
        try:
            self.run(supervisor, host, port, sample=not no_sample)
        except LocalError as error:
            raise CommandError(str(error)) from None
        finally:
            supervisor.stop()
            shared_server.release_all()
            stack.status_file().unlink(missing_ok=True)
            self.say("Stopped. All data is kept.")
            del lock

    def run(self, supervisor: Supervisor, host: str, port: int, *, sample: bool) -> None:
        listener = stack.listen(host, port)  # stays open, so that a restarted web server can use it
        bound = listener.getsockname()[1]
        address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{bound}/"
        if port and bound != port:
            self.say(f"Port {port} is taken; using {bound} instead.")
        self.say(f"Starting the studio on {data_folder()} …")
        model_port = stack.free_port()
        supervisor.environment = stack.environment(SCRIPTED_MODEL_URL=f"http://127.0.0.1:{model_port}/v1")
        gate, held = os.pipe()
        try:
            with collected_warnings() as warnings:
                supervisor.start(stack.web_process(listener, gate))  # loads what it needs on another core
                django.setup()
                self.prepare()
                accounts = self.load_sample() if sample else ""
        finally:
            os.close(held)
        connections.close_all()
        if supervisor.stopping:
            return
        with self.step("Web server"):
            supervisor.wait_until(stack.answers_at(address), "The web server")
        if supervisor.stopping:
            return
        # now, or the first page would wait for them
        for process in [stack.scripted_model_process(model_port), *stack.worker_processes(), stack.beat_process()]:
            supervisor.start(process)
        stack.write_status(
            address=address,
            data=str(data_folder()),
            processes={managed.name: managed.process.pid for managed in supervisor.processes if managed.process},
        )
        self.say(f"\nπ-Bench Studio is at {address}")
        if sample:
            self.say(accounts)
            if not host.startswith("127.") and host not in ("localhost", "::1"):
                self.say(
                    "This address is reachable by others and these passwords are public; "
                    "use --no-sample to leave out the demo accounts."
                )
        self.say(f"Data and logs are in {data_folder()}. Ctrl-C stops everything and keeps the data.\n")
        for warning in warnings:
            self.say(f"Warning: {warning}")
        supervisor.watch(stack.server_reviver())

    def prepare(self) -> None:
        with self.step("Database and broker"):
            self.require_servers()
        with self.step("Tables"):
            call_command("migrate", verbosity=0, interactive=False)
        with self.step("Styles and scripts"):
            collect_changed()

    def load_sample(self) -> str:
        """Return the message about its accounts."""
        output = io.StringIO()
        with self.step("Sample benchmark"):
            call_command("load_sample", stdout=output)
        return output.getvalue()

    def require_servers(self) -> None:
        """Wait for the embedded ones. Raises LocalError if one does not start or an external one cannot be reached."""
        for name in shared_server.acquired_names():
            shared_server.acquire(name)
        try:
            connections["default"].ensure_connection()
        except OperationalError as error:
            database = connections["default"].settings_dict
            raise LocalError(
                f"The database at {database['HOST']}:{database['PORT']} does not answer: {error}"
            ) from None
        try:
            with celery.connection_for_write(connect_timeout=5) as broker:
                broker.ensure_connection(max_retries=2, interval_start=0.2, timeout=10)
        except celery.connection_for_write().recoverable_connection_errors as error:
            raise LocalError(f"The broker named by CELERY_BROKER_URL does not answer: {error}") from None

    def describe_running(self, studio: dict[str, Any]) -> None:
        if not studio:
            self.say(f"A studio on {data_folder()} has been starting for a long time; check the logs there.")
            return
        self.say(f"A studio on {data_folder()} is already running at {studio['address']}")
        for name, pid in dict(studio["processes"]).items():
            self.say(f"  {name}: process {pid}, log {shared_server.log_file(name)}")
        self.say("To run another studio alongside it, give it its own data folder: STUDIO_DATA_DIR=... make run")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Says what is under way, and how long it took."""
        started = time.monotonic()
        self.say(f"  {name} …", ending="")
        try:
            yield
        except BaseException:
            self.say("")
            raise
        self.say(f" {time.monotonic() - started:.1f} s")

    def say(self, text: str, ending: str = "\n") -> None:
        self.stdout.write(text, ending=ending)
        self.stdout.flush()
        sys.stdout.flush()


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """What is logged as a warning, once each, to be told when the start is over."""
    texts: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() not in texts:
                texts.append(record.getMessage())

    collector, root = Collector(logging.WARNING), logging.getLogger()
    shown, root.handlers = root.handlers, [collector]
    try:
        yield texts
    finally:
        root.handlers = shown
