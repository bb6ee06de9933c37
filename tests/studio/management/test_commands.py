from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, ManagementUtility, call_command

from studio.models import Benchmark, Import, Membership, Task, User
from tests.studio.domain.pibench.folders import PERSONA, documents, files, parsed, task_yaml

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def root(db: None) -> User:
    """Whom commands act for."""
    return User.objects.create(username="root", is_superuser=True)


def call(*arguments: str) -> tuple[int, str]:
    """Exit status and standard output."""
    out = StringIO()
    try:
        call_command(*arguments, stdout=out, stderr=StringIO())
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, out.getvalue()
    return 0, out.getvalue()


def call_json(*arguments: str) -> tuple[int, dict[str, Any]]:
    status, text = call(*arguments, "--json")
    document = json.loads(text)
    assert isinstance(document, dict)
    return status, document


def write(folder: Path, **changes: Any) -> Path:
    for path, content in files(documents() | changes).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder / "data"


def test_import_creates_the_benchmark_and_prints_the_report(tmp_path: Path, root: User) -> None:
    status, report = call_json("pibench_import", str(write(tmp_path)), "--benchmark", "flying")

    assert status == 0
    counts = ["created", "updated", "unchanged", "totals"]
    names = ["warnings", "errors", "left_out", "changes", "pack", "publication", "unchecked"]
    assert list(report) == counts + names
    assert (report["created"], report["updated"], report["unchanged"]) == (2, 0, 0)
    assert list(report["totals"]) == [
        "personas",
        "tasks",
        "hidden_intents",
        "rubric_items",
        "rule_checks",
        "dependency_groups",
    ]
    assert report["changes"]["created"] == [{"persona": PERSONA, "task": "t1"}, {"persona": PERSONA, "task": "t2"}]
    benchmark = Benchmark.objects.get(slug="flying")
    assert Membership.objects.get(benchmark=benchmark).user == root
    assert benchmark.taxonomy is not None and benchmark.taxonomy.categories.count() == 18


def test_import_that_nobody_could_see_is_refused_and_owner_names_who_gets_it(tmp_path: Path, root: User) -> None:
    data = str(write(tmp_path))
    User.objects.filter(pk=root.pk).update(is_superuser=False)

    status, report = call_json("pibench_import", data, "--benchmark", "flying")
    assert (status, Benchmark.objects.exists()) == (2, False)
    assert "createsuperuser" in report["errors"][0]["fix"]

    assert call("pibench_import", data, "--benchmark", "flying", "--owner", "root")[0] == 0
    assert [row.user for row in Membership.objects.filter(benchmark__slug="flying", role="owner")] == [root]


def test_import_with_errors_exits_with_1_and_stores_nothing(tmp_path: Path) -> None:
    broken = write(tmp_path, **{"tasks/t1/task.yaml": b"a: b: c"})

    status, report = call_json("pibench_import", str(broken), "--benchmark", "flying")

    assert status == 1
    [error] = report["errors"]
    assert list(error) == ["file", "line", "column", "message", "fix"]
    assert (error["file"], error["line"], error["column"]) == (f"data/{PERSONA}/tasks/t1/task.yaml", 1, 5)
    assert not Benchmark.objects.exists()


def test_dry_run_stores_nothing_and_published_waits_for_another_owner(tmp_path: Path) -> None:
    data = str(write(tmp_path))

    status, report = call_json("pibench_import", data, "--benchmark", "flying", "--dry-run")
    assert (status, report["created"], Benchmark.objects.count()) == (0, 2, 0)

    status, text = call("pibench_import", data, "--benchmark", "flying", "--published")
    assert (status, set(Task.objects.values_list("state", flat=True))) == (0, {"draft"})
    assert "2 of them wait until another owner confirms" in text
    assert Import.objects.get().get_absolute_url() in text


def test_published_is_for_owners(tmp_path: Path) -> None:
    benchmark = Benchmark.objects.create(slug="flying", name="Flying")
    Membership.objects.create(benchmark=benchmark, user=User.objects.create(username="olga"), role="owner")

    assert call("pibench_import", str(write(tmp_path)), "--benchmark", "flying", "--published")[0] == 2
    assert not Task.objects.exists()


