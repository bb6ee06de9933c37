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


def test_a_server_that_searches_is_enough():
    assert not is_found(tools=("brave__web_search",))
    assert is_found(tools=("gmail__search_users",))
