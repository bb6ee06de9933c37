"""Tool-call histories on which an author can try a grader script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from evaluation.audits.blindness import open_sessions
from evaluation.grading.script import ToolHistory
from evaluation.models import Rehearsal, ScriptExample, Session, Turn
from evaluation.protocol.history import select_calls, tools_history
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.evidence import load_turns
from evaluation.workspaces.prospects import prospects
from studio.domain.graders import generate_histories, read_script
from studio.drafts.load import load_episode
from studio.models import Blob, GraderScript, Task, User

MAX_EXAMPLE = 100_000
"""Characters of a hand-written history."""
MAX_CALLS = 500
MAX_SESSIONS = 20


class ExampleError(ValueError):
    pass


@dataclass(frozen=True)
class HistoryChoice:
    value: str
    label: str


def list_histories(
    script: GraderScript, source: str, tasks: Sequence[Task], person: User
) -> dict[str, list[HistoryChoice]]:
    sessions = (
        open_sessions(person)
        .filter(Exists(Turn.objects.filter(session=OuterRef("pk"))), revision__task__in=tasks)
        .select_related("run__pilot", "revision__task")
        .order_by("-pk")[:MAX_SESSIONS]
    )
    rehearsals = (
        Rehearsal.objects.filter(person=person, session__revision__task__in=tasks)
        .select_related("session__revision__task")
        .order_by("-created_at")[:MAX_SESSIONS]
    )
    generated = generate_histories(read_script(source))[1:]
    return {
        "Sessions": [
            HistoryChoice(f"session:{row.pk}", f"{row.revision.task} – pilot {row.pilot.number}, run {row.run.number}")
            for row in sessions
        ]
        + [
            HistoryChoice(f"rehearsal:{row.pk}", f"{row.session.revision.task} – your rehearsal {row.pk}")
            for row in rehearsals
        ],
        "Generated": [
            *(HistoryChoice(f"plausible:{task.pk}", f"What an agent might do – {task}") for task in tasks),
            *(HistoryChoice(f"generated:{number}", history.name) for number, history in enumerate(generated, 1)),
        ],
    }


def load_history(choice: str, text: str, source: str, tasks: Sequence[Task], person: User) -> ToolHistory:
    """The calls of a choice. Raises ExampleError if there is no such history, or ``text`` contains no calls."""
    kind, _, key = choice.partition(":")
    number = int(key) if key.isdecimal() and len(key) < 12 else 0
    match kind:
        case "empty":
            return []
        case "example":
            return read_example(text)
        case "session" | "rehearsal":
            own = Session.objects.filter(rehearsal__person=person, rehearsal=number)
            found = own if kind == "rehearsal" else open_sessions(person).filter(pk=number)
            session = found.filter(revision__task__in=tasks).first()
            if session is not None:
                calls = [list(turn.calls) for turn in load_turns(session)]
                return tools_history(select_calls(calls, ScoringMode.STRICT))
        case "plausible":
            task = next((task for task in tasks if task.pk == number), None)
            if task is not None:
                planned = prospects(load_episode(task.persona), Blob.objects.read, {task.task_id})
                return [call.for_graders() for each in planned for call in each.calls]
        case "generated":
            generated = generate_histories(read_script(source))
            if 0 < number < len(generated):
                return list(generated[number].calls)
    raise ExampleError("Choose what to run the script on.")


def read_example(text: str) -> list[dict[str, Any]]:
    if len(text) > MAX_EXAMPLE:
        raise ExampleError(f"The example has {len(text):,} characters; at most {MAX_EXAMPLE:,} are read.")
    try:
        calls = json.loads(text)
    except json.JSONDecodeError as error:
        raise ExampleError(f"Line {error.lineno} of the example is not valid JSON: {error.msg.lower()}.") from None
    except (ValueError, RecursionError):
        raise ExampleError("The example is not valid JSON.") from None
    if not isinstance(calls, list) or len(calls) > MAX_CALLS:
        raise ExampleError(f"The example is a list of up to {MAX_CALLS} calls: [{{…}}, {{…}}].")
    for number, call in enumerate(calls, 1):
        if not isinstance(call, dict) or not isinstance(call.get("tool_name"), str):
            raise ExampleError(f'Call {number} needs a "tool_name", and may have "call" and "result".')
    return [
        {"tool_name": call["tool_name"], "call": call.get("call", {}), "result": call.get("result")} for call in calls
    ]


def load_example(script: GraderScript, source: str, tools: Sequence[str]) -> str:
    stored = ScriptExample.objects.filter(script=script).first()
    if stored is not None:
        return stored.text
    reading = read_script(source)
    matching = next((history.calls for history in generate_histories(reading) if history.kind == "matching"), ())
    by_tool = {call["tool_name"]: call for call in matching}
    names = [name for name in reading.tool_names if "__" in name] or list(reading.tool_names) or list(tools)
    exact: Mapping[str, Sequence[Any]] = reading.exact
    calls = []
    for name in list(dict.fromkeys(names))[:4] or ["write_file"]:
        arguments = by_tool.get(name, {}).get("call", {})
        shown = [argument for argument in arguments if argument in reading.arguments] or ["path", "content"]
        call = {argument: exact[argument][0] if exact.get(argument) else "" for argument in shown[:8]}
        calls.append({"tool_name": name, "call": call, "result": {}})
    return json.dumps(calls, ensure_ascii=False, indent=2)


def save_example(script: GraderScript, text: str, *, by: User) -> None:
    """Store the text even if it is not valid yet; text that is too long or unstorable is dropped."""
    if len(text) <= MAX_EXAMPLE and "\0" not in text:
        ScriptExample.objects.update_or_create(script=script, defaults={"text": text, "written_by": by})
