"""The manifest of a release, ``pack.json``: all that is said of a pack is made from it and the revisions it pins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Q

from evaluation.assistance.provenance import tasks_with_proposed_texts, told_origins
from evaluation.feasibility.packed import document_path
from evaluation.pilots.plans import said_by_task
from evaluation.probes.standing import probe_limits, standings
from evaluation.releases.candidate import ReleaseCandidate
from evaluation.releases.pins import Pin, parts_of
from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.persona import Skill
from studio.domain.plan import dependency_groups
from studio.domain.skills import SKILL_FILE, one_line_description
from studio.domain.text_origins import KEY, TextOrigin, to_rows
from studio.domain.tool_catalog import tool_summaries
from studio.domain.tool_names import APP_PREFIX, tool_domain
from studio.drafts.load import load_tasks
from studio.models import Blob, Category, ErrorWaiver, Finding, GraderScript, Review, Revision, User
from studio.models.tasks import APPROVED


class Said(NamedTuple):
    """What somebody said of a release, and when."""

    version: str
    released: str
    """ISO date."""
    exceptions: Sequence[JsonDict]
    changes: JsonDict | None
    """``{"notes", "tasks"}`` since the release before; None for the first one."""
    credits: JsonDict


def manifest_of(whole: ReleaseCandidate, pins: Sequence[Pin], said: Said, splits: Sequence[Split]) -> JsonDict:
    """Of the pack of these splits; the first is that of its documents. Independent of time and place but for
    ``said``."""
    candidate = whole.of(splits)
    statistics = _statistics(candidate, pins, splits)
    personas = statistics["personas"]
    approvers = _approvers(candidate)
    told = said_by_task([row.pk for row in candidate.tasks])
    solved = {revision for pin in pins for revision in pin.solutions}
    proposed = told_origins(
        load_tasks({row.pk for row in candidate.tasks} & tasks_with_proposed_texts(candidate.benchmark))
    )
    benchmark = candidate.benchmark
    return {
        "format": "pi-bench-v2",
        "benchmark": {"slug": benchmark.slug, "name": benchmark.name, "description": benchmark.description},
        "version": said.version,
        "released": said.released,
        "canary": benchmark.canary_of(splits[0]),
        "splits": _splits(candidate, splits),
        "credits": said.credits,
        "totals": {
            "personas": len(personas),
            "tasks": sum(row["tasks"] for row in personas),
            "hidden_intents": sum(row["local"] + row["persistent"] for row in personas),
            "checklist_items": sum(row["rubric"] + row["rule"] - row["script_checks"] for row in personas),
            "grader_checks": sum(row["script_checks"] for row in personas),
            "dependency_groups": sum(row["groups"] for row in personas),
        },
        "statistics": statistics,
        "tasks": [
            {
                "persona": row.persona.user_id,
                "task": row.task_id,
                "split": row.split,
                "revision": candidate.revisions[row.pk].number,
                "sha256": candidate.revisions[row.pk].sha256,
                "approved_by": approvers.get(candidate.revisions[row.pk].pk, []),
                "said_in_request": told.get(row.pk, []),
                **(
                    {"solution": document_path(row.persona.user_id, row.task_id)}
                    if candidate.revisions[row.pk].pk in solved
                    else {}
                ),
                **({KEY: to_rows(proposed[row.pk])} if proposed.get(row.pk) else {}),
            }
            for row in candidate.tasks
        ],
        "made": _made(candidate, [origin for own in proposed.values() for origin in own]),
        "evidence": _evidence(candidate) if len(candidate.tasks) < len(whole.tasks) else whole.evidence.to_json(),
        "validation": _validation(candidate),
        "exceptions": list(said.exceptions),
        "set_aside": _dismissed_errors(candidate),
        **({"changes": said.changes} if said.changes else {}),
    }


def _splits(candidate: ReleaseCandidate, splits: Sequence[Split]) -> JsonDict:
    """Their numbers of tasks and canaries; a split other than the pack's own is told only if it has tasks."""
    counts = Counter(row.split for row in candidate.tasks)
    return {
        split.value: {"tasks": counts[split], "canary": candidate.benchmark.canary_of(split)}
        for split in splits
        if split == splits[0] or counts[split]
    }


