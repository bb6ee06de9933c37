from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from studio.domain.persona import PersonaSpec
from studio.domain.task import HiddenIntent, TaskSpec
from studio.drafts.load import load_episode, load_task
from studio.imports.importer import ImportReport, find_reading_errors, import_archive, import_files, import_path
from studio.imports.single_tasks import with_personas
from studio.imports.staging import confirm, preview
from studio.models import Benchmark, Blob, Event, Membership, Persona, Review, Revision, Role, Task, User
from studio.personas.create import create_persona
from studio.tasks.create import create_task
from studio.tasks.save import save_task
from tests.bench.import_2000 import files as many_files
from tests.drafts import benchmark_files, save_order
from tests.factories import api_token, mark_approved
from tests.packs import write_pack
from tests.studio.domain.pibench.folders import PERSONA, documents, files, parsed, task_yaml

pytestmark = pytest.mark.django_db
GRADER = b"def score(history):\n    return {'sent': 0, 'saved': 0}\n"
ROOT = f"data/{PERSONA}/"


@pytest.fixture
def author() -> User:
    return User.objects.create(username="ada")


@pytest.fixture
def bench() -> Benchmark:
    return Benchmark.objects.create(slug="bench", name="Bench")


def sound(**changes: Any) -> dict[str, bytes]:
    return files(documents() | changes)


def brief(report: ImportReport) -> tuple[list[str], list[tuple[str | None, list[str]]], list[str]]:
    assert report.errors == []
    return (
        [entry["task"] for entry in report.created],
        [(entry["task"], entry["changed"]) for entry in report.updated],
        [entry["task"] for entry in report.unchanged],
    )


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Persona, Task, Revision, Event, Review, Blob))


def test_first_import_creates_drafts_with_their_history(bench: Benchmark, author: User) -> None:
    report = import_files(bench, sound(), by=author)

    assert brief(report) == (["t1", "t2"], [], [])
    rows = Task.objects.order_by("position")
    assert [(row.task_id, row.position, row.state, row.version) for row in rows] == [
        ("t1", 1, "draft", 1),
        ("t2", 2, "draft", 1),
    ]
    assert [(event.verb, event.summary, event.actor) for event in rows[0].events.all()] == [
        ("imported", "Imported.", author)
    ]
    assert report.totals == {
        "personas": 1,
        "tasks": 2,
        "hidden_intents": 2,
        "rubric_items": 1,
        "rule_checks": 0,
        "dependency_groups": 1,
    }


@pytest.mark.slow
def test_published_personas_have_the_known_totals_and_import_idempotently(bench: Benchmark, pibench_data: Path) -> None:
    report = import_path(bench, pibench_data, by=None)

    assert report.totals == {
        "personas": 2,
        "tasks": 40,
        "hidden_intents": 89 + 74,
        "rubric_items": 131 + 58,
        "rule_checks": 0,
        "dependency_groups": 12,
    }
    assert sum("rule checks cannot be counted" in warning.message for warning in report.warnings) == 9
    before = counts()
    assert len(brief(import_path(bench, pibench_data, by=None))[2]) == 40
    assert counts() == before


@pytest.mark.slow
def test_published_personas_are_exported_document_by_document_as_imported(bench: Benchmark, pibench_data: Path) -> None:
    import_path(bench, pibench_data, by=None)

    folder = {
        f"data/{path.relative_to(pibench_data).as_posix()}": path.read_bytes()
        for path in pibench_data.rglob("*")
        if path.is_file()
    }
    assert parsed(benchmark_files(bench)) == parsed(folder)


