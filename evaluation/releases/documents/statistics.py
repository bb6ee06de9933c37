"""Tables 2 to 5 of the paper for what a pack holds, and which of its tasks stand where."""

from __future__ import annotations

from evaluation.releases.documents.markdown import bullets, document, inline, table
from studio.domain.base import JsonDict
from studio.domain.episode import Split
from studio.domain.pack import splits_in
from studio.domain.phrases import count_of

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


MEANINGS = {
    Split.PUBLIC: "public, for any use that the licence allows",
    Split.VALIDATION: "for validation, published too: report their scores by themselves, and do not tune on them",
}


def splits_text(manifest: JsonDict) -> str:
    """Empty if all tasks are public."""
    found = manifest.get("splits", {})
    if Split.PUBLIC not in splits_in(manifest):
        return (
            "**These are the held-out tasks of the benchmark. Do not publish them, and give them to no service that "
            "may keep or train on what it is sent.** The published pack of this version names the SHA-256 of this one."
        )
    rows = [
        f"{count_of(found[split]['tasks'], 'task')} {meaning}"
        for split, meaning in MEANINGS.items()
        if split in found and found[split]["tasks"]
    ]
    if held := found.get(Split.HELD_OUT):
        number = count_of(held["tasks"], "task")
        name = f"`{inline(held['file'])}`, SHA-256 `{held['sha256']}`"
        rows.append(f"{number} held out, in a pack that is not published: {name}. Results on them name it by this hash")
    return f"Its splits:\n\n{bullets(rows)}" if len(found) > 1 else ""
