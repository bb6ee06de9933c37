"""Statistics of a benchmark, in a constant number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Literal

from django.db import connection
from django.db.models import Count, QuerySet

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
    PersonaSummary,
    Skill,
    SkillFile,
    TaskState,
    ToolBinding,
)
from studio.models.statements import NUMBERS, AnyOf, PreparedQuery, binding_cursor


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

    @property
    def tasks(self) -> int:
        """Those that are not retired."""
        return self.figures.tasks - self.states[TaskState.RETIRED]


SUMMED = ("tasks", "sessions", "local", "persistent", "rubric", "rule", "dependencies", "files")
"""In the order of Figures."""
SEVERITIES = ("error", "warning", "hint")
COLUMNS = (*SUMMED, *(f"{severity}s" for severity in SEVERITIES), *TaskState.values)
TOTALS = f"""
    SELECT p.{{owner}}, count(*), {", ".join(f"coalesce(sum(s.{name}), 0)" for name in COLUMNS)}
      FROM studio_persona p LEFT JOIN studio_personasummary s ON s.persona_id = p.id
     WHERE p.{{owner}} = ANY(%s) GROUP BY 1"""  # noqa: S608 - constants


def totals_of(owner: Literal["persona", "benchmark"], keys: Iterable[int]) -> dict[int, Totals]:
    """By key of the persona or benchmark, in one query."""
    wanted = list(keys)
    if not wanted:
        return {}
    with binding_cursor() as cursor:
        cursor.execute(TOTALS.format(owner="id" if owner == "persona" else "benchmark_id"), [wanted])
        rows = {key: (personas, numbers) for key, personas, *numbers in cursor.fetchall()}
    return {key: _totals(*rows[key]) if key in rows else Totals() for key in wanted}


def _totals(personas: int, numbers: Sequence[int]) -> Totals:
    states = len(SUMMED) + len(SEVERITIES)
    return Totals(
        personas,
        Figures(*numbers[: len(SUMMED)]),
        +Counter(dict(zip(TaskState.values, numbers[states:], strict=True))),  # without zeros
        +Counter(dict(zip(SEVERITIES, numbers[len(SUMMED) : states], strict=True))),
    )


def _numbers_of(model: type[ToolBinding] | type[Skill], keys: int) -> QuerySet[Any, Any]:
    rows = model._default_manager.filter(AnyOf("persona", keys)).order_by()
    return rows.values_list("persona").annotate(Count("pk"))


def figures_of(personas: Iterable[Persona]) -> dict[int, Figures]:
    keys = [persona.pk for persona in personas]
    sums = {key: numbers for key, *numbers in _SUMS.rows(keys)}
    checks = grader_checks(keys)
    bound = [dict(query.pairs(keys)) for query in (_TOOLS_BOUND, _SKILLS)]
    figures = {}
    for key in keys:
        tasks, sessions, local, persistent, rubric, rule, needed, files = sums.get(key) or [0] * len(SUMMED)
        tools, skills = (numbers.get(key, 0) for numbers in bound)
        rule += checks[key]
        figures[key] = Figures(tasks, sessions, local, persistent, rubric, rule, needed, files, tools, skills)
    return figures


_SUMS = PreparedQuery(
    lambda keys: PersonaSummary.objects.filter(AnyOf("persona", keys)).values_list("persona", *SUMMED)
)
_TOOLS_BOUND, _SKILLS = (PreparedQuery(partial(_numbers_of, model), NUMBERS[0]) for model in (ToolBinding, Skill))
_SCRIPTS = PreparedQuery(
    lambda keys: GraderScript.objects.filter(AnyOf("persona", keys)).order_by().values_list("persona", "keys")
)


def grader_checks(personas: Collection[int]) -> dict[int, int]:
    """How many checks the grader scripts of the personas of these pks make, as far as they run."""
    checks = dict.fromkeys(personas, 0)
    for key, names in _SCRIPTS.rows(list(personas)):
        checks[key] += len(names or ())
    return checks


def tools_of(benchmark: Benchmark) -> list[tuple[str, list[ToolRow]]]:
    """The paper's Table 3: bound tools by domain, each with the personas that have it and the tasks that use it."""
    with binding_cursor() as cursor:
        cursor.execute(
            """SELECT bound.name, bound.personas, coalesce(used.tasks, 0)
            FROM (SELECT b.name, count(*) AS personas FROM studio_toolbinding b
                  JOIN studio_persona p ON p.id = b.persona_id WHERE p.benchmark_id = %s GROUP BY b.name) bound
            LEFT JOIN (SELECT named.name, sum(named.n::int) AS tasks FROM studio_personasummary s
                         JOIN studio_persona p ON p.id = s.persona_id, jsonb_each_text(s.tools) named(name, n)
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
            """SELECT b.persona_id, count(*) FILTER (WHERE s.tools IS NULL OR NOT s.tools ? CASE
                WHEN starts_with(b.name, %s) THEN substr(b.name, length(%s) + 1)
                ELSE b.name END), count(*)
            FROM studio_toolbinding b JOIN studio_persona p ON p.id = b.persona_id
            LEFT JOIN studio_personasummary s ON s.persona_id = p.id
            WHERE p.benchmark_id = %s GROUP BY b.persona_id""",
            [APP_PREFIX, APP_PREFIX, benchmark.pk],
        )
        return {persona: (idle, number) for persona, idle, number in cursor.fetchall()}


def named_tools(benchmark: Benchmark) -> list[str]:
    """Every tool that a task names, without its prefix."""
    with binding_cursor() as cursor:
        cursor.execute(
            """SELECT DISTINCT jsonb_object_keys(s.tools) FROM studio_personasummary s
            JOIN studio_persona p ON p.id = s.persona_id WHERE p.benchmark_id = %s ORDER BY 1""",
            [benchmark.pk],
        )
        return [name for (name,) in cursor.fetchall()]


def skills_of(benchmark: Benchmark) -> list[SkillRow]:
    """The paper's Table 4: skills by name with their descriptions."""
    counts = dict(_SKILL_NAMES.pairs(benchmark.pk))
    with binding_cursor() as cursor:
        cursor.execute(
            """SELECT named.name, sum(named.n::int) FROM studio_personasummary s
            JOIN studio_persona p ON p.id = s.persona_id, jsonb_each_text(s.skills) named(name, n)
            WHERE p.benchmark_id = %s GROUP BY named.name""",
            [benchmark.pk],
        )
        used = dict(cursor.fetchall())
    main_files = dict(_MAIN_FILES.pairs(benchmark.pk))
    contents = Blob.objects.read(list(main_files.values()))
    texts = {sha: content.decode("utf-8", "replace") for sha, content in contents.items()}
    return [
        SkillRow(name, one_line_description(texts.get(main_files.get(name, ""), "")), personas, used.get(name, 0))
        for name, personas in sorted(counts.items())
    ]


_SKILL_NAMES = PreparedQuery(
    lambda benchmark: (
        Skill.objects.filter(persona__benchmark=benchmark).order_by().values_list("name").annotate(Count("pk"))
    )
)
_MAIN_FILES = PreparedQuery(
    lambda benchmark: (
        SkillFile.objects.filter(skill__persona__benchmark=benchmark, path__iexact="SKILL.md")
        .order_by("skill__name", "skill")
        .distinct("skill__name")
        .values_list("skill__name", "blob_id")
    )
)


def categories_of(benchmark: Benchmark) -> tuple[list[CategoryRow], int]:
    """The paper's Table 5: tasks in each category, and the number of tasks in none."""
    with binding_cursor() as cursor:
        cursor.execute(
            """SELECT named.name, sum(named.n::int) FROM studio_personasummary s
            JOIN studio_persona p ON p.id = s.persona_id, jsonb_each_text(s.categories) named(name, n)
            WHERE p.benchmark_id = %s GROUP BY named.name""",
            [benchmark.pk],
        )
        counts: dict[str, int] = defaultdict(int, cursor.fetchall())
    known = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else []
    rows = [CategoryRow(row.code, row.name, row.description, counts.pop(row.code, 0)) for row in known]
    rows += [CategoryRow(code, "not in the taxonomy", "", n) for code, n in sorted(counts.items()) if code]
    return rows, counts[""]
