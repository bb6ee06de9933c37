import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec

EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]+@(?P<domain>[\w-]+(?:\.[\w-]+)+)")
MAILBOXES = frozenset(
    """gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com me.com aol.com gmx.de gmx.net
    web.de proton.me protonmail.com qq.com 163.com 126.com foxmail.com sina.com yandex.ru mail.ru hotmail.co.uk
    yahoo.co.uk""".split()
)

OFFICIAL = re.compile(
    r"\.(?:gov|edu|mil)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)(?:nhs\.(?:uk|net)|europa\.eu|who\.int|un\.org)$"
)
"""Domains that only authorities and universities get: whoever is written to there is real."""


@rule("address-real", "hint")
def address_real(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A mailbox at a provider where anyone can sign up may be somebody's, one of an authority is; and an agent with
    real tools writes there.

    Not where the persona's mail is simulated: its addresses lie in the simulation.
    """
    if any(tool.removeprefix("mcp_appworld_").startswith("gmail__") for tool in context.episode.persona.tools):
        return
    for field, item, text in authored_texts(task):
        for found in EMAIL.finditer(text[:40_000]):
            domain = found["domain"].casefold()
            if domain in MAILBOXES or OFFICIAL.search(domain):
                yield Flaw(
                    field,
                    f"“{found[0]}” may be a real mailbox."
                    if domain in MAILBOXES
                    else f"“{found[0]}” is an address of a real institution.",
                    "Use a reserved address, such as name@example.com.",
                    item,
                    words=found[0],
                )
                break
