"""Statistics of a benchmark, in a constant number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Literal

from django.db.models import Aggregate, Count, Q, QuerySet, Sum

from studio.domain.persona import script_path
from studio.domain.skills import one_line_description
from studio.domain.statistics import Figures
from studio.domain.tool_catalog import tool_summaries
from studio.domain.tool_names import APP_PREFIX, tool_domain
from studio.models import Benchmark, Blob, Category, GraderScript, Persona, Task, TaskState


@dataclass(frozen=True)
class ToolRow:
    name: str
    domain: str
    description: str
    personas: int
    tasks: int
    """Tasks that name it; a task that names none may use all."""


@dataclass(frozen=True)
class SkillRow:
    name: str
    description: str
    personas: int
    tasks: int


@dataclass(frozen=True)
class CategoryRow:
    code: str
    name: str
    description: str
    tasks: int


@dataclass
class Totals:
    """What the tasks of a persona or benchmark come to."""

    personas: int = 0
    figures: Figures = field(default_factory=Figures)
    """Without tools and skills, and the checks of grader scripts."""
    states: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    """Open ones, by severity."""
    uncounted: int = 0
    """Grader scripts in use whose keys are unknown, where their checks are counted."""

    @property
    def tasks(self) -> int:
        """Those that are not retired."""
        return self.figures.tasks - self.states[TaskState.RETIRED]

    @property
    def approved(self) -> int:
        return self.states[TaskState.APPROVED] + self.states[TaskState.RELEASED]

    @property
    def errors(self) -> int:
        return self.findings["error"]

    @property
    def warnings(self) -> int:
        return self.findings["warning"]


SEVERITIES = ("error", "warning", "hint")
TASKS = "tasks"
COLUMNS: dict[str, Aggregate] = {
    "all": Count(TASKS),
    "sessions": Count(f"{TASKS}__position"),
    **{name: Sum(f"{TASKS}__n_{name}", default=0) for name in ("local", "persistent", "rubric", "rule")},
    "dependencies": Sum(f"{TASKS}__needs__len", default=0),
    "files": Sum(f"{TASKS}__n_files", default=0),
}
"""Of Figures, in its order."""
STATES = {f"state_{state}": Count(TASKS, filter=Q(**{f"{TASKS}__state": state})) for state in TaskState.values}
FINDINGS = {severity: Sum(f"{TASKS}__n_{severity}s", default=0) for severity in SEVERITIES}


def _tasks(benchmark: Benchmark) -> QuerySet[Task]:
    return Task.objects.filter(persona__benchmark=benchmark).order_by()


def totals_of(owner: Literal["persona", "benchmark"], keys: Iterable[int]) -> dict[int, Totals]:
    """By key of the persona or benchmark, in one query."""
    totals = {key: Totals() for key in keys}
    column = "pk" if owner == "persona" else "benchmark"
    rows = Persona.objects.filter(**{f"{column}__in": totals}).order_by().values(column)
    for row in rows.annotate(personas=Count("pk", distinct=True), **COLUMNS, **STATES, **FINDINGS):
        totals[row[column]] = Totals(
            row["personas"],
            Figures(*(row[name] for name in COLUMNS)),
            +Counter({state: row[f"state_{state}"] for state in TaskState.values}),  # without zeros
            +Counter({severity: row[severity] for severity in SEVERITIES}),
        )
    return totals


def figures_of(personas: Iterable[Persona]) -> dict[int, Figures]:
    keys = [persona.pk for persona in personas]
    totals, checks = totals_of("persona", keys), grader_checks(keys)
    bound = {pk: names for pk, *names in Persona.objects.filter(pk__in=keys).values_list("pk", "tools", "skills")}
    return {
        key: replace(
            totals[key].figures,
            rule=totals[key].figures.rule + checks[key],
            tools=len(bound[key][0]),
            skills=len(bound[key][1]),
        )
        for key in keys
    }


def grader_checks(personas: Collection[int]) -> dict[int, int]:
    """How many checks the grader scripts of the personas of these pks make, as far as they run."""
    checks = dict.fromkeys(personas, 0)
    scripts = GraderScript.objects.filter(persona__in=checks).order_by()
    for key, names in scripts.values_list("persona", "keys"):
        checks[key] += len(names or ())
    return checks


def tools_of(benchmark: Benchmark) -> list[tuple[str, list[ToolRow]]]:
    """The paper's Table 3: bound tools by domain, each with the personas that have it and the tasks that use it."""
    bound = Counter(chain.from_iterable(benchmark.personas.order_by().values_list("tools", flat=True)))
    used = Counter(chain.from_iterable(_tasks(benchmark).values_list("tools_named", flat=True)))
    summaries = tool_summaries(list(bound))
    tools = [
        ToolRow(name, tool_domain(name), summaries[name], personas, used[name.removeprefix(APP_PREFIX)])
        for name, personas in bound.items()
    ]
    tools.sort(key=lambda tool: (tool.domain, tool.name))
    return [(domain, list(group)) for domain, group in groupby(tools, key=lambda tool: tool.domain)]


