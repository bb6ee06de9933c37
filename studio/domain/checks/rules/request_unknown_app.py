import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

APPS = {
    "gmail": "gmail",
    "todoist": "todoist",
    "spotify": "spotify",
    "amazon": "amazon",
    "venmo": "venmo",
    "splitwise": "splitwise",
    "simple note": "simple_note",
    "simplenote": "simple_note",
    "slack": "slack",
    "notion": "notion",
    "trello": "trello",
    "asana": "asana",
    "jira": "jira",
    "outlook": "outlook",
    "dropbox": "dropbox",
    "whatsapp": "whatsapp",
    "google calendar": "calendar",
    "google drive": "drive",
    "google docs": "docs",
    "google sheets": "sheets",
    "microsoft teams": "teams",
}
"""Names of applications, and what the names of their tools begin with."""
USED = re.compile(
    r"\b(?:in|into|on|to|via|with|using|from|through|my|our)\s+(?:my\s+|our\s+|the\s+)?(?P<app>"
    + "|".join(sorted(APPS, key=len, reverse=True))
    + r")\b(?!\s+(?:rain|forest|river|users?|trends?|sellers?|listings?|campaigns?|ads?|posts?|market|of))(?!['’]s)",
    re.IGNORECASE,
)


@rule("request-unknown-app", "warning")
def request_unknown_app(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the user wants done in an application needs a tool for it."""
    tools = [tool.casefold() for tool in context.episode.persona.tools]
    if not tools:
        return
    for match in USED.finditer(task.initial_request[:20_000]):
        app = APPS[match["app"].casefold()]
        if match["app"][0].isupper() and not any(app in tool for tool in tools):
            yield Flaw(
                "initial_request",
                f"The request mentions {match['app']}, but the persona has no tool for it.",
                "Add its tools to the persona, or name an available application.",
                passage=match[0],
            )
            return
