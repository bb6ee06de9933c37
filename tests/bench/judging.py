"""From a key to the next packet in a browser: `python -m tests.bench.judging` prints milliseconds, requests and bytes.

One auditor judges 200 decisions with 20,000 characters of record each by keyboard, in Chromium against a server in this
process: first with a pause before each answer, as a person has, then without any, the next key as soon as a packet
stands there. Milliseconds run from the key to the frame after the packet is shown. `--packets N`, `--pause MS`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from typing import Any

WATCH = """
const now = () => performance.timeOrigin + performance.now();
addEventListener("keydown", (event) => { if (event.key === "y") sessionStorage.pressed = now(); }, true);
const shown = () => requestAnimationFrame(() => setTimeout(() => {
  if (!sessionStorage.pressed) return;
  const times = JSON.parse(sessionStorage.times ?? "[]");
  sessionStorage.times = JSON.stringify([...times, now() - Number(sessionStorage.pressed)]);
  sessionStorage.removeItem("pressed");
}));
document.addEventListener("studio:packet", shown);
addEventListener("DOMContentLoaded", shown);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=200)
    parser.add_argument("--pause", type=int, default=250, help="milliseconds before each answer of the first round")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    import django

    django.setup()
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.test.testcases import LiveServerThread
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    server = LiveServerThread("localhost", StaticFilesHandler)
    server.daemon = True
    server.start()
    server.is_ready.wait()
    try:
        for name, pause in ((f"{given.pause} ms before each answer", given.pause), ("no pause", 0)):
            times, requests, size = judge(f"http://localhost:{server.port}", given.packets, pause)
            ordered = sorted(times)
            print(
                f"{name:<30} median {statistics.median(times):>4.0f}  p95 {ordered[int(len(ordered) * 0.95)]:>4.0f}  "
                f"p99 {ordered[int(len(ordered) * 0.99)]:>4.0f}  most {ordered[-1]:>4.0f} ms  "
                f"{requests / len(times):.2f} requests and {size / len(times) / 1000:.1f} kB an answer"
            )
    finally:
        server.terminate()
        teardown_databases(databases, verbosity=0)


def judge(root: str, packets: int, pause: int) -> tuple[list[float], int, int]:
    """Milliseconds of each answer, and all requests and bytes after the first page."""
    from dataclasses import replace

    from studio.dev.pictures import chromium
    from tests.annotations.builders import make_benchmark, make_decision, make_person, open_campaign

    benchmark = make_benchmark()
    auditor = make_person(benchmark, "auditor")
    decisions = [replace(make_decision(number), content=long_content(number)) for number in range(packets)]
    campaign = open_campaign(
        benchmark, decisions, name="bench", source="pilot:1", seed=1, overlap=1, scripted=False, by=None
    )
    with chromium() as browser:
        page = browser.new_context(bypass_csp=True).new_page()
        page.add_init_script(WATCH)
        page.goto(f"{root}/login/")
        page.get_by_label("Username").fill(auditor.get_username())
        page.get_by_label("Password").first.fill("a long password")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "login" not in url)
        page.goto(f"{root}/audits/{campaign.pk}/judge/", wait_until="networkidle")
        sizes: list[int] = []
        page.on("requestfinished", lambda request: sizes.append(total(request.sizes())))
        for number in range(1, packets):
            page.keyboard.press("y")
            page.wait_for_function(f"JSON.parse(sessionStorage.times ?? '[]').length === {number}")
            time.sleep(pause / 1000)
        page.wait_for_load_state("networkidle")
        times = json.loads(page.evaluate("sessionStorage.times"))
        page.close()
    return times, len(sizes), sum(sizes)


def total(sizes: Any) -> int:
    return int(sum(sizes.values()))


def long_content(number: int) -> Any:
    from annotations.packets import EvidencePart, Material, build_content

    sentence = "The tenant's letter of 3 March names the damp in the back room and asks for a date. "
    return build_content(
        "checklist",
        f"The reply names a date for repair number {number}.",
        Material(
            [
                EvidencePart(role="user", label="turn 1", text=sentence * 10),
                EvidencePart(role="tool", label="read_file", text=sentence * 150),
                EvidencePart(role="assistant", label="turn 1", text=sentence * 80),
            ]
        ),
    )


if __name__ == "__main__":
    main()
