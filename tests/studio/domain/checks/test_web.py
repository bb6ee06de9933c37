"""What a request asks of the web is looked for among the persona's web pages and tools."""

from __future__ import annotations

import pytest

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import EXAMPLE
from tests.studio.domain.checks.builders import file, scored

REQUEST = "Please search the internet for harbour fees."


def is_found(page: str = "", tools: tuple[str, ...] = ()) -> bool:
    files = (file("web/fees.md", "b"),) if page else ()
    persona = PersonaSpec(user_id="ada", tools=tools, files=files)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(scored("t", initial_request=REQUEST),))
    return any(each.rule == "web-missing" for each in find_problems(episode, texts={"b" * 64: page} if page else {}))


@pytest.mark.parametrize(
    ("page", "found"),
    [("", True), (EXAMPLE, False), (EXAMPLE.replace("[]", "[other]"), True), (EXAMPLE.replace("[]", "[t]"), False)],
)
def test_a_page_that_the_task_finds_is_enough(page: str, found: bool):
    assert is_found(page) == found


@pytest.mark.parametrize(
    ("title", "request_text", "found"),
    [
        ("Fees from the web", "Please search for harbour fees and write a note.", True),
        ("Fees", "Please search for harbour fees and write a note.", False),
        ("Fees from the web", "Please search for harbour fees in fees.md.", False),
        ("Fees from the web", "Research the fees in our workspace.", False),
        ("Fees from the web", "Do not search for harbour fees.", False),
        ("Fees from the web", "Write a note on harbour fees.", False),
    ],
)
def test_a_search_that_names_no_place_is_on_the_web_if_the_title_says_so(title: str, request_text: str, found: bool):
    task = scored("t", title=title, initial_request=request_text)
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="ada"), tasks=(task,))

    assert any(each.rule == "web-missing" for each in find_problems(episode)) == found


def test_a_server_that_searches_is_enough():
    assert not is_found(tools=("brave__web_search",))
    assert is_found(tools=("gmail__search_users",))