def _evidence(candidate: ReleaseCandidate) -> JsonDict:
    """Without the personas that the pack has not; other figures are of the whole benchmark."""
    evidence, personas = candidate.evidence.to_json(), {row.persona.user_id for row in candidate.tasks}
    pilots = []
    for pilot in evidence["pilots"]:
        scores, servers = pilot["scores"], pilot.get("tool_servers")
        if scores and "personas" in scores:
            of_personas = {name: each for name, each in scores["personas"].items() if name in personas}
            pilot = {**pilot, "scores": {**scores, "personas": of_personas}}
        if servers:
            pilot = {**pilot, "tool_servers": [row for row in servers if row["persona"] in personas]}
        pilots.append(pilot)
    return {**evidence, "pilots": pilots}


def _validation(candidate: ReleaseCandidate) -> JsonDict:
    """Which of its tasks that score are validated, and why the others are not."""
    released = {row.pk for row in candidate.tasks}
    validated, not_validated, models = list[JsonDict](), list[JsonDict](), set[str]()
    for each in standings(candidate.benchmark):
        name = {"persona": each.row.persona.user_id, "task": each.task.task_id}
        if each.row.pk not in released or each.exempt:
            continue
        if each.validated:
            validated.append(name)
            models |= each.models
        else:
            not_validated.append({**name, "why": each.why})
    return {
        "wanted": candidate.benchmark.validated_releases,
        "tasks": len(validated) + len(not_validated),
        "validated": validated,
        "models": sorted(models),
        "limits": probe_limits(candidate.benchmark),
        "not_validated": not_validated,
    }


def _statistics(candidate: ReleaseCandidate, pins: Sequence[Pin], splits: Sequence[Split]) -> JsonDict:
    """Tables 2 to 5 of the paper."""
    rows = {pin.persona: pin.row for pin in pins}
    scripts = GraderScript.objects.filter(persona__in=rows.values()).values_list("persona", "path", "keys")
    checks = {(persona, path): len(keys or ()) for persona, path, keys in scripts}
    personas, used = [], Counter[str]()
    having, categories = Counter[str](), Counter[str]()
    skills: dict[str, str] = {}
    skills_having, skills_used = Counter[str](), Counter[str]()
    for revision, episode in parts_of(pins, splits):
        scripted = sum(checks.get((rows[revision], script.path), 0) for script in episode.persona.scripts)
        personas.append(_figures(episode, scripted))
        having.update(episode.persona.tools)
        for skill in episode.persona.skills:
            skills_having[skill.name] += 1
            skills.setdefault(skill.name, _main_file(skill))
        for task in (*episode.tasks, *episode.unplaced):
            used.update(task.tools_named)
            skills_used.update(set(task.skills))
            categories[task.category] += 1
    summaries = tool_summaries(list(having))
    texts = Blob.objects.read([sha256 for sha256 in skills.values() if sha256])
    tools = [
        {
            "name": name,
            "domain": tool_domain(name),
            "description": summaries[name],
            "personas": number,
            "tasks": used[name.removeprefix(APP_PREFIX)],
        }
        for name, number in having.items()
    ]
    return {
        "personas": personas,
        "tools": sorted(tools, key=lambda tool: (tool["domain"], tool["name"])),
        "skills": [
            {
                "name": name,
                "description": one_line_description(texts.get(skills[name], b"").decode("utf-8", "replace")),
                "personas": skills_having[name],
                "tasks": skills_used[name],
            }
            for name in sorted(skills)
        ],
        "categories": _categories(candidate, categories),
    }