def idle_tools(benchmark: Benchmark) -> dict[int, tuple[int, int]]:
    """By persona key: the number of unused tools, and of all its tools."""
    used: dict[int, set[str]] = defaultdict(set)
    for persona, names in _tasks(benchmark).values_list("persona", "tools_named"):
        used[persona].update(names)
    return {
        persona: (sum(name.removeprefix(APP_PREFIX) not in used[persona] for name in tools), len(tools))
        for persona, tools in benchmark.personas.order_by().values_list("pk", "tools")
        if tools
    }


def named_tools(benchmark: Benchmark) -> list[str]:
    """Every tool that a task names, without its prefix."""
    return sorted(set(chain.from_iterable(_tasks(benchmark).values_list("tools_named", flat=True))))


def skills_of(benchmark: Benchmark) -> list[SkillRow]:
    """The paper's Table 4: skills by name with their descriptions."""
    bound = list(chain.from_iterable(benchmark.personas.order_by("pk").values_list("spec__skills", flat=True)))
    counts = Counter(skill["name"] for skill in bound)
    used = Counter(chain.from_iterable(_tasks(benchmark).values_list("skills_named", flat=True)))
    main_files: dict[str, str] = {}
    for skill in bound:
        for file in skill["files"]:
            if file["path"].upper() == "SKILL.MD":
                main_files.setdefault(skill["name"], file["sha256"])
    contents = Blob.objects.read(list(main_files.values()))
    texts = {sha: content.decode("utf-8", "replace") for sha, content in contents.items()}
    return [
        SkillRow(name, one_line_description(texts.get(main_files.get(name, ""), "")), personas, used[name])
        for name, personas in sorted(counts.items())
    ]


def categories_of(benchmark: Benchmark) -> tuple[list[CategoryRow], int]:
    """The paper's Table 5: tasks in each category, and the number of tasks in none."""
    counts: dict[str, int] = defaultdict(int, _tasks(benchmark).values_list("category").annotate(Count("pk")))
    known = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else []
    rows = [CategoryRow(row.code, row.name, row.description, counts.pop(row.code, 0)) for row in known]
    rows += [CategoryRow(code, "not in the taxonomy", "", n) for code, n in sorted(counts.items()) if code]
    return rows, counts[""]


def counts_of(owner: Persona | Benchmark) -> Totals:
    """With the checks of its grader scripts."""
    total = totals_of("persona" if isinstance(owner, Persona) else "benchmark", [owner.pk])[owner.pk]
    of = {"persona" if isinstance(owner, Persona) else "persona__benchmark": owner}
    rows = GraderScript.objects.filter(**of).order_by().values_list("persona", "path", "keys")
    scripts = {(persona, path): keys for persona, path, keys in rows}
    checks = sum(len(keys or ()) for keys in scripts.values())
    total.figures = replace(total.figures, rule=total.figures.rule + checks)
    graded = Task.objects.filter(**of).exclude(grader_path="").order_by()
    named = graded.values_list("persona", "persona__user_id", "grader_path")
    lacking = sum((persona, script_path(user_id, path)) not in scripts for persona, user_id, path in named)
    total.uncounted = lacking + sum(keys is None for keys in scripts.values())
    return total
