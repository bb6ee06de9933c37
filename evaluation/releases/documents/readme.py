"""``README.md``: what the pack is, and how to run, verify and read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from evaluation.releases.documents.changelog import changes_text, erratum_text
from evaluation.releases.documents.citation import Value, yaml_text
from evaluation.releases.documents.flat import NOT_CARRIED
from evaluation.releases.documents.licence import licence_name
from evaluation.releases.documents.markdown import bullets, document, inline, paragraphs, quote
from evaluation.releases.documents.statistics import canary, splits_text
from studio.domain.base import JsonDict
from studio.domain.credits import LICENCES
from studio.domain.pack import (
    SOLUTIONS,
    archive_name,
    splits_in,
)
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec

DEFAULT = "tasks"
"""What ``load_dataset`` gives without being asked for a configuration."""
TEXTS = Path(__file__).parent / "texts"


def readme_file(manifest: JsonDict, shown: tuple[str, TaskSpec] | None, tables: Sequence[str]) -> bytes:
    """``shown``: a persona's id and the task of theirs that serves as the example. ``tables``: paths of flat files."""
    name, credits = manifest["benchmark"]["name"], manifest["credits"]
    file = archive_name(manifest)
    return _head(manifest, tables) + document(
        f"# {inline(name)} {inline(manifest['version'])}",
        paragraphs(credits["introduction"]),
        paragraphs(manifest["benchmark"]["description"]),
        _contents(manifest),
        splits_text(manifest),
        "## Who made it",
        bullets(map(inline, credits["contributors"])) or "Its makers have not been named.",
        f"Licence: {inline(licence_name(manifest))}. Contact: {inline(credits['contact']) or 'not given'}.",
        "## A task",
        _example(shown) if shown else "",
        "## Run it",
        running(file),
        "## Verify it",
        _verification(manifest, file),
        "## How scores are computed",
        _text("scores"),
        "## What changed",
        changes_text(manifest),
        _errata(manifest),
        "## More",
        bullets(
            (
                "[DATA_CARD.md](DATA_CARD.md): how it was made, reviewed and audited, and what its numbers are worth",
                "[STATISTICS.md](STATISTICS.md): personas, tools, skills and categories",
                "[CHANGELOG.md](CHANGELOG.md), [CITATION.cff](CITATION.cff), [LICENSE](LICENSE)",
                "`data/`: personas in the format π-Bench v2; `graders/`: rules on tool calls as scripts",
                f"`flat/`: the same texts as one table an entity, described by `croissant.json`, without {NOT_CARRIED}",
                "`pack.json`: all facts of README and data card for programs",
                solutions_text(manifest),
            )
        ),
        canary(manifest),
    )


def running(file: str) -> str:
    """NAME, URL and STUDIO stand for what readers have."""
    return _text("running", file=file)


def _text(name: str, **values: str) -> str:
    return (TEXTS / f"{name}.md").read_text("utf-8").removesuffix("\n").format_map(values)


def solutions_text(manifest: JsonDict) -> str:
    if number := sum("solution" in row for row in manifest["tasks"]):
        whose = count_of(number, "reference solution")
        return f"`{SOLUTIONS}/`: {whose}, meant to earn every item of a task; for people and checks, never for agents"
    return "reference solutions are not in it"


def _errata(manifest: JsonDict) -> str:
    found = [f"In {inline(each['version'])}. {erratum_text(each)}" for each in manifest.get("errata", [])]
    return f"Mistakes of earlier releases, found after they were cut:\n\n{bullets(found)}" if found else ""


def _verification(manifest: JsonDict, file: str) -> str:
    return f"{_integrity(manifest, file)}\n\n{_validation(manifest, file)}"


def _validation(manifest: JsonDict, file: str) -> str:
    played = "answers that take no work, which must earn nothing"
    if any("solution" in row for row in manifest["tasks"]):
        played = f"its reference solutions, which must earn every item, and {played}"
    return f"""This plays {played}. Rules decide without a
model; `--judge openai:NAME` has the rest judged:

```sh
pibench validate {file}
```"""


def _integrity(manifest: JsonDict, file: str) -> str:
    sums = "Unpacked, every file is as it was released if this says so of each:\n\n```sh\n"
    sums += "sha256sum --check --strict SHA256SUMS\n```"
    if (signed_by := manifest.get("signed_by")) is None:
        return f"{sums}\n\nOr, without unpacking it; it is not signed:\n\n```sh\npibench verify {file}\n```"
    return _text("signed", file=file, key=signed_by["fingerprint"], slug=manifest["benchmark"]["slug"])


def _head(manifest: JsonDict, tables: Sequence[str]) -> bytes:
    """By which ``datasets.load_dataset`` finds the flat files."""
    credits = manifest["credits"]
    known = credits["licence"] in LICENCES
    main = splits_in(manifest)[0]
    files: dict[str, list[Value]] = {}
    for path in tables:
        table, _, split = PurePosixPath(path).stem.partition("-")
        files.setdefault(table, []).append({"split": split or main.value, "path": path})
    configs: list[dict[str, Value]] = [
        {
            "config_name": table,
            **({"default": True} if table == DEFAULT else {}),
            "data_files": [*own],
        }
        for table, own in files.items()
    ]
    head = yaml_text(
        {
            "pretty_name": manifest["benchmark"]["name"],
            **({"license": credits["licence"].lower()} if known else {"license": "other"}),
            "configs": configs,
        }
    )
    return f"---\n{head}---\n\n".encode()


def _contents(manifest: JsonDict) -> str:
    totals = manifest["totals"]
    parts = (
        count_of(totals["personas"], "persona"),
        count_of(totals["tasks"], "task"),
        count_of(totals["hidden_intents"], "hidden intent"),
        count_of(totals["checklist_items"] + totals["grader_checks"], "check"),
        count_of(totals["dependency_groups"], "group of tasks that build on each other", "groups of tasks that build "
                 "on each other"),
    )  # fmt: skip
    return f"It has {', '.join(parts[:-1])} and {parts[-1]}."


def _example(shown: tuple[str, TaskSpec]) -> str:
    persona, task = shown
    return "\n\n".join(
        (
            f"“{inline(task.title) or inline(task.task_id)}”, of the persona {inline(persona)}. The agent is asked:",
            quote(task.initial_request),
            "It is not told, and has to find out or to ask:",
            bullets(inline(intent.content) for intent in task.intents),
            *(
                ("The outcome is checked for:", bullets(inline(item.criterion) for item in task.scored_items))
                if task.scored_items
                else ()
            ),
        )
    )