def test_unusual_values_survive_import_and_export(bench: Benchmark) -> None:
    odd = """schema_version: v2
x_when: 2027-03-01
metadata: {z: .nan, a: -.inf, 1: one, null: {d: 2001-12-14t21:59:43.10-05:00}, big: 123456789012345678901, b: 1.0}
intent:
  hidden_intent: [{status: not_provided, x_more: [yes, ~], content: "tab\\tand \\u2028 line\\r\\n"}]
  initial_input: "💡 \\x85"
task_id: "t1 "
""".encode()
    folder = sound(**{"tasks/t1/task.yaml": odd, "tasks/t1/raw.bin": bytes(range(256))})

    assert import_files(bench, folder, by=None).errors == []

    assert parsed(benchmark_files(bench)) == parsed(folder)
    assert brief(import_files(bench, folder, by=None))[2] == ["t1", "t2"]


def test_changed_folder_updates_only_the_tasks_concerned(bench: Benchmark, author: User) -> None:
    import_files(bench, sound(), by=author)
    mark_approved()
    changed = task_yaml("t1", title="New title", intent={"initial_input": "Please plan the week.", "hidden_intent": [
        {"content": "Two pages"}, {"content": "Metric units"}]})  # fmt: skip
    uid = load_task(Task.objects.get(task_id="t1")).intents[0].uid

    report = import_files(bench, sound(**{"tasks/t1/task.yaml": changed}), by=author)

    assert brief(report) == ([], [("t1", ["title", "intents"])], ["t2"])
    first, second = Task.objects.order_by("position")
    assert (first.version, first.state, first.revisions.count()) == (2, "draft", 2)
    assert (second.version, second.state) == (1, "approved")
    assert first.events.first().summary == "Changed the title and the hidden intents."  # type: ignore[union-attr]
    assert {i.content: i.uid for i in load_task(first).intents}["Metric units"] == uid


def test_an_imported_persona_comes_after_those_that_are_here(bench: Benchmark) -> None:
    create_persona(bench, PersonaSpec(user_id="miller", name="Miller"), by=None)

    import_files(bench, sound(), by=None)

    rows = bench.personas.order_by("position").values_list("user_id", "position")
    assert list(rows) == [("miller", 1), (PERSONA, 2)]


def test_changed_profile_is_reported_for_the_persona(bench: Benchmark) -> None:
    import_files(bench, sound(), by=None)
    whole = documents()
    whole["profile.yaml"]["role"] = "A glider pilot."

    assert brief(import_files(bench, files(whole), by=None)) == ([], [(None, ["role_text"])], ["t1", "t2"])


def test_new_order_is_imported(bench: Benchmark) -> None:
    whole = documents(t3=task_yaml("t3"))
    whole["episode.yaml"]["tasks"].append({"task_id": "t3"})
    import_files(bench, files(whole), by=None)
    first, second, third = whole["episode.yaml"]["tasks"]
    whole["episode.yaml"]["tasks"] = [third, first, second]

    report = import_files(bench, files(whole), by=None)

    assert brief(report) == ([], [(None, ["episode"])], ["t3", "t1", "t2"])
    assert [task.task_id for task in load_episode(Persona.objects.get()).tasks] == ["t3", "t1", "t2"]


def test_task_missing_from_the_files_stays_outside_the_episode(bench: Benchmark) -> None:
    import_files(bench, sound(), by=None)
    whole = documents()
    del whole["tasks/t1/task.yaml"]
    whole["episode.yaml"]["tasks"] = [{"task_id": "t2"}]

    report = import_files(bench, files(whole), by=None)

    assert any("“t1” is in the studio but not among the files" in warning.message for warning in report.warnings)
    assert Task.objects.get(task_id="t1").position is None
    connection.check_constraints()
    assert brief(import_files(bench, files(whole), by=None))[1] == []


