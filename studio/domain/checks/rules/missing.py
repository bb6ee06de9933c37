import re
from collections.abc import Iterator

from studio.domain.caching import cached
from studio.domain.checks.app_records import app_text, named_records, people_to_reach
from studio.domain.checks.quotes import quote
from studio.domain.checks.records import (
    ACTIONS,
    RESOURCES,
    available_tools,
    findable_text,
    is_available,
    mentioned_kinds,
    message_subjects,
    record_numbers,
)
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, file_mentions, is_created_in, profile_text, visible_text
from studio.domain.task import Recovery, TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words
from studio.domain.tool_names import bare_tool_name

MANY_TOOLS = 128


@rule("tool-unbound", "error")
def tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only tools of its persona."""
    for position, tool in enumerate(task.tools, 1):
        if tool not in context.episode.persona.tools:
            yield Flaw(
                "tools",
                f"The persona has no tool “{tool}”.",
                "Add it to the persona's tools, or choose another one.",
                position,
                passage=tool,
            )


@rule("tools-too-many", "hint", across_tasks=True)
def tools_too_many(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Several services refuse more, and agents then look for tools before they can call them. Reported at the tasks
    that choose so many, or at the first session of a persona that binds them."""
    tools = task.tools or context.episode.persona.tools
    if len(tools) > MANY_TOOLS and (task.tools or not context.earlier(task)):
        yield Flaw(
            "tools",
            f"An agent gets {len(tools)} tools here; several services take at most {MANY_TOOLS} at once.",
            "Choose the tools that the task needs, or let the agent find them by search.",
        )


@rule("skill-unknown", "error")
def skill_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only skills of its persona."""
    known = {skill.name for skill in context.episode.persona.skills}
    for position, skill in enumerate(task.skills, 1):
        if skill not in known:
            yield Flaw(
                "skills",
                f"The persona has no skill “{skill}”.",
                "Add it to the persona's skills, or choose another one.",
                position,
                passage=skill,
            )


@rule("recovery-unknown", "error", across_tasks=True)
def recovery_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session, file or tool from which an intent can be recovered exists."""
    for position, intent in enumerate(task.intents, 1):
        for source in intent.recoverable_from:
            if source.ref.strip() and (problem := _missing(source, task, context)):
                message, fix = problem
                yield Flaw(
                    "intents",
                    message,
                    fix,
                    position,
                    other=source.ref if source.kind == "session" else "",
                    severity="error" if source.kind == "session" else "warning",
                    about=f"{source.kind} {source.ref}",
                )


def _missing(source: Recovery, task: TaskSpec, context: CheckContext) -> tuple[str, str] | None:
    earlier = context.earlier(task)
    persona = context.episode.persona
    if source.kind == "session" and source.ref not in {other.task_id for other in earlier}:
        return (
            f"The intent's source “{source.ref}” is not an earlier task.",
            "Choose an earlier task of the episode.",
        )
    if source.kind == "tool" and persona.tools and not _is_bound(source.ref, persona.tools):
        return (
            f"The intent's source is the tool “{source.ref}”, which the persona does not have.",
            "Add it to the persona's tools, or choose another source.",
        )
    if source.kind == "file":
        name = source.ref.rpartition("/")[2]
        tasks = (*earlier, task)
        names = {
            path.rpartition("/")[2]
            for path in (
                *(file.path for other in tasks for file in other.assets),
                *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
                *(file.path for skill in persona.skills for file in skill.files),
            )
        }
        if name not in names and not any(is_created_in(other, name) for other in tasks):
            return (
                f"The intent's source “{source.ref}” does not exist.",
                "Upload it to this task, or correct the name.",
            )
    return None


def _is_bound(name: str, tools: tuple[str, ...]) -> bool:
    """``name`` is a tool's, or an application's: what the names of its tools begin with."""
    plain = bare_tool_name(name).split(".")[0].strip()
    return any(plain in (own, own.split("__")[0]) for own in (bare_tool_name(tool) for tool in tools))


MIN_SHARE = 0.2
"""Minimum share of an intent's words that its source contains: enough to show what it is about, not to state it."""
MIN_WORDS = 3


