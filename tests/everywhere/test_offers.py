"""Pages offer each role what it may do there, and nothing that would be refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from selectolax.lexbor import LexborHTMLParser, LexborNode

from studio.access import ALLOWED
from tests.everywhere.scenes import Scene, looked_at, one_of_everything
from tests.everywhere.test_roles import MEMBERS, expected, rules

pytestmark = pytest.mark.django_db

RULES = rules()
SHOWN_TO_ALL = {
    ("studio:gaps", "studio:task_new"),
    ("evaluation:release_new", "studio:benchmark_edit"),
    ("evaluation:release_new", "evaluation:pilot_new"),
    ("studio:tasks", "studio:tasks_change"),
}
"""Page and view: what mends a gap or a blocker stands beside it, whoever looks; who may not is told whose it is. And
some, who may not edit, may assign people to several tasks at once."""
OWN = {"studio:comment_edit", "studio:notification"}
"""Of what somebody wrote or got, which here is the owner's alone."""
SEALED = {"annotations:report", "annotations:export_csv", "annotations:export_json", "annotations:export_parquet"}
"""From an auditor who has not judged yet."""


def offers(html: bytes, address: str) -> Iterator[tuple[str, str]]:
    """Method and name of the view of all that the page leads to."""
    page = LexborHTMLParser(html)
    for selector, attribute, method in (
        ("a[href]", "href", "GET"),
        ("form[method=post i]", "action", "POST"),
        ("[formaction]", "formaction", "POST"),
        ("[hx-post]", "hx-post", "POST"),
        ("[hx-get]", "hx-get", "GET"),
    ):
        for node in page.css(selector):
            if node.tag == "form" and not can_be_sent(node):
                continue
            target = (node.attributes.get(attribute) or address).partition("?")[0].partition("#")[0] or address
            try:
                yield method, resolve(target.partition("?")[0]).view_name
            except Resolver404:  # another site, or a file
                continue


def can_be_sent(form: LexborNode) -> bool:
    """Whether it has a button to be seen and pressed: who may only read has the same form without."""
    return any(
        button.attributes.get("type") != "button"
        and not {"hidden", "disabled", "formaction"} & button.attributes.keys()
        and not any("disabled" in above.attributes for above in ancestors(button))
        for button in form.css("button")
    )


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    while (node := node.parent) is not None:
        yield node


def offered(scene: Scene, role: str) -> dict[tuple[str, str], str]:
    """With a page that offers it."""
    client = Client()
    client.force_login(scene.people[role])
    found: dict[tuple[str, str], str] = {}
    for name, address in scene.addresses.items():
        answer = looked_at(client, address)
        if answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html"):
            for offer in offers(answer.content, address):
                found.setdefault(offer, name)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_role_is_offered_what_it_may_do_and_nothing_else():
    scene = one_of_everything()
    found = {role: offered(scene, role) for role in MEMBERS}
    refused = [
        f"{role} is offered {method} {view} on {page}"
        for role, own in found.items()
        for (method, view), page in own.items()
        if (who := RULES.get((view, method))) and expected(who, role) != "done"
        if (page, view) not in SHOWN_TO_ALL and view not in OWN
    ]
    missing = [
        f"{role} finds {method} {view} nowhere; the owner does on {page}"
        for (method, view), page in found["owner"].items()
        for role in MEMBERS
        if role in ALLOWED.get(RULES.get((view, method), ""), ()) and (method, view) not in found[role]
        if view not in OWN and not (role == "auditor" and view in SEALED)
    ]

    assert not refused, "\n".join(refused)
    assert not missing, "\n".join(missing)
    assert len(found["owner"]) > 100