def test_import_with_an_error_stores_nothing(bench: Benchmark) -> None:
    broken = sound(**{"tasks/t2/task.yaml": task_yaml("t2", schema_version="v1")})

    report = import_files(bench, broken, by=None)

    assert [(error.file, error.line) for error in report.errors] == [(f"{ROOT}tasks/t2/task.yaml", 1)]
    assert counts() == (0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("UPLOAD_MAX_TASK_FILES", 1, "at most 1 files"),
        ("UPLOAD_MAX_TASK_BYTES", 5, "together are larger"),
        ("UPLOAD_MAX_FILE_BYTES", 3, "“b.txt” is larger"),
    ],
)
def test_import_obeys_the_editors_limits_on_a_tasks_files(
    bench: Benchmark, settings: Any, limit: str, value: int, message: str
) -> None:
    setattr(settings, limit, value)

    report = import_files(bench, sound(**{"tasks/t1/a.txt": b"abc", "tasks/t1/b.txt": b"abcd"}), by=None)

    assert [(error.file, message in error.message) for error in report.errors] == [(f"{PERSONA}/tasks/t1", True)]
    assert counts() == (0,) * 6


@pytest.mark.parametrize("name", ["CON", "nul.md", "notes.", "plan.md ", "fdp\u202exe.md"])
def test_import_refuses_file_names_that_the_editor_refuses(bench: Benchmark, name: str) -> None:
    report = import_files(bench, sound(**{f"tasks/t1/{name}": b"abc"}), by=None)

    assert len(report.errors) == 1
    assert counts() == (0,) * 6


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("title", "x" * 301, "The title has 301 characters; the limit is 300."),
        ("intents", 301, "There are 301 rows in “hidden intents”; the limit is 300."),
    ],
)
def test_import_names_line_and_field_of_a_task_beyond_the_limits(
    bench: Benchmark, field: str, text: Any, message: str
) -> None:
    whole = documents()
    task = task_yaml("t1")
    if field == "title":
        task["title"] = text
    else:
        task["intent"]["hidden_intent"] = [{"content": f"Wants {n}."} for n in range(text)]

    report = import_files(bench, files(whole | {"tasks/t1/task.yaml": task}), by=None)

    assert [error.message for error in report.errors] == [message]
    assert report.errors[0].line


def test_dry_run_reports_everything_and_stores_nothing(bench: Benchmark) -> None:
    report = import_files(bench, sound(**{"tasks/t1/a.txt": b"a"}), by=None, dry_run=True)

    assert brief(report)[0] == ["t1", "t2"]
    assert counts() == (0, 0, 0, 0, 0, 0)


def test_rule_checks_are_the_keys_of_the_scripts(bench: Benchmark) -> None:
    goals = {"checklist": [{"criterion": "x"}], "tools_evaluation_path": f"data/{PERSONA}/scripts/x.py"}
    folder = sound(
        **{
            "tasks/t2/task.yaml": task_yaml("t2", objectives=goals),
            "scripts/x.py": GRADER,
            "scripts/unused.py": GRADER + b"#",
            "scripts/broken.py": b"import nowhere\n",
        }
    )

    report = import_files(bench, folder, by=None)

    assert report.totals["rule_checks"] == 4
    assert any("scripts/broken.py" in warning.file and "cannot be counted" in warning.message
               for warning in report.warnings)  # fmt: skip
    keys = Persona.objects.get().grader_scripts.values_list("path", "keys")
    assert list(keys) == [
        ("scripts/broken.py", None),
        ("scripts/unused.py", ["sent", "saved"]),
        ("scripts/x.py", ["sent", "saved"]),
    ]


def test_own_export_changes_nothing_when_imported(bench: Benchmark, author: User) -> None:
    persona = create_persona(bench, PersonaSpec(user_id="Nurse", role_text="A nurse.", tools=("a__b",)), by=author)
    intent = HiddenIntent(uid="0dbb5e1c-6f4e-4f43-9c44-6f0b1e1a5a10", content="Metric", scope="persistent")
    row = create_task(persona, TaskSpec(task_id="t1", title="Units", initial_request="x", intents=(intent,)), by=author)
    before = counts()

    report = import_files(bench, benchmark_files(bench), by=author)

    assert brief(report) == ([], [], ["t1"])
    assert counts() == before
    assert load_task(row).source == {}


