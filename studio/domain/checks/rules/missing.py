from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from studio.domain.app_data import declared_apps
from studio.domain.caching import cached
from studio.domain.checks.quotes import quote
from studio.domain.checks.records import (
    ACTIONS,
    RESOURCES,
    ResourceKind,
    app_text,
    available_tools,
    findable_text,
    is_available,
    mentioned_kinds,
    message_subjects,
    named_records,
    people_to_reach,
    record_numbers,
)
from studio.domain.checks.research import research_without_pages
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sign_ins import SignIn, accounts_in, sign_ins, why_refused
from studio.domain.checks.sources import (
    base_name,
    established_text,
    file_mentions,
    is_created_in,
    known_file_names,
    profile_text,
    visible_text,
)
from studio.domain.findings import Severity
from studio.domain.graders import read_script
from studio.domain.task import HiddenIntent, Recovery, TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words
from studio.domain.tool_names import bare_tool_name

MANY_TOOLS = 128


@rule("tool-unbound", "error")
@in_rows("tools", "Add it to the persona's tools, or choose another one.")
def tool_unbound(tool: str, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only tools of its persona."""
    if tool not in context.episode.persona.tools:
        yield Flaw(f"The persona has no tool “{tool}”.", passage=tool)


@rule("tools-too-many", "hint", across_tasks=True)
@in_field("tools", "Choose the tools that the task needs, or let the agent find them by search.")
def tools_too_many(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Several services refuse more, and agents then look for tools before they can call them. Reported at the tasks
    that choose so many, or at the first session of a persona that binds them."""
    tools = task.tools or context.episode.persona.tools
    if len(tools) > MANY_TOOLS and (task.tools or not context.earlier(task)):
        yield Flaw(f"An agent gets {len(tools)} tools here; several services take at most {MANY_TOOLS} at once.")


@rule("skill-unknown", "error")
@in_rows("skills", "Add it to the persona's skills, or choose another one.")
def skill_unknown(skill: str, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only skills of its persona."""
    if not any(skill == own.name for own in context.episode.persona.skills):
        yield Flaw(f"The persona has no skill “{skill}”.", passage=skill)


@rule("recovery-unknown", "error", across_tasks=True)
@in_rows("intents")
def recovery_unknown(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session, file or tool from which an intent can be recovered exists."""
    for source in intent.recoverable_from:
        if source.ref.strip() and (problem := _missing(source, task, context)):
            severity: Severity = "error" if source.kind == "session" else "warning"
            other = source.ref if source.kind == "session" else ""
            yield Flaw(*problem, other=other, severity=severity, about=f"{source.kind} {source.ref}")


def _missing(source: Recovery, task: TaskSpec, context: CheckContext) -> tuple[str, str] | None:
    tools, named = context.episode.persona.tools, f"“{source.ref}”"
    if source.kind == "session" and all(source.ref != other.task_id for other in context.earlier(task)):
        return f"The intent's source {named} is not an earlier task.", "Choose an earlier task of the episode."
    if source.kind == "tool" and tools and not _is_bound(source.ref, tools):
        message = f"The intent's source is the tool {named}, which the persona does not have."
        return message, "Add it to the persona's tools, or choose another source."
    if source.kind == "file" and not _is_there(base_name(source.ref), task, context):
        return f"The intent's source {named} does not exist.", "Upload it to this task, or correct the name."
    return None


def _is_there(name: str, task: TaskSpec, context: CheckContext) -> bool:
    tasks = (*context.earlier(task), task)
    return name in known_file_names(task, context) or any(is_created_in(other, name) for other in tasks)


def _is_bound(name: str, tools: tuple[str, ...]) -> bool:
    """``name`` is a tool's, or an application's: what the names of its tools begin with."""
    plain = bare_tool_name(name).split(".")[0].strip()
    return any(plain in (own, own.split("__")[0]) for own in (bare_tool_name(tool) for tool in tools))


MIN_SHARE = 0.2
"""Minimum share of an intent's words that its source contains: enough to show what it is about, not to state it."""
MIN_WORDS = 3


@rule("recovery-not-there", "hint", across_tasks=True)
@in_rows("intents", "Choose the right source, or state it there.")
def recovery_not_there(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session or profile from which an intent can be recovered mentions it. Files are exempt: what an agent infers
    from a table need not share a word with it."""
    if len(content_words(intent.content)) < MIN_WORDS:
        return
    for source in intent.recoverable_from:
        text = _text(source, task, context)
        wanted = f"{intent.content} {source.note}" if source.note else intent.content
        if text is not None and max(word_overlap(wanted, text), word_overlap(intent.content, text)) < MIN_SHARE:
            what = {"session": f"The task “{source.ref}”", "file": f"“{source.ref}”"}.get(source.kind, "The profile")
            yield Flaw(f"{what} says nothing of this intent.", other=source.ref if source.kind == "session" else "")


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
@in_field("initial_request", "Upload it to this task, correct the name, or ask for it to be created.")
def request_unknown_file(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that the request mentions is an asset, comes from an earlier session, or has to be created in this one."""
    mentioned: dict[str, str] = {}
    for match in file_mentions(task.initial_request):
        mentioned.setdefault(base_name(match[0]), match[0])
    for name, path in mentioned.items():
        if not _is_there(name, task, context):
            yield Flaw(f"The request mentions “{path}”, but there is no such file.", passage=path)


@rule("request-unknown-place", "hint", across_tasks=True)
@in_field("initial_request", "Add a file or a tool, or mention something it can access.")
def request_unknown_place(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A mailbox, calendar or system that the request refers to is available as a tool, file or signal (paper, Table 9).
    Silent if the persona's tools are unknown."""
    for kind, passage in _unavailable(RESOURCES, task, context):
        message = f"The request refers to {kind.name}, but the agent has no tool or file for it."
        yield Flaw(message, passage=passage.strip(), about=kind.name)


def _unavailable(
    kinds: tuple[ResourceKind, ...], task: TaskSpec, context: CheckContext
) -> Iterator[tuple[ResourceKind, str]]:
    for kind, passage in mentioned_kinds(kinds, task.initial_request) if available_tools(task, context) else ():
        if not is_available(kind, task, context):
            yield kind, passage


@rule("request-unknown-deed", "hint", across_tasks=True)
@in_field("initial_request", "Ask for the text in a file, or give the persona a tool for it.")
def request_unknown_deed(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The agent has a tool for what the request wants done (paper, Table 9). Silent if the tools are unknown."""
    for kind, passage in _unavailable(ACTIONS, task, context):
        yield Flaw(f"The agent has no tool to {kind.name}.", passage=passage.strip(" .!?\n"), about=kind.name)


APPS = {
    **{app: app for app in "gmail todoist spotify amazon venmo splitwise slack notion trello asana jira".split()},
    **{app: app for app in "outlook dropbox whatsapp".split()},
    **dict.fromkeys(("simple note", "simplenote"), "simple_note"),
    **{f"google {app}": app for app in "calendar drive docs sheets".split()},
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
@in_field("initial_request", "Add its tools to the persona, or name an available application.")
def request_unknown_app(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the user wants done in an application needs a tool for it."""
    tools = [tool.casefold() for tool in context.episode.persona.tools]
    if not tools:
        return
    for match in USED.finditer(task.initial_request[:20_000]):
        app = APPS[match["app"].casefold()]
        if match["app"][0].isupper() and not any(app in tool for tool in tools):
            yield Flaw(f"The request mentions {match['app']}, but the persona has no tool for it.", passage=match[0])
            return


@rule("request-unknown-record", "hint", across_tasks=True)
@in_field("initial_request")
def request_unknown_record(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An order, ticket, message, playlist or contact that the request wants is in an app's data, a file, a signal or an
    earlier session (paper, Table 9). Silent if an application has no data here, or a file cannot be read."""
    tools = available_tools(task, context)
    wanted, held = _wanted(task.initial_request), ""
    if any("__" in tool for tool in tools):
        if (of_apps := app_text(tools, context)) is None:
            return
        wanted, held = wanted + _wanted_of_apps(task.initial_request), of_apps
    findable = findable_text(task, context) if wanted else None
    if findable is None:
        return
    normalized = _normalized(f"{findable}\n{held}")
    place = "the app’s data, a file or the signal" if held else "a file or the signal"
    fix = f"Add it to {place}, mention one that exists, or say what the agent needs to know about it."
    for text in dict.fromkeys(wanted):
        if _normalized(text) not in normalized:
            message = f"The request mentions {quote(text)}, which is in nothing the agent can access."
            yield Flaw(message, fix, passage=text)


@cached
def _wanted(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*record_numbers(request), *message_subjects(request)))


@cached
def _wanted_of_apps(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*named_records(request), *people_to_reach(request)))


def _normalized(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


@rule("web-missing", "warning", judges_language=True)
@in_field(
    "initial_request",
    "Add the pages that they are to find to the persona’s web pages, or put what they need into a file.",
)
def web_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The real web is never reached. An agent finds the web pages of the persona, and without any it has no tools for
    the web: a task of research cannot be done. Silent where a tool server may search."""
    if passage := research_without_pages(task, context.episode.persona, context.texts):
        yield Flaw(
            "The request asks for research on the web, but agents find no web page here and so have no tools for the "
            "web.",
            passage=passage,
        )


VERBS = {
    "initial_request": "The request signs in",
    "grader_script": "The script expects a sign-in",
    "trigger": "The signal tells of a sign-in",
}


@rule("sign-in-missing", "warning", across_tasks=True)
def sign_in_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An account that the task names can be signed in to: the app would answer 401, and nothing in the app could be
    done. Silent where an app's data cannot be read here."""
    named = context.once(_sign_ins).get(task.task_id, ())
    if not named:
        return
    accounts = context.once(_accounts)
    seen = set()
    for sign_in in named:
        known = accounts.get(sign_in.app)
        if known is None or (sign_in.app, sign_in.username) in seen or not (flaw := why_refused(sign_in, known)):
            continue
        seen.add((sign_in.app, sign_in.username))
        title = declared_apps()[sign_in.app].title
        verb = VERBS.get(sign_in.field, "This tells of a sign-in")
        yield Flaw(
            f"{verb} to {title}, but the app’s data {flaw}.",
            "Add the account to the app’s data, or correct what is said here.",
            field=sign_in.field,
            item=sign_in.item,
            passage=sign_in.passage,
            about=f"{sign_in.app} {sign_in.username}",
        )


def _sign_ins(context: CheckContext) -> Mapping[str, tuple[SignIn, ...]]:
    scripts = [script for script in context.episode.persona.scripts if script.sha256 in context.texts]
    return sign_ins(context.episode, {script.sha256: read_script(context.texts[script.sha256]) for script in scripts})


def _accounts(context: CheckContext) -> Mapping[str, Mapping[str, str] | None]:
    """By simulated app; None where they cannot be read."""
    files = context.episode.persona.app_data
    return {
        app: accounts_in(context.texts.get(files[app].sha256, "")) if app in files else {} for app in declared_apps()
    }