def _figures(episode: EpisodeSpec, script_checks: int) -> JsonDict:
    tasks = (*episode.tasks, *episode.unplaced)
    scopes = Counter(intent.scope for task in tasks for intent in task.intents)
    graders = Counter(item.grader for task in tasks for item in task.scored_items)
    return {
        "persona": episode.persona.user_id,
        "name": episode.persona.name,
        "occupation": episode.persona.occupation,
        "tasks": len(tasks),
        "groups": len(dependency_groups(episode.tasks)),
        "local": scopes["session_local"],
        "persistent": scopes["persistent"],
        "rubric": graders["rubric"],
        "rule": graders["rule"] + script_checks,
        "script_checks": script_checks,
        "dependencies": sum(len(task.depends_on) for task in tasks),
        "files": sum(len(task.assets) for task in tasks),
        "tools": len(episode.persona.tools),
        "skills": len(episode.persona.skills),
    }


def _main_file(skill: Skill) -> str:
    """Its sha256; empty if there is none."""
    return next((file.sha256 for file in skill.files if file.path.upper() == SKILL_FILE.upper()), "")


def _categories(candidate: ReleaseCandidate, counts: Counter[str]) -> list[JsonDict]:
    taxonomy = candidate.benchmark.taxonomy_id
    known = dict(Category.objects.filter(taxonomy=taxonomy).values_list("code", "name")) if taxonomy else {}
    others = sorted(counts.keys() - known.keys())
    known |= {code: "not in the taxonomy" if code else "in no category" for code in others}
    return [{"code": code, "name": name, "tasks": counts[code]} for code, name in known.items()]


def _made(candidate: ReleaseCandidate, origins: Sequence[TextOrigin]) -> JsonDict:
    """By how many people, and which of its texts are still a model's, as proposed or edited: ``origins``."""
    numbers = {row.pk: candidate.revisions[row.pk].number for row in candidate.tasks}
    people = User.objects.filter(
        Q(pk__in=Revision.objects.filter(task__in=numbers).values("created_by"))
        | Q(pk__in=Revision.origin_authors.through.objects.filter(revision__task__in=numbers).values("user"))
    )
    texts = Counter((origin.model, origin.scripted) for origin in origins)
    edits = Counter((origin.model, origin.scripted) for origin in origins if origin.edited)
    return {
        "authors": people.count(),
        "versions": sum(numbers.values()),
        "model_help": [
            {"model": model, "scripted": scripted, "texts": number, "edited": edits[model, scripted]}
            for (model, scripted), number in sorted(texts.items())
        ],
    }


def _approvers(candidate: ReleaseCandidate) -> dict[int, list[str]]:
    """Names of those who approved, by the key of the revision; only of tasks that count as approved."""
    approved = [candidate.revisions[row.pk].pk for row in candidate.tasks if row.state in APPROVED]
    decisions = (Review.Decision.APPROVED, Review.Decision.APPROVED_ELSEWHERE)
    names: dict[int, set[str]] = {}
    for review in Review.objects.filter(revision__in=approved, decision__in=decisions).select_related("reviewer"):
        names.setdefault(review.revision_id, set()).add(str(review.reviewer or "unknown"))
    return {revision: sorted(own) for revision, own in names.items()}


def _dismissed_errors(candidate: ReleaseCandidate) -> list[JsonDict]:
    """Errors that an owner dismissed, so that users of the release can judge the reasons."""
    tasks = {task.pk: task for task in candidate.tasks}
    current = set(Finding.objects.filter(task__in=tasks, severity="error").values_list("task_id", "fingerprint"))
    return [
        {
            "persona": tasks[dismissal.task_id].persona.user_id,
            "task": tasks[dismissal.task_id].task_id,
            "rule": dismissal.rule,
            "message": dismissal.message,
            "reason": dismissal.reason,
            "by": str(dismissal.by),
        }
        for dismissal in ErrorWaiver.objects.filter(task__in=tasks).select_related("by").order_by("task", "pk")
        if (dismissal.task_id, dismissal.fingerprint) in current
    ]