def test_edit_survives_export_and_import(bench: Benchmark, author: User) -> None:
    import_files(bench, sound(), by=author)
    row = Task.objects.get(task_id="t2")
    save_task(row.pk, load_task(row).model_copy(update={"title": "Edited", "category": "B"}), by=author)
    folder = benchmark_files(bench)
    other = Benchmark.objects.create(slug="other", name="Other")

    assert import_files(other, folder, by=author).errors == []

    assert benchmark_files(other) == folder
    assert Task.objects.get(task_id="t2", persona__benchmark=other).category == "B"


def test_changed_order_is_exported(bench: Benchmark, author: User) -> None:
    import_files(bench, sound(**{"tasks/t3/task.yaml": task_yaml("t3")}), by=author)

    save_order(Persona.objects.get().pk, ["t1", "t3", "t2"], by=author)

    again = Benchmark.objects.create(slug="again", name="Again")
    import_files(again, benchmark_files(bench), by=author)
    assert [t.task_id for t in load_episode(again.personas.get()).tasks] == ["t1", "t3", "t2"]


def zipped(folder: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, content in folder.items():
            archive.writestr(path, content)
    return out.getvalue()


def test_zip_folder_and_upload_import_alike(bench: Benchmark, tmp_path: Path) -> None:
    folder = sound(**{"tasks/t1/a.txt": b"a"})
    for path, content in folder.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    import_files(bench, folder, by=None)

    for report in (
        import_archive(bench, zipped(folder), by=None),
        import_archive(bench, zipped(files(documents() | {"tasks/t1/a.txt": b"a"}, "")), name=PERSONA, by=None),
        import_path(bench, tmp_path / "data", by=None),
        import_path(bench, tmp_path / "data" / PERSONA, by=None),
    ):
        assert brief(report) == ([], [], ["t1", "t2"])


def test_hostile_zip_stores_nothing(bench: Benchmark) -> None:
    report = import_archive(bench, zipped(sound() | {"../evil": b"x"}), by=None)

    assert [error.file for error in report.errors] == ["../evil"]
    assert counts() == (0, 0, 0, 0, 0, 0)


def test_link_in_a_folder_is_rejected(bench: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").symlink_to("/etc/passwd")

    [error] = import_path(bench, tmp_path, by=None).errors

    assert error.message == "This is a link."


def test_incomplete_pack_is_rejected(bench: Benchmark) -> None:
    pack = write_pack({}, sound())
    damaged = {"pack.json": zipfile.ZipFile(io.BytesIO(pack)).read("pack.json")} | sound(**{"tools.yaml": ["other"]})

    assert import_archive(bench, zipped(damaged), by=None).errors[0].file == "pack.json"
    assert brief(import_archive(bench, pack, by=None))[0] == ["t1", "t2"]


def test_reading_errors_are_found_without_storing() -> None:
    assert find_reading_errors(sound()) == []
    assert find_reading_errors({"../x": b""})[0]["message"] == "The name leads out of its folder."


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_the_number_of_tasks(bench: Benchmark) -> None:
    few, many = many_files(personas=2, tasks=3), many_files(personas=4, tasks=15)
    for slug, folder in (("few", few), ("many", many)):  # what processes remember of contents is known from here on
        import_files(Benchmark.objects.create(slug=slug, name=slug), folder, by=None)
    with CaptureQueriesContext(connection) as first:
        import_files(bench, few, by=None)
    other = Benchmark.objects.create(slug="other", name="Other")
    with CaptureQueriesContext(connection) as second:
        import_files(other, many, by=None)

    copied = [query for query in second if query["sql"].startswith("COPY")]
    assert len(second) - len(copied) <= len(first)  # a COPY asks for its rows' keys, an INSERT returns them


@pytest.mark.slow
def test_tasks_saved_in_parts_are_stored_as_all_at_once(bench: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    files = many_files(personas=3, tasks=3)
    import_files(bench, files, by=None)
    monkeypatch.setattr("studio.imports.store.TASKS_AT_ONCE", 2)
    parted = Benchmark.objects.create(slug="parted", name="Parted")
    report = import_files(parted, files, by=None)

    assert len(report.created) == 9
    for persona in parted.personas.all():
        assert load_episode(persona) == load_episode(bench.personas.get(user_id=persona.user_id))
    assert import_files(parted, files, by=None).totals["tasks"] == len(report.created)


@pytest.mark.slow
def test_only_owners_import_tool_servers_and_others_are_told_who_can(bench: Benchmark, author: User) -> None:
    owner = User.objects.create(username="olga")
    Membership.objects.create(benchmark=bench, user=owner, role=Role.OWNER)
    Membership.objects.create(benchmark=bench, user=author, role=Role.AUTHOR)
    program = {f"{ROOT}mcp/weather/main.py": b"print(1)\n", f"{ROOT}notes/a.md": b"x"}
    server = {f"{ROOT}mcp/weather.json": b'{"address": "https://tools.example.org/mcp", "tools": []}'}
    first = sound() | program | server

    def stored_files() -> set[str]:
        spec = load_episode(Persona.objects.get(benchmark=bench)).persona
        return {file.path for file in spec.files if file.path.startswith(("mcp/", "notes/"))}

    staged = preview(bench, zipped(first), name="a.zip", by=author, published=False)
    told = [warning["message"] for warning in staged.report["warnings"]]
    assert told == ["It was left out: only an owner of the benchmark can add or change tool servers."] * 2
    assert confirm(staged, by=owner).ok  # what the preview said
    assert stored_files() == {"notes/a.md"}

    sent = {"archive": SimpleUploadedFile("a.zip", zipped(first))}
    headers = {"Authorization": f"Token {api_token(author)}"}
    answer = Client(headers=headers).post(reverse("studio:api_imports", args=["bench"]), sent)
    assert [warning["file"] for warning in answer.json()["warnings"]] == [
        f"{PERSONA}/mcp/weather.json",
        f"{PERSONA}/mcp/weather/main.py",
    ]
    assert stored_files() == {"notes/a.md"}

    assert import_files(bench, first, by=owner).warnings == []
    assert stored_files() == {"notes/a.md", "mcp/weather.json", "mcp/weather/main.py"}

    assert import_files(bench, first, by=author).warnings == []
    without = import_files(bench, sound(), by=author)
    assert [warning.message.partition(":")[0] for warning in without.warnings] == [
        "It stays as it is in the studio",
        "It stays as it is in the studio",
    ]
    assert stored_files() == {"mcp/weather.json", "mcp/weather/main.py"}


def alone(path: str, task: dict[str, Any]) -> dict[str, bytes]:
    return files({f"tasks/{path}/task.yaml": task})


def test_a_single_task_is_imported_without_its_persona_and_moves_nothing(bench, author):
    import_files(bench, sound(), by=None)
    before = load_episode(bench.personas.get())
    changed = task_yaml("t2", title="Anew", objectives={"checklist": [{"criterion": "In metres", "weight": 2}]})

    report = import_files(bench, alone("t2", changed), by=author)

    after = load_episode(bench.personas.get())
    assert brief(report) == ([], [("t2", ["title"])], ["t1"])
    assert [task.task_id for task in after.tasks] == ["t1", "t2"] and after.unplaced == ()
    assert (after.persona, after.tasks[0]) == (before.persona, before.tasks[0])
    assert after.tasks[1].depends_on == before.tasks[1].depends_on
    assert report.totals["tasks"] == 1 and report.warnings == []


def test_a_single_new_task_has_no_place_in_the_episode_yet(bench, author):
    import_files(bench, sound(), by=None)

    report = import_files(bench, alone("t3", task_yaml("t3")), by=author)

    after = load_episode(bench.personas.get())
    assert brief(report)[0] == ["t3"]
    assert [[task.task_id for task in tasks] for tasks in (after.tasks, after.unplaced)] == [["t1", "t2"], ["t3"]]


def test_what_comes_beside_a_single_task_is_left_out_with_a_warning(bench, author):
    stored = {"scripts/old.py": GRADER, "notes/a.md": b"x", "notes/b.md": b"y"}
    import_files(bench, sound() | {f"{ROOT}{path}": content for path, content in stored.items()}, by=None)
    before = load_episode(bench.personas.get())
    new = task_yaml(
        "t3", objectives={"tools_evaluation_path": "scripts/new.py", "checklist": [{"criterion": "In metres"}]}
    )
    beside = {"scripts/new.py": GRADER, "tools.yaml": b"tools: []", "notes/a.md": b"x", "notes/b.md": b"changed"}
    beside |= {"scripts/old.py": GRADER, "tasks/t4/notes.md": b"", ".DS_Store": b""}

    upload = {f"{ROOT}{path}": content for path, content in beside.items()}
    report = import_files(bench, alone("t3", new) | upload, by=author)

    said = {warning.file.removeprefix(ROOT): warning.message.partition(":")[0] for warning in report.warnings}
    assert said == {
        "tasks/t3/task.yaml": "The grader “scripts/new.py” is not in the folder; its rule checks cannot be counted.",
        "scripts/new.py": "It was left out",
        "tools.yaml": "It stays as it is in the studio",
        "notes/b.md": "It stays as it is in the studio",
        "tasks/t4/notes.md": "It was left out",
    }
    assert load_episode(bench.personas.get()).persona == before.persona


def test_a_missing_file_of_a_persona_is_told_where_single_tasks_of_another_come_too(bench):
    import_files(bench, {path: data for path, data in sound().items() if path != f"{ROOT}tools.yaml"}, by=None)
    cook = {path.replace(PERSONA, "cook"): data.replace(PERSONA.encode(), b"cook") for path, data in sound().items()}
    cook["data/cook/tasks/t3/notes.md"] = b""
    del cook["data/cook/tools.yaml"]

    report = import_files(bench, cook | alone("t2", task_yaml("t2", title="Anew")), by=None)

    told = {warning.file.removeprefix("data/cook/"): warning.message for warning in report.warnings}
    assert told == {
        "tools.yaml": "There is no list of tools: the persona has none.",
        "tasks/t3/task.yaml": "The folder has no task.yaml; its files are kept and not used.",
    }


def test_single_tasks_of_a_persona_in_two_folders_are_refused_before_its_files_are_read(bench):
    import_files(bench, sound() | {f"{ROOT}notes/a.md": b"x"}, by=None)
    task = files({"tasks/t3/task.yaml": task_yaml("t3")})
    [content] = task.values()

    with CaptureQueriesContext(connection) as queries:
        report = import_files(bench, {f"r{n}/{PERSONA}/tasks/t3/task.yaml": content for n in range(3)}, by=None)

    assert [problem.file for problem in report.errors if "two personas" in problem.message] == [
        f"r1/{PERSONA}/",
        f"r2/{PERSONA}/",
    ]
    assert not any("studio_blob" in query["sql"] for query in queries)


def test_single_tasks_of_many_personas_are_read_with_as_many_queries_as_of_one(bench):
    def folder(persona: str) -> dict[str, bytes]:
        return {path.replace(ROOT, f"data/{persona}/"): content for path, content in sound().items()}

    def queries_for(*personas: str) -> int:
        uploads = [
            {f"data/{name}/tasks/t2/task.yaml": folder(name)[f"data/{name}/tasks/t2/task.yaml"]} for name in personas
        ]
        with CaptureQueriesContext(connection) as queries:
            completed = with_personas(bench, {path: content for each in uploads for path, content in each.items()})
        assert completed.personas == set(personas)
        return len(queries)

    import_files(bench, folder("clerk") | folder("cook") | folder("pilot"), by=None)
    assert queries_for("clerk", "cook", "pilot") == queries_for("clerk")


def test_a_single_task_of_an_unknown_persona_is_refused(bench):
    report = import_files(bench, alone("t2", task_yaml("t2")), by=None)

    assert {problem.file for problem in report.errors} == {f"{ROOT}profile.yaml", f"{ROOT}episode.yaml"}