@rule("recovery-not-there", "hint", across_tasks=True)
def recovery_not_there(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session or profile from which an intent can be recovered mentions it. Files are exempt: what an agent infers
    from a table need not share a word with it."""
    for position, intent in enumerate(task.intents, 1):
        if len(content_words(intent.content)) < MIN_WORDS:
            continue
        for source in intent.recoverable_from:
            text = _text(source, task, context)
            wanted = f"{intent.content} {source.note}" if source.note else intent.content
            if text is not None and max(word_overlap(wanted, text), word_overlap(intent.content, text)) < MIN_SHARE:
                what = {"session": f"The task “{source.ref}”", "file": f"“{source.ref}”"}.get(
                    source.kind, "The profile"
                )
                yield Flaw(
                    "intents",
                    f"{what} says nothing of this intent.",
                    "Choose the right source, or state it there.",
                    position,
                    other=source.ref if source.kind == "session" else "",
                )


def _text(source: Recovery, task: TaskSpec, context: CheckContext) -> str | None:
    if source.kind == "session":
        other = next((earlier for earlier in context.earlier(task) if earlier.task_id == source.ref), None)
        return (
            f"{established_text(other)}\n{other.reference_workflow}\n{visible_text(other, context)}" if other else None
        )
    if source.kind == "profile":
        return profile_text(context.episode.persona) or None
    return None


@rule("request-unknown-file", "warning", across_tasks=True)
def request_unknown_file(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that the request mentions is an asset, comes from an earlier session, or has to be created in this one."""
    mentions = file_mentions(task.initial_request)
    if not mentions:
        return
    tasks = (*context.earlier(task), task)
    persona = context.episode.persona
    known = {
        path.rpartition("/")[2]
        for path in (
            *(file.path for other in tasks for file in other.assets),
            *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
            *(file.path for skill in persona.skills for file in skill.files),
        )
    }
    seen = set()
    for match in mentions:
        name = match[0].rpartition("/")[2]
        if name in known or name in seen or any(is_created_in(other, name) for other in tasks):
            continue
        seen.add(name)
        yield Flaw(
            "initial_request",
            f"The request mentions “{match[0]}”, but there is no such file.",
            "Upload it to this task, correct the name, or ask for it to be created.",
            passage=match[0],
        )


@rule("request-unknown-place", "hint", across_tasks=True)
def request_unknown_place(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A mailbox, calendar or system that the request refers to is available as a tool, file or signal (paper, Table 9).
    Silent if the persona's tools are unknown."""
    if not available_tools(task, context):
        return
    for kind, passage in mentioned_kinds(RESOURCES, task.initial_request):
        if not is_available(kind, task, context):
            yield Flaw(
                "initial_request",
                f"The request refers to {kind.name}, but the agent has no tool or file for it.",
                "Add a file or a tool, or mention something it can access.",
                passage=passage.strip(),
                about=kind.name,
            )


@rule("request-unknown-deed", "hint", across_tasks=True)
def request_unknown_deed(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The agent has a tool for what the request wants done (paper, Table 9). Silent if the tools are unknown."""
    if not available_tools(task, context):
        return
    for kind, passage in mentioned_kinds(ACTIONS, task.initial_request):
        if not is_available(kind, task, context):
            yield Flaw(
                "initial_request",
                f"The agent has no tool to {kind.name}.",
                "Ask for the text in a file, or give the persona a tool for it.",
                passage=passage.strip(" .!?\n"),
                about=kind.name,
            )


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


@rule("request-unknown-record", "hint", across_tasks=True)
def request_unknown_record(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An order, ticket, message, playlist or contact that the request wants is in an app's data, a file, a signal or an
    earlier session (paper, Table 9). Silent if an application has no data here, or a file cannot be read."""
    tools = available_tools(task, context)
    request = task.initial_request
    wanted = _wanted(request)
    held = ""
    if any("__" in tool for tool in tools):
        of_apps = app_text(tools, context)
        if of_apps is None:
            return
        held = of_apps
        wanted += _wanted_of_apps(request)
    findable = findable_text(task, context) if wanted else None
    if findable is None:
        return
    normalized = _normalized(f"{findable}\n{held}")
    for text in dict.fromkeys(wanted):
        if _normalized(text) not in normalized:
            yield Flaw(
                "initial_request",
                f"The request mentions {quote(text)}, which is in nothing the agent can access.",
                (
                    "Add it to the app’s data, a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                )
                if held
                else (
                    "Add it to a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                ),
                passage=text,
            )


@cached
def _wanted(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*record_numbers(request), *message_subjects(request)))


@cached
def _wanted_of_apps(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*named_records(request), *people_to_reach(request)))


def _normalized(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
