"""Ways of waiting for models: threads, coroutines and greenlets, and what others need for the same calls.

    .venv/bin/python -m tests.bench.waiting [--calls 1280] [--at-once 64 200] [--latency-ms 200]

Each variant runs in a process of its own and sends the same conversation of 12 KB to the stub of
``tests.bench.engine_stub``. Nothing is stored. CPU is of that process alone, from its first call to its last.

    studio     evaluation.llm in threads: what workers do
    urllib3    urllib3 in threads, the body made and read with json
    threads    the openai client as it comes, in threads
    asyncio    the asynchronous openai client as it comes, one task for each call under way
    gevent     the openai client under gevent
    inspect    one sample of Inspect for each call

The last two run in an environment of their own, whose Python BENCH_PEERS_PYTHON names; it has gevent, inspect-ai,
openai and httpx2. Without it they are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIANTS = ("studio", "urllib3", "threads", "asyncio", "gevent", "inspect")
PEERS = ("gevent", "inspect")
ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1280)
    parser.add_argument("--at-once", type=int, nargs="+", default=[64, 200])
    parser.add_argument("--latency-ms", type=float, default=200)
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        print(json.dumps(_run(options.variant, options.url, options.calls, options.at_once[0])))
        return
    stub = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.engine_stub", "--latency", str(options.latency_ms)], stdout=subprocess.PIPE
    )
    assert stub.stdout is not None
    url = f"http://127.0.0.1:{int(stub.stdout.readline())}/v1"
    try:
        print(f"{'variant':10}{'at once':>8}{'CPU ms/call':>13}{'wall/ideal':>12}{'MiB':>6}")
        for at_once in options.at_once:
            ideal = options.calls * options.latency_ms / 1000 / at_once
            for variant in VARIANTS:
                row = _measure(variant, url, options.calls, at_once)
                if "skipped" in row:
                    print(f"{variant:10}{at_once:8}  {row['skipped']}")
                    continue
                cpu = 1000 * row["cpu"] / options.calls
                print(f"{variant:10}{at_once:8}{cpu:13.2f}{row['wall'] / ideal:12.2f}{row['mib']:6.0f}")
    finally:
        stub.kill()
        stub.wait()


def _measure(variant: str, url: str, calls: int, at_once: int) -> dict[str, Any]:
    python = os.environ.get("BENCH_PEERS_PYTHON", "") if variant in PEERS else sys.executable
    if not python:
        return {"skipped": "skipped: BENCH_PEERS_PYTHON is not set"}
    own = ["--variant", variant, "--url", url, "--calls", str(calls), "--at-once", str(at_once)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [python, "-m", "tests.bench.waiting", *own],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        check=False,
    )
    if answer.returncode:
        return {"skipped": f"failed: {answer.stderr.strip().splitlines()[-1] if answer.stderr.strip() else ''}"}
    row: dict[str, Any] = json.loads(answer.stdout.strip().splitlines()[-1])
    return row


def _run(variant: str, url: str, calls: int, at_once: int) -> dict[str, Any]:
    prepare: Callable[[str, int, int], Callable[[], object]] = globals()[f"_{variant}"]
    try:
        send_all = prepare(url, calls, at_once)
    except ImportError as error:
        return {"skipped": f"skipped: {error.name} is not installed"}
    began, cpu = time.monotonic(), time.process_time()
    send_all()
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {"wall": time.monotonic() - began, "cpu": time.process_time() - cpu, "mib": own.ru_maxrss / 1024}


def _conversation() -> list[Any]:
    """Sixteen messages with tool calls, 12 KB: a session in its middle."""
    messages: list[Any] = [{"role": "system", "content": "You are an assistant. " * 60}]
    for turn in range(5):
        function = {"name": "read_file", "arguments": '{"path": "a.md"}'}
        messages += [
            {"role": "user", "content": "Please go on with the supplier memo. " * 10},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{turn}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{turn}", "content": "A line of the file that was read. " * 40},
        ]
    return messages


def _studio(url: str, calls: int, at_once: int) -> Callable[[], object]:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "studio.settings", "STUDIO_MODEL_NETWORKS": "127.0.0.1"}
    os.environ["CELERY_BROKER_URL"] = "memory://"  # limits of this process alone
    import django

    django.setup()
    from evaluation.llm import Endpoint, EndpointLimits, ModelClient
    from evaluation.llm.policy import ANYWHERE

    endpoint = Endpoint(
        name="stub", base_url=url, model="stub", limits=EndpointLimits(max_concurrency=at_once), policy=ANYWHERE
    )
    client = ModelClient(endpoint)
    messages = _conversation()
    client.complete(messages)
    return lambda: _in_threads(lambda: client.complete(messages), calls, at_once)


def _urllib3(url: str, calls: int, at_once: int) -> Callable[[], object]:
    import urllib3

    pool = urllib3.PoolManager(maxsize=at_once)
    messages = _conversation()
    headers = {"Authorization": "Bearer none", "Content-Type": "application/json"}

    def send() -> object:
        body = json.dumps({"model": "stub", "messages": messages}).encode()
        return json.loads(pool.request("POST", f"{url}/chat/completions", body=body, headers=headers).data)

    send()
    return lambda: _in_threads(send, calls, at_once)


def _threads(url: str, calls: int, at_once: int) -> Callable[[], object]:
    import openai

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages = _conversation()
    client.chat.completions.create(model="stub", messages=messages)
    return lambda: _in_threads(lambda: client.chat.completions.create(model="stub", messages=messages), calls, at_once)


def _in_threads(send: Callable[[], object], calls: int, at_once: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(send) for _ in range(calls)]:
            future.result()


def _asyncio(url: str, calls: int, at_once: int) -> Callable[[], object]:
    import asyncio

    import openai

    messages = _conversation()

    async def send_all() -> None:
        client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        left = iter(range(calls))

        async def send() -> None:
            for _ in left:
                await client.chat.completions.create(model="stub", messages=messages)

        await asyncio.gather(*(send() for _ in range(at_once)))

    return lambda: asyncio.run(send_all())


def _gevent(url: str, calls: int, at_once: int) -> Callable[[], object]:
    from gevent import monkey, pool  # type: ignore[import-not-found]  # not a dependency

    monkey.patch_all()
    import openai

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages = _conversation()

    def send_all() -> None:
        greenlets = pool.Pool(at_once)
        for _ in range(calls):
            greenlets.spawn(client.chat.completions.create, model="stub", messages=messages)
        greenlets.join(raise_error=True)

    return send_all


def _inspect(url: str, calls: int, at_once: int) -> Callable[[], object]:
    from inspect_ai import Task, eval  # type: ignore[import-not-found]  # in an environment of its own
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import generate

    os.environ |= {"STUB_API_KEY": "none", "STUB_BASE_URL": url}
    text = "\n".join(str(message["content"]) for message in _conversation())
    task = Task(dataset=[Sample(input=text) for _ in range(calls)], solver=generate())
    return lambda: eval(
        task,
        model="openai-api/stub/stub",
        max_connections=at_once,
        max_samples=at_once,
        display="none",
        log_dir=tempfile.mkdtemp(prefix="bench-inspect-"),
    )


if __name__ == "__main__":
    main()
