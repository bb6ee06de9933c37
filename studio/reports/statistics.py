"""Statistics of a benchmark, in a constant number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import connection
from django.db.models import Count, Func, IntegerField, QuerySet, Sum

from studio.domain.skills import one_line_description
from studio.domain.statistics import Figures
from studio.domain.tool_catalog import tool_summaries
from studio.domain.tool_names import APP_PREFIX, tool_domain
from studio.models import (
    Benchmark,
    Blob,
    Category,
    GraderScript,
    Persona,
    Skill,
    SkillFile,
    TaskSummary,
    ToolBinding,
)


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


def figures_of(personas: Iterable[Persona]) -> dict[int, Figures]:
    keys = [persona.pk for persona in personas]
    whole: Any = personas.order_by().values("pk") if isinstance(personas, QuerySet) else keys
    sums = {key: list(numbers) for key, *numbers in _summed(TaskSummary.objects.filter(persona__in=whole), "persona")}
    checks = grader_checks(keys, whole)
    bound: list[dict[int, int]] = [
        dict(model.objects.filter(persona__in=whole).order_by().values_list("persona").annotate(Count("pk")))
        for model in (ToolBinding, Skill)
    ]
    figures = {}
    for key in keys:
        tasks, sessions, local, persistent, rubric, rule, files, needed, *_ = sums.get(key) or [0] * 11
        tools, skills = (numbers.get(key, 0) for numbers in bound)
        rule += checks[key]
        figures[key] = Figures(tasks, sessions, local, persistent, rubric, rule, needed, files, tools, skills)
    return figures


def summed_tasks(owner: str, keys: Iterable[int]) -> Iterator[tuple[int, str, Figures, Counter[str]]]:
    """The tasks of each owner and state: key of the owner, state, figures, and open findings by severity. ``owner`` is
    the path from a summary to it: ``persona`` or ``persona__benchmark``."""
    rows = TaskSummary.objects.filter(**{f"{owner}__in": list(keys)})
    for key, state, *numbers in _summed(rows, owner, "state"):
        tasks, sessions, local, persistent, rubric, rule, files, dependencies, errors, warnings, hints = numbers
        figures = Figures(tasks, sessions, local, persistent, rubric, rule, dependencies, files)
        yield key, state, figures, Counter({"error": errors, "warning": warnings, "hint": hints})


def _summed(rows: QuerySet[TaskSummary], *by: str) -> Iterable[tuple[Any, ...]]:
    """For each group: what it is by, numbers of tasks and of sessions, and the sums of SUMMED."""
    sums = {
        f"sum_{name}": Sum(Func(name, function="cardinality", output_field=IntegerField()) if name == "needs" else name)
        for name in SUMMED
    }
    return rows.order_by().values_list(*by).annotate(Count("pk"), Count("position"), **sums)


SUMMED = ("local", "persistent", "rubric", "rule", "files", "needs", "errors", "warnings", "hints")


def grader_checks(personas: Collection[int], whole: Any = None) -> dict[int, int]:
    """How many checks the grader scripts of the personas of these pks make, as far as they run. ``whole``: a query of
    the pks, if there is one."""
    checks = dict.fromkeys(personas, 0)
    for key, names in GraderScript.objects.filter(persona__in=personas if whole is None else whole).values_list(
        "persona", "keys"
    ):
        checks[key] += len(names or ())
    return checks


def tools_of(benchmark: Benchmark) -> list[tuple[str, list[ToolRow]]]:
    """The paper's Table 3: bound tools by domain, each with the personas that have it and the tasks that use it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT bound.name, bound.personas, coalesce(used.tasks, 0)
            FROM (SELECT b.name, count(*) AS personas FROM studio_toolbinding b
                  JOIN studio_persona p ON p.id = b.persona_id WHERE p.benchmark_id = %s GROUP BY b.name) bound
            LEFT JOIN (SELECT named.name, count(*) AS tasks FROM studio_tasksummary s
                         JOIN studio_persona p ON p.id = s.persona_id, unnest(s.tools) named(name)
                        WHERE p.benchmark_id = %s GROUP BY named.name) used
              ON used.name = regexp_replace(bound.name, %s, '')
            ORDER BY bound.name""",
            [benchmark.pk, benchmark.pk, f"^{APP_PREFIX}"],
        )
        rows = cursor.fetchall()
    summaries = tool_summaries([name for name, _, _ in rows])
    tools = [ToolRow(name, tool_domain(name), summaries[name], personas, tasks) for name, personas, tasks in rows]
    tools.sort(key=lambda tool: (tool.domain, tool.name))
    return [(domain, list(group)) for domain, group in groupby(tools, key=lambda tool: tool.domain)]


def idle_tools(benchmark: Benchmark) -> dict[int, tuple[int, int]]:
    """By persona key: the number of unused tools, and of all its tools."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT b.persona_id, count(*) FILTER (WHERE used.name IS NULL), count(*) FROM studio_toolbinding b
            JOIN studio_persona p ON p.id = b.persona_id
            LEFT JOIN (SELECT DISTINCT s.persona_id, named.name FROM studio_tasksummary s
                         JOIN studio_persona p ON p.id = s.persona_id, unnest(s.tools) named(name)
                        WHERE p.benchmark_id = %s) used
              ON used.persona_id = b.persona_id AND used.name = regexp_replace(b.name, %s, '')
            WHERE p.benchmark_id = %s GROUP BY b.persona_id""",
            [benchmark.pk, f"^{APP_PREFIX}", benchmark.pk],
        )
        return {persona: (idle, number) for persona, idle, number in cursor.fetchall()}


def skills_of(benchmark: Benchmark) -> list[SkillRow]:
    """The paper's Table 4: skills by name with their descriptions."""
    skills = Skill.objects.filter(persona__benchmark=benchmark)
    counts = dict(skills.order_by().values_list("name").annotate(Count("pk")))
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT named.name, count(*) FROM studio_tasksummary s
            JOIN studio_persona p ON p.id = s.persona_id, unnest(s.skills) named(name)
            WHERE p.benchmark_id = %s GROUP BY named.name""",
            [benchmark.pk],
        )
        used = dict(cursor.fetchall())
    main_files: dict[str, str] = dict(
        SkillFile.objects.filter(skill__in=skills, path__iexact="SKILL.md")
        .order_by("skill__name", "skill")
        .distinct("skill__name")
        .values_list("skill__name", "blob_id")
    )
    contents = Blob.objects.read(list(main_files.values()))
    texts = {sha: content.decode("utf-8", "replace") for sha, content in contents.items()}
    return [
        SkillRow(name, one_line_description(texts.get(main_files.get(name, ""), "")), personas, used.get(name, 0))
        for name, personas in sorted(counts.items())
    ]


def categories_of(benchmark: Benchmark) -> tuple[list[CategoryRow], int]:
    """The paper's Table 5: tasks in each category, and the number of tasks in none."""
    tasks = TaskSummary.objects.filter(persona__benchmark=benchmark).order_by()
    counts: dict[str, int] = defaultdict(int, tasks.values_list("category").annotate(Count("pk")))
    known = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else []
    rows = [CategoryRow(row.code, row.name, row.description, counts.pop(row.code, 0)) for row in known]
    rows += [CategoryRow(code, "not in the taxonomy", "", n) for code, n in sorted(counts.items()) if code]
    return rows, counts[""]