def test_import_prints_a_summary_for_people(tmp_path: Path) -> None:
    data = write(tmp_path, **{"tasks/t2/task.yaml": task_yaml("t2", title="", objectives={"checklist": [
        {"criterion": "x"}]})})  # fmt: skip

    _, text = call("pibench_import", str(data), "--benchmark", "flying")

    assert f"warning  data/{PERSONA}/tasks/t2/task.yaml:5:8: The title is empty." in text
    assert "1 persona, 2 tasks, 2 hidden intents" in text
    assert "2 created, 0 updated, 0 unchanged." in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("pibench_import", "/nowhere", "--benchmark", "x"),
        ("pibench_import", "/tmp", "--benchmark", "not a slug"),
        ("pibench_import", "/tmp", "--benchmark", "x", "--by", "nobody"),
        ("pibench_export", "--benchmark", "nowhere", "--out", "/tmp/never"),
        ("check_tasks", "--benchmark", "nowhere"),
    ],
)
def test_wrong_usage_exits_with_2_and_prints_one_document(arguments: tuple[str, ...]) -> None:
    status, document = call_json(*arguments)

    assert status == 2
    assert document["errors"][0]["message"] and document["errors"][0]["fix"]


def test_export_writes_what_was_imported(tmp_path: Path) -> None:
    data = write(tmp_path / "in", **{"tasks/t1/a.bin": b"\xff"})
    call("pibench_import", str(data), "--benchmark", "flying")

    status, report = call_json("pibench_export", "--benchmark", "flying", "--out", str(tmp_path / "out"))

    assert (status, report["personas"]) == (0, [PERSONA])
    folders = [
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "in", tmp_path / "out")
    ]
    assert parsed(folders[0]) == parsed(folders[1])


def test_export_does_not_write_into_an_existing_folder(tmp_path: Path) -> None:
    call("pibench_import", str(write(tmp_path)), "--benchmark", "flying")

    status, report = call_json("pibench_export", "--benchmark", "flying", "--out", str(tmp_path))

    assert status == 2
    assert "already exists" in report["errors"][0]["message"]


def test_check_prints_findings_as_documented(tmp_path: Path) -> None:
    goals = {"checklist": [{"criterion": "x"}, {"criterion": ""}]}
    data = write(tmp_path, **{"tasks/t2/task.yaml": task_yaml("t2", objectives=goals)})
    call("pibench_import", str(data), "--benchmark", "flying")

    status, document = call_json("check_tasks", "--benchmark", "flying", "--persona", PERSONA)

    assert status == 1
    [finding] = document["findings"]
    assert list(finding) == [
        "persona",
        "task",
        "rule",
        "severity",
        "field",
        "item",
        "passage",
        "message",
        "fix",
        "other",
        "waived",
    ]
    assert (finding["task"], finding["rule"], finding["field"], finding["item"]) == (
        "t2",
        "empty-criterion",
        "checklist",
        2,
    )


def test_check_without_findings_exits_with_0(tmp_path: Path) -> None:
    call("pibench_import", str(write(tmp_path)), "--benchmark", "flying")

    assert call_json("check_tasks", "--benchmark", "flying") == (0, {"findings": []})
    assert call("check_tasks", "--benchmark", "flying", "--persona", "nobody")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("pibench_import", "--json"),
        ("pibench_import", "somewhere", "--benchmark", "one", "--json", "--no-such-option"),
        ("pibench_export", "--benchmark", "one", "--json"),
        ("check_tasks", "--json"),
        ("check_tasks", "--json", "--benchmark", "one\udcff"),
        ("pilot", "--benchmark", "one", "--agent", "a", "--runs", "many", "--json"),
        ("release", "--benchmark", "one", "--json"),
    ],
)
def test_undecodable_arguments_print_one_document(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["manage.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", *arguments]).execute()

    document = json.loads(capsys.readouterr().out)
    assert ended.value.code == 2
    assert document["errors"][0].keys() == {"file", "line", "column", "message", "fix"}


@pytest.mark.slow
def test_missing_database_is_reported_as_text_and_as_a_document() -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "CELERY_BROKER_URL": "redis://:0",
    }
    command = [sys.executable, "manage.py", "check_tasks", "--benchmark", "one", "--json"]

    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "The database is not available" in json.loads(done.stdout)["errors"][0]["message"]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_failed_embedded_server_is_reported_as_text_and_as_a_document(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file where the folder has to be")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
    }
    command = [sys.executable, "manage.py", "check_tasks", "--benchmark", "one"]
    environment |= {"STUDIO_DATA_DIR": str(taken), "DJANGO_SETTINGS_MODULE": "studio.settings"}

    process = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )
    done = subprocess.run(
        [*command, "--json"], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )

    assert process.returncode == done.returncode == 1
    assert "cannot be made" in process.stderr
    assert json.loads(done.stdout)["findings"] == []
    assert "cannot be made" in json.loads(done.stdout)["errors"][0]["message"]
    assert "Traceback" not in done.stderr
