"""Results as Every Eval Ever has them (arXiv 2606.14516): a JSON document of all scores, and a line for each score of
each session. Schema 0.3.0 of https://github.com/evaleval/every_eval_ever.

It cannot carry terminal statuses, verdicts with their evidence, files, or that tasks of a group depend on one another.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from evaluation.endpoints.services import BY_HOST
from evaluation.grading.work import PlayedTurn
from evaluation.metrics.intervals import RESAMPLES, Estimate
from evaluation.metrics.leaderboard import AgentScores, leaderboard
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession
from evaluation.protocol.prompt_files import UnknownPromptError, load_prompt
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import Terms
from evaluation.runner.errors import PibenchError
from evaluation.runner.results import Results
from evaluation.runner.scores import TITLES, score
from studio import __version__
from studio.domain.episode import Split
from studio.domain.opening_message import text_of
from studio.domain.task import TaskSpec

T = TypeVar("T")
SCHEMA = "0.3.0"
LIBRARY = "pi-bench-studio"
PROMPTS: Mapping[Metric, Any] = {"proc": "satisfaction", "comp": "checklist"}
"""Of the judge that the score mostly follows from."""
WHAT: Mapping[Metric, str] = {
    "proc": "Share of hidden intents that the agent met or asked for without being told.",
    "comp": "Share of the checklist's weight that the agent's work met.",
}


@dataclass(frozen=True)
class Source:
    """Who tells the results."""

    organization: str = "unknown"
    relationship: str = "other"
    """Of the one who evaluated and the model."""


@dataclass(frozen=True)
class SampleOf:
    """One session, and the key by which its scores are found."""

    key: int
    task: TaskSpec
    turns: Sequence[PlayedTurn]


@dataclass(frozen=True)
class Evaluated:
    """One agent's results on one benchmark."""

    benchmark: str
    version: str
    pack: str
    """sha256; empty: of no pack."""
    terms: Terms
    began: datetime
    agent: str
    models: Mapping[str, Mapping[str, Any]]
    """By role: name, model, base_url, params."""
    prompts: Mapping[str, Mapping[str, str]]
    scores: Mapping[ScoringMode, AgentScores]
    scored: Sequence[ScoredSession]
    samples: Iterable[SampleOf]
    """Those of public tasks, read once; of others only scores are told."""
    source: Source = field(default_factory=Source)
    number: int = 1
    """Of the results, among those that began in the same second."""

    @property
    def model_id(self) -> str:
        return _model_id(self.models["agent"])

    @property
    def has_score(self) -> bool:
        return any(agent.scores[metric].mean is not None for agent in self.scores.values() for metric in METRICS)

    @property
    def name(self) -> str:
        return "-".join(self.benchmark.lower().split()) or "benchmark"

    @property
    def evaluation_id(self) -> str:
        return f"{self.name}/{self.model_id}/{int(self.began.timestamp())}"


def evaluated(results: Results, source: Source) -> Evaluated:
    """Results in a folder."""
    scored, run = score(results), results.run
    return Evaluated(
        run.pack.name,
        run.pack.version,
        run.pack.sha256,
        run.terms,
        datetime.fromisoformat(run.started),
        results.agent,
        run.models.model_dump(),
        {name: prompt.model_dump() for name, prompt in run.prompts.items()},
        {mode: leaderboard(results.rows(), scored.scored, mode)[0] for mode in scored.modes},
        scored.scored,
        (
            SampleOf(at, session.task, [checkpoint.played for checkpoint in session.kept.turns])
            for at, session in tellable(
                (
                    (at, session),
                    (session.planned.persona, session.planned.run, session.planned.chain),
                    session.known.split == Split.PUBLIC,
                )
                for at, session in enumerate(results.sessions)
            )
        ),
        source,
    )


def tellable(sessions: Iterable[tuple[T, Hashable, bool]]) -> Iterator[T]:
    """Public sessions, up to the first of their chain that is not: its workspace and memory may tell of that one.

    ``sessions``: in run order, each with its chain and whether its task is public.
    """
    closed: set[Hashable] = set()
    for session, chain, is_public in sessions:
        if not is_public:
            closed.add(chain)
        elif chain not in closed:
            yield session


