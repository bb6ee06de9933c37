"""Documentation names what exists: links, files, commands, variables, endpoints, and an example that runs."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from drf_spectacular.generators import SchemaGenerator

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/**/README.md")]
    if not {".venv", "var", "node_modules", "fixtures"} & set(page.relative_to(ROOT).parts[:1])
)
FOLDERS = ("annotations", "deploy", "docs", "evaluation", "fixtures", "static", "studio", "templates", "tests")
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

pages = pytest.mark.parametrize("page", PAGES, ids=NAMES)


def prose(page: Path) -> str:
    """The page without what is generated."""
    return re.sub(r"```mermaid.*?```", "", page.read_text(), flags=re.DOTALL)


def code(page: Path) -> Iterator[str]:
    """Inline code, and the lines of code blocks."""
    blocks = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
    text = prose(page)
    for block in blocks.findall(text):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", blocks.sub("", text))


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_links_resolve(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            dead.append(target)
    assert dead == []


@pages
def test_files_in_code_exist(page: Path) -> None:
    names = re.compile(rf"(?<![\w/.-])(?:{'|'.join(FOLDERS)})/[\w./@-]*[\w/]")
    named = {
        name
        for line in code(page)
        if not line.lstrip().startswith("#")
        for name in names.findall(line)
        if not re.search(rf"{re.escape(name)}\S*[<*…]", line)
    }
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pages
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for line in code(page) for name in re.findall(r"\bmake ([a-z][\w-]*)", line)}
    assert named <= targets


@pages
def test_commands_exist(page: Path) -> None:
    named = {name for line in code(page) for name in re.findall(r"manage\.py ([a-z]\w*)", line)}
    assert named <= get_commands().keys()


@pages
def test_modules_run_with_python_exist(page: Path) -> None:
    named = {name for line in code(page) for name in re.findall(r"python -m ((?:studio|tests)[\w.]*)", line)}
    assert {name for name in named if importlib.util.find_spec(name) is None} == set()


def test_operations_page_lists_every_variable() -> None:
    named = set(re.findall(r"`(STUDIO_\w+|DATABASE_URL|CELERY_BROKER_URL)`", (ROOT / "docs/operations.md").read_text()))
    readers = "".join((ROOT / path).read_text() for path in ("studio/settings.py", "studio/local/services.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", readers))
    assert {name for name in read if name != "SCRIPTED_MODEL_URL"} <= named
    assert {name for name in named if name.startswith("STUDIO_")} <= read


def test_api_page_lists_every_endpoint() -> None:
    page = (ROOT / "docs/api.md").read_text()
    task = "/api/benchmarks/{slug}/personas/{user_id}/tasks/{id}/"
    named = set()
    for methods, path in re.findall(r"^\| `([A-Z, ]+) (\S+)` \|", page, re.MULTILINE):
        path = path.replace("…/tasks/{id}/", task)
        named |= {(method, path) for method in methods.split(", ")}
    schema = SchemaGenerator().get_schema(request=None, public=True)
    offered = {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}
    assert named == offered


def test_example_of_a_check_finds_what_it_says() -> None:
    from studio.domain.checks import RULES, find_problems
    from studio.domain.episode import EpisodeSpec
    from studio.domain.persona import PersonaSpec
    from studio.domain.task import TaskSpec

    page = (ROOT / "docs/writing-a-check.md").read_text()
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    before = set(RULES)
    exec(example[1], {})
    [name] = RULES.keys() - before
    try:
        tasks = (TaskSpec(task_id="loud", title="PLAN THE WEEK"), TaskSpec(task_id="calm", title="Plan the week"))
        episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)
        assert [finding.task for finding in find_problems(episode) if finding.rule == name] == ["loud"]
    finally:
        del RULES[name]


def test_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == version


def test_commit_hooks_run_what_exists() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    programs = [hook["entry"].split()[0] for hook in hooks]
    assert all(program == "make" or (ROOT / program).exists() for program in programs)


@pages
def test_named_tests_exist(page: Path):
    """SECURITY.md promises what a test proves."""
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text()):
        assert (ROOT / path).is_file(), path
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE), f"{path}::{name}"
