import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]+@(?P<domain>[\w-]+(?:\.[\w-]+)+)")
MAILBOXES = frozenset(
    """gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com me.com aol.com gmx.de gmx.net
    web.de proton.me protonmail.com qq.com 163.com 126.com foxmail.com sina.com yandex.ru mail.ru hotmail.co.uk
    yahoo.co.uk""".split()
)

OFFICIAL = re.compile(
    r"\.(?:gov|edu|mil)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)(?:nhs\.(?:uk|net)|europa\.eu|who\.int|un\.org)$"
)
"""Domains registered only to authorities and universities, so their mailboxes are real."""


@rule("address-real", "hint")
def address_real(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An agent with real tools could write to this address: a mailbox at a public provider, or one of an authority.
    Silent where the persona's mail is simulated."""
    if any(bare_tool_name(tool).startswith("gmail__") for tool in context.episode.persona.tools):
        return
    for field, item, text in authored_texts(task):
        for match in EMAIL.finditer(text[:40_000]):
            domain = match["domain"].casefold()
            if domain in MAILBOXES or OFFICIAL.search(domain):
                yield Flaw(
                    field,
                    f"“{match[0]}” may be a real mailbox."
                    if domain in MAILBOXES
                    else f"“{match[0]}” is an address of a real institution.",
                    "Use a reserved address, such as name@example.com.",
                    item,
                    passage=match[0],
                )
                break
