"""Results of a pilot, for commands, the API and pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evaluation.judging.judged import comp_of, session_items
from evaluation.judging.judgings import Rules, rules_to_json
from evaluation.metrics.comparison import AblatedSession, ablation_json
from evaluation.metrics.scores import Score, TaskResult, benchmark_score, mean, persona_score, proc, spread
from evaluation.metrics.sessions import METRICS
from evaluation.models import JudgingRound, ModelCall, Pilot, Session, Turn
from evaluation.models.sessions import PARTS
from evaluation.protocol.modes import Arm, PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.voice import UserStyle
from evaluation.results.loading import JudgedPilot, load_pilot
from evaluation.results.model_answers import model_answers
from evaluation.store.usage import Use, as_ran, use_by_part
from studio.domain.base import JsonDict
from studio.domain.persona import PersonaSpec
from studio.domain.tool_servers import FOLDER
from studio.models import PersonaRevision
from studio.personas.tool_servers import servers_of

State = Session.State


def pilot_report(pilot: Pilot) -> dict[str, Any]:
    loaded = load_pilot(pilot)
    calls = ModelCall.objects.filter(session__run__pilot=pilot)
    by_run: dict[Any, dict[str, TaskResult]] = defaultdict(dict)
    for session in loaded.sessions:
        by_run[_run_key(session)][loaded.results[session.pk].task_id] = loaded.results[session.pk]
    return {
        "pilot": pilot.pk,
        "number": pilot.number,
        "benchmark": pilot.benchmark.slug,
        "agent": pilot.agent_name,
        "kind": pilot.agent_kind.kind,
        "mode": pilot.mode,
        "protocol": pilot.protocol,
        "agent_loop": pilot.agent_loop,
        "base": pilot.base.number if pilot.base else None,
        "tool_servers": frozen_servers(pilot),
        "state": pilot.state,
        "scripted": pilot.scripted,
        "drafts": pilot.drafts,
        "agent_judges_itself": pilot.agent_judges_itself,
        "user_style": pilot.user_style,
        "said_verbatim": answers_said_verbatim(pilot),
        "judging": judging_json(loaded.rounds[0], loaded.rules),
        "sessions": [_session(loaded, session, by_run[_run_key(session)]) for session in loaded.sessions],
        "scores": scores_json(loaded),
        "use": {part: _use(use) for part, use in use_by_part(as_ran(calls)).items()},
    }


def _use(use: Use) -> dict[str, Any]:
    tokens = use.tokens
    told = {"prompt": tokens.prompt, "cached": tokens.cached, "completion": tokens.completion}
    return {"calls": use.calls, **told, "cost": str(use.cost), "unpriced": use.unpriced}


def ablation_rows(scores: Mapping[str, Any] | None) -> list[tuple[str, list[tuple[str, Any]]]]:
    """By scoring mode and metric, in the order of other tables; what is stored as JSON has none."""
    pairs = (scores or {}).get("ablation", {})
    modes = [mode for mode in ScoringMode if mode in pairs]
    return [(mode.value, [(name, pairs[mode][name]) for name in METRICS]) for mode in modes]


def answers_said_verbatim(pilot: Pilot) -> int:
    """Of a user who speaks in the persona's voice: answers of which no phrasing held."""
    return Turn.objects.filter(session__run__pilot=pilot, next_style=UserStyle.VERBATIM).count()


def _run_key(session: Session) -> tuple[int, int, str]:
    """Chains of one run count together, the arms of an ablation apart."""
    return session.run.persona_revision.persona_id, session.run.number, session.run.arm


def judging_json(judging_round: JudgingRound, rules: Rules) -> dict[str, Any]:
    """What scores: judge, prompts, samples and credit rules."""
    judge = {key: judging_round.judge.get(key) for key in ("name", "model", "effort", "params")}
    return {
        "round": judging_round.number,
        "purpose": judging_round.purpose,
        "protocol": judging_round.protocol,
        "judge": judge,
        "prompts": judging_round.prompts,
        "samples": judging_round.samples,
        "rules": rules_to_json(rules),
    }