def eee_files(of: Evaluated) -> Iterator[tuple[str, IO[bytes]]]:
    """Path, as their repository wants it, and content, which whoever reads it closes. The same results give the same
    bytes; one session is in memory at a time. Raises PibenchError if there is no score."""
    if not of.has_score:
        raise PibenchError("There is no score to export.", "Finish the run first.")
    digest = hashlib.sha256(f"{of.evaluation_id} {of.pack} {of.agent} {of.terms} {of.number}".encode()).digest()
    developer, _, model = of.model_id.partition("/")
    path = f"data/{_part(of.name)}/{_part(developer)}/{_part(model)}/{uuid.UUID(bytes=digest[:16], version=4)}"
    samples, sha256, number = tempfile.TemporaryFile(), hashlib.sha256(), 0  # noqa: SIM115
    for row in _rows(of):
        number += 1
        line = f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n".encode("utf-8", "replace")
        samples.write(line)
        sha256.update(line)
    document = _document(of)
    if number:
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{path}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": sha256.hexdigest(),
            "total_rows": number,
        }
    whole = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8", "replace") + b"\n"
    yield f"{path}.json", io.BytesIO(whole)
    samples.seek(0)
    if number:
        yield f"{path}_samples.jsonl", samples
    else:
        samples.close()


def _document(of: Evaluated) -> dict[str, Any]:
    began = str(int(of.began.timestamp()))
    return {
        "schema_version": SCHEMA,
        "evaluation_id": of.evaluation_id,
        "evaluation_timestamp": began,
        "retrieved_timestamp": began,
        "source_metadata": {
            "source_name": f"{of.benchmark} {of.version}".strip(),
            "source_type": "evaluation_run",
            "source_organization_name": of.source.organization,
            "evaluator_relationship": of.source.relationship,
        },
        "eval_library": {"name": LIBRARY, "version": __version__},
        "model_info": _model(of.models["agent"]) | {"name": of.agent},
        "evaluation_results": [
            _result(of, mode, metric, estimate)
            for mode, agent in of.scores.items()
            for metric in METRICS
            if (estimate := agent.scores[metric]).mean is not None
        ],
    }


def _result(of: Evaluated, mode: ScoringMode, metric: Metric, estimate: Estimate) -> dict[str, Any]:
    details: dict[str, Any] = {"score": estimate.mean}
    if estimate.low is not None and estimate.high is not None:
        interval = {"lower": estimate.low, "upper": estimate.high, "confidence_level": 0.95}
        details["uncertainty"] = {
            "confidence_interval": {**interval, "method": "rescaled bootstrap over dependency groups within personas"},
            "num_samples": estimate.n,
            "num_bootstrap_samples": RESAMPLES,
        }
    if estimate.sd is not None:
        details["details"] = {"standard_deviation_over_runs": repr(estimate.sd)}
    judge = of.models["judge" if metric == "comp" else "user_model"]
    return {
        "evaluation_result_id": _result_id(of, mode, metric),
        "evaluation_name": f"{of.name}/{_result_id(of, mode, metric)}",
        "source_data": {
            "dataset_name": of.benchmark,
            "source_type": "other",
            "additional_details": {"version": of.version, "pack_sha256": of.pack},
        },
        "metric_config": {
            "evaluation_description": WHAT[metric],
            "metric_id": f"pi-bench.{metric}",
            "metric_name": TITLES[metric],
            "metric_kind": metric,
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
            "llm_scoring": {"judges": [{"model_info": _model(judge)}], "input_prompt": _prompt(of, metric)},
            "additional_details": {
                "protocol": of.terms.protocol,
                "agent_loop": str(of.terms.agent_loop),
                "scoring": mode,
                "prompts": json.dumps(of.prompts, sort_keys=True),
            },
        },
        "score_details": details,
    }


def _result_id(of: Evaluated, mode: ScoringMode, metric: Metric) -> str:
    return metric if len(of.scores) == 1 else f"{metric}-{mode}"


