"""Results as a page: whole by itself, and safe whatever models wrote."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evaluation.runner.command import main
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.runner.packs import write
from tests.evaluation.stub_model import StubModel, decisions

EVIL = "</div></td></script><script>alert(1)</script><img src=x onerror=alert(2)> {body} \"' &lt; \x1b[2J \u202etxt"
TAGS = {
    *("html head meta title style body h1 h2 h3 p div span code table thead tbody tr th td details summary".split()),
    *("svg", "line", "circle", "text"),
}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def page(stub: StubModel, tmp_path: Path) -> str:
    """Of results in which everything that somebody else wrote is hostile."""
    call = {"id": "1", "type": "function", "function": {"name": "write_file", "arguments": ""}}
    call["function"] = {"name": "write_file", "arguments": json.dumps({"path": "a.md", "content": EVIL})}
    stub.agent = lambda body: (
        {"role": "assistant", "content": None, "tool_calls": [call]} if len(body["messages"]) == 2 else f"Done. {EVIL}"
    )
    stub.checklist = lambda body: decisions(body, lambda index: index == 1, quote=EVIL)
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 2, quote=EVIL)
    evil = task(
        "a",
        title=EVIL,
        initial_request=f"Write it. {EVIL}",
        intents=intents(EVIL, "Sign it."),
        checklist=(rubric(EVIL), rubric("It is signed.")),
    )
    pack = write(tmp_path / "pack.zip", {"clerk": [evil]})
    model = f"openai:<b>m</b>@{stub.base_url}"
    argv = ["run", str(pack), "--model", model, "--user", model, "--judge", model, "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    assert main(["html", str(tmp_path / "out"), "--out", str(tmp_path / "page.html")]) == 0
    return (tmp_path / "page.html").read_text("utf-8")


def test_what_others_wrote_is_text_on_the_page(page: str):
    parsed = Page(page)

    assert parsed.open == []
    assert parsed.tags.keys() <= TAGS
    assert not {name for name in parsed.attributes if name.startswith("on") or name in ("src", "href", "style")}
    said = "".join(parsed.texts)
    assert said.count("<script>alert(1)</script>") >= 7  # request, intent, criterion, arguments, reply, quotes, title
    assert "\x1b" not in page and "\u202e" not in page


def test_page_asks_no_server_and_allows_no_script(page: str):
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert "url(" not in page and "@import" not in page


def test_page_has_scores_verdicts_and_the_conversation(page: str):
    said = " ".join("".join(Page(page).texts).split())

    shown = ("Proc", "Achieved in all of k runs", "clerk · a · run 1", "completed", "write_file", "Turn 2: user")
    assert [words for words in (*shown, "not met") if words not in said] == []
