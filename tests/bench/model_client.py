"""The overhead of the model client over a bare loop: CPU per call, calls a second, many at once.

    .venv/bin/python -m tests.bench.model_client [--calls 600] [--threads 64] [--latency-ms 200]

The scripted model runs in a process of its own and is not counted. Each variant sends the same conversation:

    floor     http.client, the body made and read with json
    openai    the openai client, messages given as its types want them
    extra     the openai client, messages in extra_body
    studio    evaluation.llm with a recorder that stores nothing
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai

from evaluation.llm import Call, Endpoint, EndpointLimits, ModelClient
from evaluation.llm.policy import ANYWHERE

MODEL = "scripted-passive"
ROOT = Path(__file__).resolve().parents[2]
Send = Callable[[], object]


def conversation() -> list[dict[str, Any]]:
    """Sixteen messages with tool calls, 12 KB: a session in its middle."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are an assistant. " * 60}]
    for turn in range(5):
        asked = {
            "id": f"c{turn}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "a.md"}'},
        }
        messages += [
            {"role": "user", "content": "Please go on with the supplier memo. " * 10},
            {"role": "assistant", "content": "", "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": "A line of the file that was read. " * 40},
        ]
    return messages


class NullRecorder:
    def lookup(self, request_hash: str) -> None:
        return None

    def check(self) -> None:
        pass

    def record(self, call: Call) -> None:
        pass


def variants(url: str, messages: list[dict[str, Any]], threads: int) -> dict[str, Send]:
    local = threading.local()
    openai_client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    endpoint = Endpoint("bench", url, MODEL, limits=EndpointLimits(60, max_concurrency=threads), policy=ANYWHERE)
    studio_client = ModelClient(endpoint, recorder=NullRecorder())

    def floor() -> object:
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection(urlsplit(url).netloc)
        body = json.dumps({"model": MODEL, "messages": messages}).encode()
        local.connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        return json.loads(local.connection.getresponse().read())["choices"][0]["message"]["content"]

    def plain() -> object:
        return openai_client.chat.completions.create(model=MODEL, messages=messages)  # type: ignore[arg-type]  # the client's TypedDicts are what is measured

    def extra() -> object:
        return openai_client.chat.completions.create(model=MODEL, messages=[], extra_body={"messages": messages})

    return {"floor": floor, "openai": plain, "extra": extra, "studio": lambda: studio_client.complete(messages)}


@contextmanager
def served(latency_ms: float) -> Iterator[str]:
    command = [sys.executable, "manage.py", "scripted_model", "--latency-ms", str(latency_ms)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().rpartition(" ")[2].strip()
    finally:
        process.terminate()
        process.wait(10)


def measure(send: Send, calls: int, threads: int) -> tuple[float, float]:
    """CPU milliseconds of a call in this process, and calls a second."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: send(), range(threads)))  # connections and first-time costs
        cpu, wall = time.process_time(), time.perf_counter()
        list(pool.map(lambda _: send(), range(calls)))
        return (time.process_time() - cpu) * 1000 / calls, calls / (time.perf_counter() - wall)


def table(title: str, latency_ms: float, calls: int, threads: int, rounds: int = 3) -> None:
    """Variants take turns, so that other work on the machine hits all alike; medians are shown."""
    with served(latency_ms) as url:
        sends = variants(url, conversation(), threads)
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in sends}
        for _ in range(rounds):
            for name, send in sends.items():
                rows[name].append(measure(send, calls, threads))
    medians = {
        name: tuple(statistics.median(column) for column in zip(*measurements, strict=True))
        for name, measurements in rows.items()
    }
    floor = medians["floor"][0]
    print(f"\n{title}\n{'variant':8} {'CPU ms/call':>12} {'of floor':>9} {'calls/s':>9}")
    for name, (cpu, rate) in medians.items():
        print(f"{name:8} {cpu:12.2f} {cpu / floor:9.1f} {rate:9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=600)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=200)
    options = parser.parse_args()
    table("one after another, no latency", 0, options.calls, 1)
    best = options.threads / options.latency_ms * 1000
    title = f"{options.threads} at once, {options.latency_ms:g} ms a call (at best {best:.0f} calls/s)"
    table(title, options.latency_ms, options.calls, options.threads)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    os.environ.setdefault("STUDIO_MODEL_NETWORKS", "127.0.0.1")
    main()