def _prompt(of: Evaluated, metric: Metric) -> str:
    try:
        prompt = load_prompt(PROMPTS[metric], of.prompts[PROMPTS[metric]]["version"])
    except (UnknownPromptError, LookupError):
        return "unknown"
    return f"{prompt.system}\n\n{prompt.user}"


def _rows(of: Evaluated) -> Iterator[dict[str, Any]]:
    scored = {each.row.key: each for each in of.scored}
    for sample in of.samples:
        if (found := scored.get(sample.key)) is None:
            continue
        messages = list(_messages(sample.turns))
        for mode in of.scores:
            for metric in METRICS:
                if (value := found.score(metric, mode)) is not None:
                    yield _row(of, sample, found, messages, (mode, metric, value))


def _row(
    of: Evaluated,
    sample: SampleOf,
    scored: ScoredSession,
    messages: Sequence[Mapping[str, Any]],
    told: tuple[ScoringMode, Metric, float],
) -> dict[str, Any]:
    mode, metric, value = told
    task, row = sample.task, scored.row
    wanted = [intent.content for intent in task.intents]
    reference = wanted if metric == "proc" else [item.criterion for item in task.scored_items]
    raw = task.initial_request
    return {
        "schema_version": SCHEMA,
        "evaluation_id": of.evaluation_id,
        "model_id": of.model_id,
        "evaluation_name": f"{of.name}/{_result_id(of, mode, metric)}",
        "evaluation_result_id": _result_id(of, mode, metric),
        "sample_id": f"{row.persona}/{task.task_id}/run-{row.run[1]}",
        "sample_hash": hashlib.sha256((raw + "".join(reference)).encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "agentic",
        "input": {"raw": raw, "reference": reference},
        "output": None,
        "messages": messages,
        "answer_attribution": [],
        "evaluation": {
            "score": value,
            "is_correct": value == 1,
            "num_turns": len(sample.turns) or None,
            "tool_calls_count": sum(len(turn.calls) for turn in sample.turns),
        },
        "metadata": {
            "persona": row.persona,
            "task": task.task_id,
            "run": str(row.run[1]),
            "outcome": row.result.outcome,
            "weight": str(scored.weight),
            "dependency_group": scored.group,
            "is_correct_if": "the score is 1",
        },
    }


def _messages(turns: Sequence[PlayedTurn]) -> Iterator[dict[str, Any]]:
    at = 0
    for turn in turns:
        yield {"turn_idx": at, "role": "user", "content": text_of(turn.message)}
        at += 1
        for number, call in enumerate(turn.calls, start=1):
            name = f"{turn.number}-{number}"
            arguments = {key: _string(value) for key, value in call.arguments.items()}
            made = {"id": name, "name": call.name, "arguments": arguments}
            yield {"turn_idx": at, "role": "assistant", "content": None, "tool_calls": [made]}
            yield {"turn_idx": at + 1, "role": "tool", "content": call.result, "tool_call_id": [name]}
            at += 2
        yield {"turn_idx": at, "role": "assistant", "content": turn.reply}
        at += 1


def _string(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _model(model: Mapping[str, Any]) -> dict[str, Any]:
    service = _service(model)
    return {
        "name": str(model["name"]),
        "id": _model_id(model),
        **({"inference_platform": service} if service else {}),
        "additional_details": {
            "deployment_type": "externally_managed" if service else "unknown",
            "model_availability": "unknown",
            "params": json.dumps(model.get("params") or {}, sort_keys=True),
            **({"effort": str(model["effort"])} if model.get("effort") else {}),
        },
    }


def _model_id(model: Mapping[str, Any]) -> str:
    """With the service in place of a developer that the name does not tell."""
    name = str(model["model"])
    return name if "/" in name else f"{_service(model) or 'unknown'}/{name}"


def _service(model: Mapping[str, Any]) -> str:
    return BY_HOST.get(urlsplit(str(model.get("base_url") or "")).netloc, "")


def _part(name: str) -> str:
    """Of a path."""
    plain = "".join(filter(str.isprintable, name)).replace("/", "_").replace("..", "_").strip()[:100]
    return "unknown" if plain in {"", "."} else plain
