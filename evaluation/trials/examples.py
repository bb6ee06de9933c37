"""Histories that an author may try a grader script on, and what a task would score by them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from evaluation.grading.evidence import record_of
from evaluation.grading.script import ToolHistory
from evaluation.models import Rehearsal, ScriptExample, Session, Turn
from evaluation.protocol.history import calls_shown, tools_history
from evaluation.protocol.scoring import ScoringMode
from evaluation.rehearsals.turns import reply_of
from studio.domain.graders import generate_histories, read_script
from studio.models import GraderScript, Task, User

LONGEST_EXAMPLE = 100_000
"""Characters of a history written by hand."""
MOST_CALLS = 500
SESSIONS = 20


class ExampleError(ValueError):
    """A history that cannot be used; the text says what is wrong with it."""


@dataclass(frozen=True)
class HistoryChoice:
    """A history to choose."""

    value: str
    label: str


def history_choices(
    script: GraderScript, source: str, using: Sequence[Task], person: User
) -> dict[str, list[HistoryChoice]]:
    """What there is to run ``source`` on, by kind: sessions of the tasks it grades, and generated histories."""
    sessions = (
        Session.objects.filter(Exists(Turn.objects.filter(session=OuterRef("pk"))), revision__task__in=using)
        .select_related("run__pilot", "revision__task")
        .order_by("-pk")[:SESSIONS]
    )
    rehearsals = (
        Rehearsal.objects.filter(person=person, revision__task__in=using)
        .select_related("revision__task")
        .order_by("-created_at")[:SESSIONS]
    )
    generated = generate_histories(read_script(source))[1:]
    return {
        "Sessions": [
            HistoryChoice(
                f"session:{row.pk}", f"{row.revision.task} – pilot {row.run.pilot.number}, run {row.run.number}"
            )
            for row in sessions
        ]
        + [
            HistoryChoice(f"rehearsal:{row.pk}", f"{row.revision.task} – your rehearsal {row.pk}") for row in rehearsals
        ],
        "Generated": [HistoryChoice(f"generated:{place}", history.name) for place, history in enumerate(generated, 1)],
    }


def history_of(choice: str, text: str, source: str, using: Sequence[Task], person: User) -> ToolHistory:
    """The calls of a choice. Raises ExampleError for one that is not there, or a ``text`` that holds no calls."""
    kind, _, key = choice.partition(":")
    number = int(key) if key.isdecimal() and len(key) < 12 else 0
    match kind:
        case "empty":
            return []
        case "example":
            return read_example(text)
        case "session":
            session = Session.objects.filter(pk=number, revision__task__in=using).first()
            if session is not None:
                turns = session.turns.prefetch_related("tool_calls").order_by("number")
                calls = [[record_of(call) for call in turn.tool_calls.all()] for turn in turns]
                return tools_history(calls_shown(calls, ScoringMode.STRICT))
        case "rehearsal":
            rehearsal = Rehearsal.objects.filter(pk=number, person=person, revision__task__in=using).first()
            if rehearsal is not None:
                calls = [list(reply_of(turn["reply"]).tool_calls) for turn in rehearsal.turns]
                return tools_history(calls_shown(calls, ScoringMode.STRICT))
        case "generated":
            generated = generate_histories(read_script(source))
            if 0 < number < len(generated):
                return list(generated[number].calls)
    raise ExampleError("Choose what to run the script on.")


def read_example(text: str) -> list[dict[str, Any]]:
    """Calls written as JSON. Raises ExampleError with the line where it goes wrong."""
    if len(text) > LONGEST_EXAMPLE:
        raise ExampleError(f"The example has {len(text):,} characters; at most {LONGEST_EXAMPLE:,} are read.")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ExampleError(f"Line {error.lineno} of the example is not valid JSON: {error.msg.lower()}.") from None
    except (ValueError, RecursionError):
        raise ExampleError("The example is not valid JSON.") from None
    if not isinstance(found, list) or len(found) > MOST_CALLS:
        raise ExampleError(f"The example is a list of up to {MOST_CALLS} calls: [{{…}}, {{…}}].")
    for place, call in enumerate(found, 1):
        if not isinstance(call, dict) or not isinstance(call.get("tool_name"), str):
            raise ExampleError(f'Call {place} needs a "tool_name", and may have "call" and "result".')
    return [{"tool_name": one["tool_name"], "call": one.get("call", {}), "result": one.get("result")} for one in found]


def example_of(script: GraderScript, source: str, tools: Sequence[str]) -> str:
    """The example kept for the script; before there is one, calls of the tools it reads, to be filled in."""
    kept = ScriptExample.objects.filter(script=script).first()
    if kept is not None:
        return kept.text
    reading = read_script(source)
    matching = next((each.calls for each in generate_histories(reading) if each.kind == "matching"), ())
    by_tool = {call["tool_name"]: call for call in matching}
    names = [name for name in reading.tool_names if "__" in name] or list(reading.tool_names) or list(tools)
    exact: Mapping[str, Sequence[Any]] = reading.exact
    calls = []
    for name in list(dict.fromkeys(names))[:4] or ["write_file"]:
        given = by_tool.get(name, {}).get("call", {})
        wanted = [argument for argument in given if argument in reading.arguments] or ["path", "content"]
        call = {argument: exact[argument][0] if exact.get(argument) else "" for argument in wanted[:8]}
        calls.append({"tool_name": name, "call": call, "result": {}})
    return json.dumps(calls, ensure_ascii=False, indent=2)


def save_example(script: GraderScript, text: str, *, by: User) -> None:
    """Keep what was typed, whether it is right yet or not. Too long or unstorable text is not kept."""
    if len(text) <= LONGEST_EXAMPLE and "\0" not in text:
        ScriptExample.objects.update_or_create(script=script, defaults={"text": text, "written_by": by})
