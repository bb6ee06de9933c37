"""What happened in the sessions: how intents came to light (paper, Table 7), by turn, questions, failure patterns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.metrics.asking import Asking, asking_by_agent, count_questions
from evaluation.metrics.failures import PATTERNS, IntentRecord, Match, SessionStory, ToolUse, find_patterns
from evaluation.metrics.leaderboard import status_counts
from evaluation.metrics.sessions import STATUSES, SessionRow
from evaluation.models import ToolCall, Turn
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import UNGROUPED, Results, category_names
from evaluation.results.figures.figure import Chart, Column, Figure, estimate_values

NOTE = (
    "Completed: done without being asked. Inferred: asked for with a question that hit it. Provided: the user had to "
    "say it. The first two count for Proc."
)
SHARES = [*[Column(status, status.capitalize(), "percent") for status in STATUSES], Column("n", "Intents", "count")]


def statuses(results: Results, mode: ScoringMode) -> Figure:
    rows = [_row(counts) | {"agent": agent} for agent, counts in status_counts(results.rows).items()]
    rows = [row | {"sessions": {"agent": row["agent"]}} for row in rows if row["n"]]
    return Figure(
        "statuses",
        "Terminal statuses of intents",
        NOTE,
        [Column("agent", "Agent"), *SHARES],
        rows,
        Chart("stack", x=STATUSES),
    )


def statuses_by_persona(results: Results, mode: ScoringMode) -> Figure:
    return _split(results, "persona", "Persona", lambda row: row.persona, {})


def statuses_by_category(results: Results, mode: ScoringMode) -> Figure:
    names = category_names(results.benchmark)
    return _split(results, "category", "Category", lambda row: row.labels.get("category", ""), names)


def _split(
    results: Results, key: str, heading: str, value_of: Callable[[SessionRow], str], names: Mapping[str, str]
) -> Figure:
    rows: list[dict[str, Any]] = []
    for value in sorted({value_of(row) for row in results.rows}):
        counted = status_counts(row for row in results.rows if value_of(row) == value)
        for agent, counts in counted.items():
            if (row := _row(counts))["n"]:
                name = f"{value} · {names[value]}" if value in names else value or UNGROUPED
                rows.append({key: name, "agent": agent} | row | {"sessions": {"agent": agent, key: value}})
    return Figure(
        f"statuses_by_{key}",
        f"Terminal statuses by {heading.lower()}",
        NOTE,
        [Column(key, heading), Column("agent", "Agent"), *SHARES],
        rows,
        Chart("stack", x=STATUSES, group=key),
    )


def _row(counts: Mapping[str, int]) -> dict[str, Any]:
    total = sum(counts[status] for status in STATUSES)
    return {status: counts[status] / total if total else None for status in STATUSES} | {"n": total}


LAST_TURN = 6
"""Later turns are counted together."""
Questions = Mapping[int, Mapping[int, int]]
"""By session and turn."""


def statuses_by_turn(results: Results, mode: ScoringMode) -> Figure:
    counts: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    totals: Counter[str] = Counter()
    for session in results.decisions.values():
        for status in session.judged.statuses.values():
            counts[session.row.agent][min(status.turn, LAST_TURN)][status.status] += 1
            totals[session.row.agent] += 1
    rows = [
        {"agent": agent, "turn": _turn_name(turn)}
        | {status: by_status[status] / totals[agent] for status in STATUSES}
        | {"n": by_status.total(), "sessions": {"agent": agent}}
        for agent, by_turn in sorted(counts.items())
        for turn, by_status in sorted(by_turn.items())
    ]
    return Figure(
        "statuses_by_turn",
        "Terminal statuses by turn",
        f"Of all intents of the agent, the share that came to light in the turn. {NOTE}",
        [
            Column("agent", "Agent"),
            Column("turn", "Turn"),
            *[Column(status, status.capitalize(), "percent") for status in STATUSES],
            Column("n", "Intents", "count"),
        ],
        rows,
        Chart("stack", label="turn", x=STATUSES, group="agent"),
    )


def _turn_name(turn: int) -> str:
    return "from the start" if turn == 0 else f"{turn} or later" if turn == LAST_TURN else str(turn)


def asking(results: Results, mode: ScoringMode) -> Figure:
    scores = {agent.agent: agent.scores["proc"] for agent in results.board(mode)}
    rows: list[dict[str, Any]] = []
    for row in asking_by_agent(_asked_sessions(results)):
        rows.append(
            {
                "agent": row.agent,
                "precision": row.precision,
                "recall": row.recall,
                "questions": row.questions_a_session,
                "asking_turns": row.asking_turns,
                "hits": row.hits,
                "sessions": {"agent": row.agent},
            }
            | (estimate_values("proc", scores[row.agent]) if row.agent in scores else {})
        )
    return Figure(
        "asking",
        "Precision of asking",
        "Precision: of the replies that ask, the share whose question or proposal hit a hidden intent. Recall: of the "
        "intents that were not done unasked, the share that was asked for. Questions are counted by their question "
        "marks, outside code. Asking much and hitting little costs no Proc, so it shows here.",
        [
            Column("agent", "Agent"),
            Column("precision", "Precision", "percent"),
            Column("recall", "Recall", "percent"),
            Column("questions", "Questions a session", "number"),
            Column("asking_turns", "Replies that ask", "count"),
            Column("hits", "Intents hit", "count"),
            Column("proc", "Proc", "percent"),
        ],
        rows,
        Chart("scatter", x=("precision",), y="proc"),
    )


def failures(results: Results, mode: ScoringMode) -> Figure:
    matches = failure_matches(results, mode)
    stories = _stories(results, mode)
    sessions = Counter(story.agent for story in stories)
    measurable = {
        (name, story.agent) for name, pattern in PATTERNS.items() for story in stories if pattern.could_show(story)
    }
    agents = sorted(sessions)
    found = Counter((match.pattern, match.agent) for match in matches)
    rows = [
        {"pattern": pattern.label, "rule": pattern.rule, "name": name}
        | {agent: found[name, agent] / sessions[agent] if (name, agent) in measurable else None for agent in agents}
        | {"n": sum(found[name, agent] for agent in agents), "sessions": {"pattern": name}}
        | {"links": {agent: {"pattern": name, "agent": agent} for agent in agents if (name, agent) in measurable}}
        for name, pattern in PATTERNS.items()
    ]
    return Figure(
        "failures",
        "Failure patterns",
        "The share of the agent’s scored sessions that show the pattern, in percent, found by rule. Each number opens "
        "its sessions with the evidence. –: not measurable, since none of them could show it, as where no intent lasts "
        "across sessions.",
        [
            Column("pattern", "Pattern"),
            *[Column(agent, agent, "percent") for agent in agents],
            Column("n", "Sessions", "count"),
            Column("rule", "When"),
        ],
        rows if sessions else [],
        Chart("heat", label="pattern", x=agents),
    )


def failure_matches(results: Results, mode: ScoringMode) -> list[Match]:
    return results.once(("failures", mode.value), lambda: find_patterns(_stories(results, mode)))


def _stories(results: Results, mode: ScoringMode) -> list[SessionStory]:
    questions, tools = _questions(results), _tools(results)
    stories = []
    for key, session in results.decisions.items():
        row = session.row
        if row.result.setup:
            continue
        intents = [
            IntentRecord(
                index,
                intent.content,
                intent.scope == "persistent",
                session.judged.status(index).status,
                session.judged.status(index).turn,
            )
            for index, intent in enumerate(session.task.intents, start=1)
            if intent.initial_status != "provided"
        ]
        unmet = [item.criterion for item, met in session.criteria(mode) if met is False]
        stories.append(
            SessionStory(
                key,
                row.agent,
                row.result.depends_on,
                row.result.comp.get(mode),
                intents,
                unmet,
                questions.get(key, {}),
                tools.get(key, ()),
            )
        )
    return stories


def _asked_sessions(results: Results) -> list[Asking]:
    questions = _questions(results)
    asked = []
    for key, session in results.decisions.items():
        own = {turn for turn, number in questions.get(key, {}).items() if number}
        statuses = session.judged.statuses.values()
        hit = [status.turn for status in statuses if status.status == "inferred"]
        asked.append(
            Asking(
                session.row.agent,
                sum(questions.get(key, {}).values()),
                len(hit),
                len(own | set(hit)),
                len(set(hit)),
                sum(status.status != "completed" and status.turn > 0 for status in statuses),
            )
        )
    return asked


def _questions(results: Results) -> Questions:
    return results.once(("questions",), lambda: _count_questions(results))


def _count_questions(results: Results) -> dict[int, dict[int, int]]:
    counted: dict[int, dict[int, int]] = defaultdict(dict)
    replies = Turn.objects.filter(session__in=list(results.decisions)).order_by()
    for session, number, reply in replies.values_list("session", "number", "reply").iterator():
        if "?" in reply:
            counted[session][number] = count_questions(reply)
    return dict(counted)


def _tools(results: Results) -> dict[int, Sequence[ToolUse]]:
    """Of each session and tool, the last call."""
    uses: dict[int, list[ToolUse]] = defaultdict(list)
    calls = (
        ToolCall.objects.filter(turn__session__in=list(results.decisions), ok=True)
        .order_by("turn__session", "name", "-turn__number", "-position")
        .distinct("turn__session", "name")
    )
    for session, name, turn, position in calls.values_list("turn__session", "name", "turn__number", "position"):
        uses[session].append(ToolUse(name, turn, position))
    return dict(uses)
