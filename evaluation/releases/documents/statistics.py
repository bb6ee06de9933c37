"""Tables 2 to 5 of the paper for what a pack holds."""

from __future__ import annotations

from evaluation.releases.documents.markdown import document, inline, table
from studio.domain.base import JsonDict

COUNTS = {
    "tasks": "Tasks",
    "groups": "Groups",
    "local": "Local intents",
    "persistent": "Persistent intents",
    "rubric": "Rubric items",
    "rule": "Rules and script checks",
    "dependencies": "Dependencies",
    "files": "Files",
    "tools": "Tools",
    "skills": "Skills",
}
"""Columns of Table 2."""


def statistics_file(manifest: JsonDict) -> bytes:
    tables = manifest["statistics"]
    rows = [[row["persona"], *(row[name] for name in COUNTS)] for row in tables["personas"]]
    total = ["all", *(sum(row[at] for row in rows) for at in range(1, len(COUNTS) + 1))]
    return document(
        f"# Statistics of {inline(manifest['benchmark']['name'])} {manifest['version']}",
        "The tables are numbered as in the paper (arXiv 2605.14678).",
        "## Table 2: personas",
        table(["Persona", *COUNTS.values()], [*rows, total]),
        "## Table 3: tools",
        table(
            ["Domain", "Tool", "What it does", "Personas", "Tasks"],
            [[row[name] for name in ("domain", "name", "description", "personas", "tasks")] for row in tables["tools"]],
        ),
        "Tasks are those that name the tool; a task that names none may use all.",
        "## Table 4: skills",
        table(
            ["Skill", "What it is for", "Personas", "Tasks"],
            [[row[name] for name in ("name", "description", "personas", "tasks")] for row in tables["skills"]],
        ),
        "## Table 5: categories",
        table(["Code", "Category", "Tasks"], [list(row.values()) for row in tables["categories"]]),
        canary(manifest),
    )


def canary(manifest: JsonDict) -> str:
    return (
        f"<!-- Benchmark data must not stand in training corpora. pi-bench-studio canary GUID {manifest['canary']} -->"
    )
