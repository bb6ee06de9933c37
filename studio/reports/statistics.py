"""Statistics of a benchmark, in a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from django.db import connection
from django.db.models import Count, Q

from studio.domain.skills import one_line_description
from studio.domain.statistics import Figures, tool_domain
from studio.domain.tool_catalog import tool_summaries
from studio.models import (
    Asset,
    Benchmark,
    Blob,
    Category,
    ChecklistItem,
    Dependency,
    GraderScript,
    HiddenIntent,
    Persona,
    Skill,
    SkillFile,
    Task,
    ToolBinding,
)

TOOLS_NAMED_BY_TASKS = """
  named(task_id, persona_id, name) AS (
    SELECT own.id, own.persona_id, regexp_replace(trim(mentions.name), '^mcp_appworld_', '') FROM own JOIN (
      SELECT t.id, json_array_elements_text(t.tools) AS name FROM studio_task t JOIN own USING (id)
      UNION SELECT t.id, shown ->> 'tool' FROM studio_task t JOIN own USING (id),
        json_array_elements(t.tool_evidence) shown
      UNION SELECT c.task_id, c.rule ->> 'tool' FROM studio_checklistitem c JOIN own ON own.id = c.task_id
        WHERE c.rule IS NOT NULL
      UNION SELECT i.task_id, split_part(recovery ->> 'ref', '.', 1) FROM studio_hiddenintent i
        JOIN own ON own.id = i.task_id, json_array_elements(i.recoverable_from) recovery
        WHERE recovery ->> 'kind' = 'tool'
    ) mentions USING (id) WHERE mentions.name <> ''
  )"""
"""Tools named by tasks: as needed, as evidence for judges, in rules, or as sources of intents."""
TASKS_OF_BENCHMARK = """
  WITH own(id, persona_id) AS (
    SELECT t.id, e.persona_id FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
    JOIN studio_persona p ON p.id = e.persona_id WHERE p.benchmark_id = %s
  ),"""


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
    figures = content_figures(keys)

    def add(name: str, rows: Iterable[tuple[int, int]]) -> None:
        for key, count in rows:
            figures[key] = replace(figures[key], **{name: count})

    persona_of = "task__episode__persona"
    own = {f"{persona_of}__in": keys}
    add("dependencies", Dependency.objects.filter(**own).order_by().values_list(persona_of).annotate(Count("pk")))
    add("files", Asset.objects.filter(**own).order_by().values_list(persona_of).annotate(Count("pk")))
    for name, model in (("tools", ToolBinding), ("skills", Skill)):
        add(name, model.objects.filter(persona__in=keys).order_by().values_list("persona").annotate(Count("pk")))
    return figures


def content_figures(personas: Collection[int]) -> dict[int, Figures]:
    figures = {key: Figures() for key in personas}

    def add(rows: Iterable[tuple[int, int, int]], first_name: str, second_name: str) -> None:
        for key, first, second in rows:
            figures[key] = replace(figures[key], **{first_name: first, second_name: second})

    persona_of = "task__episode__persona"
    own = {f"{persona_of}__in": personas}
    tasks = Task.objects.filter(episode__persona__in=personas).order_by().values_list("episode__persona")
    add(tasks.annotate(Count("pk"), Count("position")), "tasks", "sessions")
    persistent = Q(scope="persistent")
    intents = HiddenIntent.objects.filter(**own).order_by().values_list(persona_of)
    add(
        intents.annotate(first=Count("pk", filter=~persistent), second=Count("pk", filter=persistent)),
        "local",
        "persistent",
    )
    by_rule = Q(grader="rule")
    items = ChecklistItem.objects.filter(**own).exclude(criterion="").order_by().values_list(persona_of)
    add(items.annotate(first=Count("pk", filter=~by_rule), second=Count("pk", filter=by_rule)), "rubric", "rule")
    for key, number in grader_checks(personas).items():
        figures[key] = replace(figures[key], rule=figures[key].rule + number)
    return figures


def grader_checks(personas: Collection[int]) -> dict[int, int]:
    """How many checks the grader scripts of the personas of these pks make, as far as they run."""
    checks = dict.fromkeys(personas, 0)
    for key, names in GraderScript.objects.filter(persona__in=personas).values_list("persona", "keys"):
        checks[key] += len(names or ())
    return checks


def tools_of(benchmark: Benchmark) -> list[tuple[str, list[ToolRow]]]:
    """The paper's Table 3: bound tools by domain, each with the personas that have it and the tasks that use it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""{TASKS_OF_BENCHMARK} {TOOLS_NAMED_BY_TASKS}
            SELECT bound.name, bound.personas, coalesce(used.tasks, 0)
            FROM (SELECT b.name, count(*) AS personas FROM studio_toolbinding b
                  JOIN studio_persona p ON p.id = b.persona_id WHERE p.benchmark_id = %s GROUP BY b.name) bound
            LEFT JOIN (SELECT name, count(DISTINCT task_id) AS tasks FROM named GROUP BY name) used
              ON used.name = regexp_replace(bound.name, '^mcp_appworld_', '')
            ORDER BY bound.name""",  # noqa: S608 - constants of this module
            [benchmark.pk, benchmark.pk],
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
            f"""{TASKS_OF_BENCHMARK} {TOOLS_NAMED_BY_TASKS}
            SELECT b.persona_id, count(*) FILTER (WHERE used.name IS NULL), count(*) FROM studio_toolbinding b
            JOIN studio_persona p ON p.id = b.persona_id
            LEFT JOIN (SELECT DISTINCT persona_id, name FROM named) used
              ON used.persona_id = b.persona_id AND used.name = regexp_replace(b.name, '^mcp_appworld_', '')
            WHERE p.benchmark_id = %s GROUP BY b.persona_id""",  # noqa: S608 - constants of this module
            [benchmark.pk, benchmark.pk],
        )
        return {persona: (idle, number) for persona, idle, number in cursor.fetchall()}


def skills_of(benchmark: Benchmark) -> list[SkillRow]:
    """The paper's Table 4: skills by name with their descriptions."""
    skills = Skill.objects.filter(persona__benchmark=benchmark)
    counts = dict(skills.order_by().values_list("name").annotate(Count("pk")))
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT named.name, count(*) FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
            JOIN studio_persona p ON p.id = e.persona_id, json_array_elements_text(t.skills) named(name)
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
    tasks = Task.objects.filter(episode__persona__benchmark=benchmark).order_by()
    counts: dict[str, int] = defaultdict(int, tasks.values_list("category").annotate(Count("pk")))
    known = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else []
    rows = [CategoryRow(row.code, row.name, row.description, counts.pop(row.code, 0)) for row in known]
    rows += [CategoryRow(code, "not in the taxonomy", "", n) for code, n in sorted(counts.items()) if code]
    return rows, counts[""]
