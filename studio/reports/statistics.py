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

NAMES_TOOLS = """
  named(task_id, persona_id, name) AS (
    SELECT own.id, own.persona_id, regexp_replace(trim(said.name), '^mcp_appworld_', '') FROM own JOIN (
      SELECT t.id, json_array_elements_text(t.tools) AS name FROM studio_task t JOIN own USING (id)
      UNION SELECT t.id, shown ->> 'tool' FROM studio_task t JOIN own USING (id),
        json_array_elements(t.tool_evidence) shown
      UNION SELECT c.task_id, c.rule ->> 'tool' FROM studio_checklistitem c JOIN own ON own.id = c.task_id
        WHERE c.rule IS NOT NULL
      UNION SELECT i.task_id, split_part(place ->> 'ref', '.', 1) FROM studio_hiddenintent i
        JOIN own ON own.id = i.task_id, json_array_elements(i.recoverable_from) place WHERE place ->> 'kind' = 'tool'
    ) said USING (id) WHERE said.name <> ''
  )"""
"""Which task names which tool: among those it needs, in what judges see, in a rule, or where an intent is found."""
OWN_OF_BENCHMARK = """
  WITH own(id, persona_id) AS (
    SELECT t.id, e.persona_id FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
    JOIN studio_persona p ON p.id = e.persona_id WHERE p.benchmark_id = %s
  ),"""


@dataclass(frozen=True)
class ToolRow:
    name: str
    domain: str
    does: str
    personas: int
    tasks: int
    """Tasks that name it. A task that names none may use all."""


@dataclass(frozen=True)
class SkillRow:
    name: str
    does: str
    personas: int
    tasks: int


@dataclass(frozen=True)
class CategoryRow:
    code: str
    name: str
    description: str
    tasks: int


def figures_of(personas: Iterable[Persona]) -> dict[int, Figures]:
    """By persona key."""
    keys = [persona.pk for persona in personas]
    found = held_by(keys)

    def put(name: str, rows: Iterable[tuple[int, int]]) -> None:
        for key, number in rows:
            found[key] = replace(found[key], **{name: number})

    of = "task__episode__persona"
    mine = {f"{of}__in": keys}
    put("dependencies", Dependency.objects.filter(**mine).order_by().values_list(of).annotate(Count("pk")))
    put("files", Asset.objects.filter(**mine).order_by().values_list(of).annotate(Count("pk")))
    for name, model in (("tools", ToolBinding), ("skills", Skill)):
        put(name, model.objects.filter(persona__in=keys).order_by().values_list("persona").annotate(Count("pk")))
    return found


def held_by(personas: Collection[int]) -> dict[int, Figures]:
    """Tasks, intents and items of these personas."""
    found = {key: Figures() for key in personas}

    def put(rows: Iterable[tuple[int, int, int]], one: str, other: str) -> None:
        for key, first, second in rows:
            found[key] = replace(found[key], **{one: first, other: second})

    of = "task__episode__persona"
    mine = {f"{of}__in": personas}
    tasks = Task.objects.filter(episode__persona__in=personas).order_by().values_list("episode__persona")
    put(tasks.annotate(Count("pk"), Count("position")), "tasks", "sessions")
    lasting = Q(scope="persistent")
    intents = HiddenIntent.objects.filter(**mine).order_by().values_list(of)
    put(intents.annotate(one=Count("pk", filter=~lasting), more=Count("pk", filter=lasting)), "local", "persistent")
    exact = Q(grader="rule")
    items = ChecklistItem.objects.filter(**mine).exclude(criterion="").order_by().values_list(of)
    put(items.annotate(one=Count("pk", filter=~exact), more=Count("pk", filter=exact)), "rubric", "rule")
    for key, names in GraderScript.objects.filter(persona__in=personas).values_list("persona", "keys"):
        found[key] = replace(found[key], rule=found[key].rule + len(names or ()))
    return found


def tools_of(benchmark: Benchmark) -> list[tuple[str, list[ToolRow]]]:
    """The paper's Table 3: bound tools by domain, each with the personas that have it and the tasks that use it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""{OWN_OF_BENCHMARK} {NAMES_TOOLS}
            SELECT bound.name, bound.personas, coalesce(used.tasks, 0)
            FROM (SELECT b.name, count(*) AS personas FROM studio_toolbinding b
                  JOIN studio_persona p ON p.id = b.persona_id WHERE p.benchmark_id = %s GROUP BY b.name) bound
            LEFT JOIN (SELECT name, count(DISTINCT task_id) AS tasks FROM named GROUP BY name) used
              ON used.name = regexp_replace(bound.name, '^mcp_appworld_', '')
            ORDER BY bound.name""",  # noqa: S608 - constants of this module
            [benchmark.pk, benchmark.pk],
        )
        rows = cursor.fetchall()
    does = tool_summaries([name for name, _, _ in rows])
    tools = [ToolRow(name, tool_domain(name), does[name], personas, tasks) for name, personas, tasks in rows]
    tools.sort(key=lambda tool: (tool.domain, tool.name))
    return [(domain, list(group)) for domain, group in groupby(tools, key=lambda tool: tool.domain)]


def idle_tools(benchmark: Benchmark) -> dict[int, tuple[int, int]]:
    """By persona key: the number of unused tools, and of all its tools."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""{OWN_OF_BENCHMARK} {NAMES_TOOLS}
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
    mine = Skill.objects.filter(persona__benchmark=benchmark)
    counted = dict(mine.order_by().values_list("name").annotate(Count("pk")))
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT named.name, count(*) FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
            JOIN studio_persona p ON p.id = e.persona_id, json_array_elements_text(t.skills) named(name)
            WHERE p.benchmark_id = %s GROUP BY named.name""",
            [benchmark.pk],
        )
        used = dict(cursor.fetchall())
    heads: dict[str, str] = dict(
        SkillFile.objects.filter(skill__in=mine, path__iexact="SKILL.md")
        .order_by("skill__name", "skill")
        .distinct("skill__name")
        .values_list("skill__name", "blob_id")
    )
    contents = Blob.objects.read(list(heads.values()))
    texts = {sha: content.decode("utf-8", "replace") for sha, content in contents.items()}
    return [
        SkillRow(name, one_line_description(texts.get(heads.get(name, ""), "")), personas, used.get(name, 0))
        for name, personas in sorted(counted.items())
    ]


def categories_of(benchmark: Benchmark) -> tuple[list[CategoryRow], int]:
    """The paper's Table 5: tasks in each category, and the number of tasks in none."""
    tasks = Task.objects.filter(episode__persona__benchmark=benchmark).order_by()
    counted: dict[str, int] = defaultdict(int, tasks.values_list("category").annotate(Count("pk")))
    known = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else []
    rows = [CategoryRow(one.code, one.name, one.description, counted.pop(one.code, 0)) for one in known]
    rows += [CategoryRow(code, "not in the taxonomy", "", n) for code, n in sorted(counted.items()) if code]
    return rows, counted[""]
