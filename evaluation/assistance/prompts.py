"""Prompts for the assistant model. Text by people and files is escaped inside tags, so that it cannot close them and
pose as instructions, and its length is limited."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.assistance.answers import schema_of
from evaluation.assistance.kinds import SHOWS_WORKPLACE, ProposalRequest
from evaluation.assistance.material import Material, translatable_texts
from evaluation.assistance.proposals import text_of
from evaluation.protocol.prompts import escape, escape_attribute
from studio.domain.app_data import AppCard, AppTable
from studio.domain.checks.questions import is_written
from studio.domain.persona import PersonaSpec
from studio.domain.task import HiddenIntent, TaskSpec
from studio.domain.tool_catalog import ToolCard

PROMPTS_VERSION = 2
"""Increase with every change to the prompts, so that recorded answers are not reused."""
FILE_CHARACTERS = 6_000
ALL_CHARACTERS = 24_000
"""Limit for all files together, for a reference, for all earlier sessions, and for all tables of apps."""
TABLE_ROWS = 20
"""Records shown of each table of an app."""
TEXT_CHARACTERS = 8_000
"""Limit for any other text."""

INSTRUCTIONS = Path(__file__).parent / "instructions"
"""What the model is told: ``about.md`` always, and of each kind what to do."""


@dataclass(frozen=True)
class Prompt:
    kind: str
    system: str
    user: str
    schema: Mapping[str, Any]
    truncated: tuple[str, ...] = ()
    """Paths of files that are shown only in part, or not at all."""

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def build_prompt(request: ProposalRequest, material: Material) -> Prompt:
    """Deterministic: equal arguments give an identical prompt."""
    kind = request.kind
    shows_workplace = kind in SHOWS_WORKPLACE
    files, truncated = _files(material.files) if shows_workplace else ("", ())
    instructions = _told(kind).replace("{rules}", _told("rules")).replace("{language}", request.language)
    about = _told("about")
    if material.guidelines:
        instructions += f"\nGuidelines for authors, which what you propose must keep:\n{material.guidelines}"
    parts: list[str] = [f'<assignment kind="{kind}">\n{instructions}\n</assignment>']
    if kind == "translate":
        texts = translatable_texts(material.task, request.field)
        parts.append(_list("texts", (f'<text id="{name}">{escape(text)}</text>' for name, text in texts.items())))
        return Prompt(kind, about, "\n\n".join(parts), schema_of(kind))
    if kind in ("reword", "intents", "checklist"):
        parts.append(_persona(material.persona))
    parts += [_task(material), files]
    if kind == "intents":
        parts.append(_list("earlier_sessions", _earlier(material)))
    if shows_workplace:
        parts += [_list("tools", map(_tool, material.tools)), _list("apps", _apps(material.apps))]
    if kind in ("rule", "checklist"):
        parts.append(_list("records", _records(material.apps)))
        judged = dict.fromkeys((*material.task.files_read, *material.task.expected_paths))
        parts.append(_list("result_files", (f"<path>{escape(path)}</path>" for path in judged)))
    if kind == "reword":
        leaks = (f'<words intent="{number}">{escape(text)}</words>' for number, text in material.given_away)
        parts.append(_list("given_away", leaks))
    if kind in ("split", "rule"):
        parts.append(f"<bundle>{escape(text_of(material.task, request.field, request.uid) or '')}</bundle>")
    parts.append(_list("dismissed", (f"<text>{escape(text[:TEXT_CHARACTERS])}</text>" for text in material.dismissed)))
    if kind == "checklist":
        text, is_whole = _truncate(request.reference_text, ALL_CHARACTERS)
        truncated = () if is_whole else (request.reference,)
        name = escape_attribute(request.reference)
        parts.append(f'<reference name="{name}">\n{escape(text)}\n</reference>')
    return Prompt(kind, about, "\n\n".join(part for part in parts if part), schema_of(kind), truncated)


@cache
def _told(name: str) -> str:
    return (INSTRUCTIONS / f"{name}.md").read_text(encoding="utf-8").removesuffix("\n")


def _persona(persona: PersonaSpec) -> str:
    parts = {
        "name": persona.name,
        "occupation": persona.occupation,
        "role": persona.role_text,
        "routines": persona.routines,
        "working_style": persona.working_style,
        "facts": _values(persona.attributes),
        "preferences": _values(persona.preferences),
        "goals": "\n".join(map(str, persona.long_term_goals)),
    }
    return _list("person", (_element(name, text) for name, text in parts.items() if text.strip()))


def _values(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{name}: {'; '.join(map(str, value)) if isinstance(value, list) else value}" for name, value in values.items()
    )


def _task(material: Material) -> str:
    task = material.task
    parts = [
        _element("title", task.title),
        _element("description", task.description) if task.description.strip() else "",
        _event(task),
        _element("request", task.initial_request),
        _list("hidden_intents", (_intent(number, task.intents[number - 1]) for number, _ in material.written_intents)),
        _list(
            "checklist",
            (
                f'<item index="{number}">{escape(item.criterion[:TEXT_CHARACTERS])}</item>'
                for number, item in enumerate(task.checklist, 1)
                if is_written(item.criterion)
            ),
        ),
        _list(
            "builds_on",
            (
                f'<session id="{escape_attribute(each.task_id)}">{escape(each.carries_over)}</session>'
                for each in task.depends_on
            ),
        ),
    ]
    return "\n".join(part for part in parts if part)


def _event(task: TaskSpec) -> str:
    if task.trigger.kind == "user_message":
        return ""
    data = json.dumps(task.trigger.payload, ensure_ascii=False, indent=1, default=str)
    return f'<event kind="{task.trigger.kind}">\n{escape(data[:TEXT_CHARACTERS])}\n</event>'


def _intent(number: int, intent: HiddenIntent, tag: str = "intent") -> str:
    sources = ", ".join(" ".join(filter(None, (each.kind, each.ref))) for each in intent.recoverable_from)
    about = f'scope="{intent.scope}" found_in="{escape_attribute(sources)}"'
    return f'<{tag} index="{number}" {about}>{escape(intent.content[:TEXT_CHARACTERS])}</{tag}>'


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text[:TEXT_CHARACTERS])}</{name}>"


def _files(files: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    remaining, shown, truncated = ALL_CHARACTERS, [], []
    for path, text in files.items():
        part, is_whole = _truncate(text, min(FILE_CHARACTERS, remaining))
        remaining -= len(part)
        if not is_whole:
            truncated.append(path)
        if part:
            shown.append(f'<file path="{escape_attribute(path)}">\n{escape(part)}\n</file>')
    return _list("files", shown), tuple(truncated)


def _truncate(text: str, limit: int) -> tuple[str, bool]:
    return text[:limit], len(text) <= limit


def _earlier(material: Material) -> list[str]:
    """In order; where there are too many, the earliest with their titles only."""
    remaining, shown = ALL_CHARACTERS, []
    for task_id, task in reversed(list(material.earlier.items())):
        lines = [_element("title", task.title)]
        details = [
            _element("request", task.initial_request),
            *(_intent(n, intent, "need") for n, intent in enumerate(task.intents, 1) if is_written(intent.content)),
        ]
        if (size := sum(map(len, details))) <= remaining:
            remaining -= size
            lines += details
        shown.append("\n".join((f'<session id="{escape_attribute(task_id)}">', *lines, "</session>")))
    return shown[::-1]


def _tool(card: ToolCard) -> str:
    takes = ", ".join(parameter.name for parameter in card.parameters)
    about = f'name="{escape_attribute(card.name)}" takes="{escape_attribute(takes)}"'
    return f"<tool {about}>{escape((card.plain or card.description)[:TEXT_CHARACTERS])}</tool>"


def _apps(apps: Mapping[str, AppCard]) -> Iterator[str]:
    remaining = ALL_CHARACTERS
    for name, card in apps.items():
        for table in card.tables:
            text, _ = _truncate(_rows(table), min(FILE_CHARACTERS, remaining))
            remaining -= len(text)
            if text:
                about = f'app="{escape_attribute(name)}" name="{escape_attribute(table.name)}" records="{table.count}"'
                yield f"<table {about}>\n{escape(text)}\n</table>"


def _rows(table: AppTable) -> str:
    """Without passwords, on which nothing depends."""
    shown = [number for number, column in enumerate(table.columns) if column != "password"]
    rows = (table.columns, *table.rows[:TABLE_ROWS]) if table.rows else ()
    return "\n".join("\t".join(row[number] for number in shown) for row in rows)


def _records(apps: Mapping[str, AppCard]) -> Iterator[str]:
    for name, card in apps.items():
        for kind in card.kinds:
            table = escape_attribute(f"{name}.{kind.table}")
            yield f'<record table="{table}">{escape(", ".join(kind.fields))}</record>'


def _list(name: str, lines: Iterable[str]) -> str:
    inner = "\n".join(lines)
    return f"<{name}>\n{inner}\n</{name}>" if inner else ""
