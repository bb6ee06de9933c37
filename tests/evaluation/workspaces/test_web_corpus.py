from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.tools import Surroundings, Toolbox, Workspace, toolbox_for
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.tool_catalog import general_cards
from studio.models import Blob
from studio.personas.web_pages import web_pages_of
from tests.evaluation.contents import MemoryContents

CONTENTS = MemoryContents()

PAGES = {
    "web/fees.md": "---\naddress: https://www.town.org/fees/\ntitle: Fees for permits\ndate: 2026-03-01\n---\n"
    "A building permit costs 40 euros. " + "Opening hours follow. " * 1_000,
    "web/museum.md": "---\naddress: https://museum.org\n---\nThe museum lists its prices; a permit is not needed.",
    "web/secret.md": "---\naddress: https://later.org\ntasks: [other]\n---\nPermits of another task.",
    "web/broken.md": "no facts about permits",
    "web/twice.md": "---\naddress: http://museum.org/\n---\nAgain.",
    "notes.md": "permits",
}


@pytest.fixture
def persona() -> PersonaSpec:
    shas = CONTENTS.keep([text.encode() for text in PAGES.values()])
    files = [FileRef(path=path, sha256=sha, size=1) for path, sha in zip(PAGES, shas, strict=True)]
    return PersonaSpec(user_id="p", files=tuple(files))


@pytest.fixture
def toolbox(persona: PersonaSpec, tmp_path: Path) -> Toolbox:
    return toolbox_for(Surroundings(Workspace(tmp_path), corpus=open_corpus(persona, "this", CONTENTS.read)), [])


def search(toolbox: Toolbox, query: str, **more: int) -> str:
    return toolbox.call("web_search", json.dumps({"query": query, **more})).result


def fetch(toolbox: Toolbox, url: str, **more: int) -> str:
    return toolbox.call("web_fetch", json.dumps({"url": url, **more})).result


def test_search_finds_pages_by_any_word_the_best_first(toolbox: Toolbox):
    lines = search(toolbox, "what does a building permit cost?").splitlines()

    assert lines[:2] == ["1. Fees for permits", "   https://www.town.org/fees/ (2026-03-01)"]
    assert "building permit costs 40 euros." in lines[2]
    assert lines[3:5] == ["2. https://museum.org", "   https://museum.org"]
    assert len(lines) == 6
    assert search(toolbox, "permit", offset=1, count=1).startswith("2. ")


def test_agent_is_told_what_is_not_in_the_collection(toolbox: Toolbox):
    there = "The web here is a fixed collection of 3 pages: other words may help, or it is not there."

    assert search(toolbox, "zeppelin") == f"[Nothing was found. {there}]"
    assert search(toolbox, "' | & ! (:*") == f"[Nothing was found. {there}]"
    assert search(toolbox, "permit", offset=9) == f"[Nothing more was found. {there}]"
    assert fetch(toolbox, "https://later.org").startswith("Error: https://later.org is not there. The web here is a")


def test_page_is_read_in_parts(toolbox: Toolbox):
    first = fetch(toolbox, "http://town.org/fees#top")
    second = fetch(toolbox, "http://town.org/fees", offset=15_000)

    assert first.startswith("Fees for permits\nhttps://www.town.org/fees/, as of 2026-03-01\n\nA building permit")
    assert first.endswith("more characters; go on with offset 15000]")
    assert second.endswith("Opening hours follow.")
    assert "there is no character" in fetch(toolbox, "town.org/fees", offset=99_999)


def test_every_task_finds_its_own_pages_and_those_of_all(persona: PersonaSpec, tmp_path: Path):
    other = toolbox_for(Surroundings(Workspace(tmp_path), corpus=open_corpus(persona, "other", CONTENTS.read)), [])

    assert "https://later.org" in search(other, "permits of another task")
    assert "Permits of another task." in fetch(other, "https://later.org")


def test_rare_words_count_more_than_common_ones_and_repeated_ones_less_and_less():
    texts = {"much": "permit " * 50 + "paper", "rare": "permit zeppelin paper", "none": "a harbour"}

    assert found(texts, "zeppelin permits") == ["rare", "much"]
    assert found(texts, "the of and") == []


def test_words_in_the_title_count_more_than_those_in_the_text():
    texts = {"text": "fees and other things of the town", "fees": "other things of the town and its people"}

    assert found(texts, "fee") == ["fees", "text"]


def found(texts: dict[str, str], query: str) -> list[str]:
    """Titles, best first."""
    pages = [
        f"---\naddress: https://x.org/{title}\ntitle: {title}\n---\n{text}".encode() for title, text in texts.items()
    ]
    files = tuple(
        FileRef(path=f"web/{number}.md", sha256=sha, size=1) for number, sha in enumerate(CONTENTS.keep(pages))
    )
    corpus = open_corpus(PersonaSpec(user_id="p", files=files), "this", CONTENTS.read)
    assert corpus is not None
    return [page.title for page, _ in corpus.search(query, 5, 0)]


def test_persona_without_pages_has_no_web(persona: PersonaSpec, tmp_path: Path):
    bare = persona.model_copy(update={"files": ()})
    offered = toolbox_for(Surroundings(Workspace(tmp_path), corpus=open_corpus(bare, "this", CONTENTS.read)), [])
    lacking = {card.name: card.lacking for card in general_cards(bare)}

    assert "web_search" not in [schema["function"]["name"] for schema in offered.schemas]
    assert lacking["web_fetch"] == "This persona has no web pages."
    assert {card.lacking for card in general_cards(persona) if card.name != "exec"} == {""}


@pytest.mark.django_db
def test_authors_see_which_pages_nobody_finds(persona: PersonaSpec):
    Blob.objects.store([text.encode() for text in PAGES.values()])

    flaws = {row.path: row.flaw for row in web_pages_of(persona)}

    assert flaws == {
        "web/fees.md": "",
        "web/museum.md": "",
        "web/secret.md": "",
        "web/broken.md": "Begin with a line of three dashes, the address, and another such line.",
        "web/twice.md": "web/museum.md has the same address.",
    }