def _session(loaded: JudgedPilot, session: Session, run: Mapping[str, TaskResult]) -> dict[str, Any]:
    task, result, judged = loaded.task(session), loaded.results[session.pk], loaded.judged[session.pk]
    items = session_items(task, session.state, judged, loaded.rules)
    comp = comp_of(session, task, judged, loaded.rules)
    said = session.pilot.said_in_request(session.run.persona_revision.persona.user_id, task.task_id)
    failed = session.state == State.FAILED
    value, modes = proc(result, run, ScoringMode.STRICT), loaded.pilot.terms.modes
    return {
        "session": session.pk,
        "persona": session.run.persona_revision.persona.user_id,
        "task": task.task_id,
        "run": session.run.number,
        "arm": session.run.arm,
        "taken_from": session.pilot.number if session.run.pilot_id != loaded.pilot.pk else None,
        "state": session.state,
        "reason": session.reason,
        "blocked": session.blocked,
        "setup": task.is_setup,
        "turns": session.turn_count,
        "intents": [
            {
                "index": index,
                "status": judged.status(index).status,
                "turn": judged.status(index).turn or None,
                "in_request": index in said,
            }
            for index in range(1, len(task.intents) + 1)
        ],
        "items": [
            {
                "index": item.index,
                "grader": item.grader,
                **{mode.value: graded[mode].value for mode in modes},
                "turn": graded[ScoringMode.STRICT].turn or graded[ScoringMode.COMPAT].turn,
                "regressed": graded[ScoringMode.STRICT].regressed,
            }
            for item, graded in items
        ],
        "ungraded": loaded.ungraded(session),
        "proc": None if task.is_setup else value,
        "comp": {mode.value: _comp_said(comp[mode], mode, failed=failed and bool(items)) for mode in modes},
        "tokens": session.tokens,
        "judge_tokens": {mode: getattr(session, f"{mode}_tokens") for mode in modes},
    }


def _comp_said(value: float | None, mode: ScoringMode, *, failed: bool) -> float | None:
    """Of a session that the agent failed: 0 in strict, left out in compat."""
    if failed:
        return 0.0 if mode == ScoringMode.STRICT else None
    return value


def scores_json(loaded: JudgedPilot) -> dict[str, Any]:
    """By scoring mode: the mean over personas per run, then mean and deviation over runs."""
    sessions, results = [row for row in loaded.sessions if row.run.arm != Arm.WITHOUT], loaded.results
    tasks: dict[str, dict[int, list[TaskResult]]] = defaultdict(lambda: defaultdict(list))
    for session in sessions:
        tasks[session.run.persona_revision.persona.user_id][session.run.number].append(results[session.pk])
    numbers = sorted({session.run.number for session in sessions})
    scores: dict[str, Any] = {}
    personas: dict[str, dict[str, Any]] = {user: {} for user in tasks}
    modes = loaded.pilot.terms.modes
    for mode in modes:
        by_persona = {user: {k: persona_score(runs[k], mode) for k in numbers} for user, runs in tasks.items()}
        scores[mode] = _over_runs({k: benchmark_score(scored[k] for scored in by_persona.values()) for k in numbers})
        for user, scored in by_persona.items():
            personas[user][mode] = _over_runs(scored)
    if loaded.pilot.mode == PilotMode.ABLATION:
        ablated = (
            AblatedSession(
                row.pk,
                row.run.persona_revision.persona.user_id,
                row.run.number,
                row.run.arm != Arm.WITHOUT,
                results[row.pk],
            )
            for row in loaded.sessions
        )
        scores["ablation"] = ablation_json(ablated, modes)
    own = [row for row in loaded.sessions if row.run.pilot_id == loaded.pilot.pk]
    return scores | {
        "mode": loaded.pilot.mode,
        "protocol": loaded.pilot.protocol,
        "agent_loop": loaded.pilot.agent_loop,
        "personas": personas,
        "runs": len(numbers),
        "ungraded": sum(loaded.ungraded(session) for session in sessions),
        "judge_tokens": {mode: sum(getattr(row, f"{mode}_tokens") for row in own) for mode in modes},
        "tokens": {part: sum(row.tokens[part] for row in own) for part in PARTS},
        "cost": str(sum((session.cost for session in own), start=0)),
        "model": asdict(model_answers(session.pk for session in own)),
        "scripted": loaded.pilot.scripted,
    }


def _over_runs(scores: Mapping[int, Score]) -> dict[str, Any]:
    """``n``, ``failed``, ``missing`` and ``blocked`` count scored sessions over all runs."""
    rows = list(scores.values())
    return {
        "proc": mean(row.proc for row in rows),
        "proc_std": spread(row.proc for row in rows),
        "comp": mean(row.comp for row in rows),
        "comp_std": spread(row.comp for row in rows),
        "n": sum(row.n for row in rows),
        "failed": sum(row.failed for row in rows),
        "missing": sum(row.missing for row in rows),
        "blocked": sum(row.blocked for row in rows),
        "runs": [{"run": number, **asdict(score)} for number, score in scores.items()],
    }


def frozen_servers(pilot: Pilot) -> list[JsonDict]:
    """``[{"persona", "name", "hash", "tools"}]``: the hash is of the tools' names, descriptions and parameters."""
    rows = PersonaRevision.objects.filter(pk__in=pilot.runs.values("persona_revision"))
    having = [row for row in rows if any(file["path"].startswith(f"{FOLDER}/") for file in row.spec.get("files", ()))]
    specs = [PersonaSpec.model_validate(row.spec) for row in having]
    return [
        {
            "persona": spec.user_id,
            "name": row.name,
            "hash": row.server.hash,
            "tools": [tool.to_json() for tool in row.server.tools],
        }
        for spec in sorted(specs, key=lambda spec: spec.user_id)
        for row in servers_of(spec)
        if row.server
    ]
