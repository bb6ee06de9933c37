"""Task templates of a benchmark."""

from __future__ import annotations

from django.db.models import QuerySet, Value
from django.db.models.functions import Lower

from studio.access import AnyUser, may
from studio.domain.persona import script_path
from studio.domain.task import Recovery, TaskSpec
from studio.drafts.authors import contributors_to
from studio.drafts.load import load_episode
from studio.drafts.validate import UNSTORABLE
from studio.models import Benchmark, Event, Task, TaskTemplate, TemplateFile, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.versions import spec_at

MAX_TEMPLATES = 200
"""Templates of one benchmark."""
MAX_NAME = 120
MAX_WHEN = 300


class TaskTemplateError(ValueError):
    """A template that cannot be saved: ``field`` locates the problem, the message says what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def templates_of(benchmark: Benchmark) -> QuerySet[TaskTemplate]:
    return benchmark.templates.defer("spec").select_related("created_by", "made_from__persona__benchmark")


def may_change(user: AnyUser, template: TaskTemplate) -> bool:
    own = template.created_by_id == user.pk and may(user, template.benchmark, "edit")
    return own or may(user, template.benchmark, "manage")


@atomic_with_retry
def save_template(task: Task, *, name: str, when: str, version: int, by: User) -> TaskTemplate:
    """Save a version of the task, with its files and grader script, as a template. Raises TaskTemplateError."""
    persona = task.persona
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=persona.benchmark_id)
    name, when = _validated(benchmark, name, when)
    if benchmark.templates.count() >= MAX_TEMPLATES:
        raise TaskTemplateError("name", f"There are already {MAX_TEMPLATES} templates here. Delete one first.")
    spec = spec_at(task, version)
    script = load_episode(persona).persona.script(spec.grader_script) if spec.grader_script else None
    content = without_ids(spec, persona.user_id)
    template = TaskTemplate.objects.create(
        benchmark=benchmark,
        name=name,
        when=when,
        spec=content.to_json(),
        trigger_kind=content.trigger.kind,
        n_intents=len(content.intents),
        n_items=len(content.scored_items),
        n_files=len(content.assets),
        made_from=task,
        made_from_version=version if version <= task.version else task.version,
        created_by=by,
    )
    template.authors.set(contributors_to(task, template.made_from_version))
    files = [(TemplateFile.Kind.ASSET, file.path, file.sha256) for file in content.assets]
    files += [(TemplateFile.Kind.REFERENCE, file.path, file.sha256) for file in content.references]
    if script:
        files.append((TemplateFile.Kind.SCRIPT, script.path, script.sha256))
    TemplateFile.objects.bulk_create(
        TemplateFile(template=template, kind=kind, path=path, blob_id=sha) for kind, path, sha in files
    )
    Event.objects.create(
        benchmark=benchmark,
        persona=persona,
        task=task,
        actor=by,
        verb="saved_as_template",
        summary=f"“{name}”, as of version {template.made_from_version}.",
        data={"template": template.pk},
    )
    return template


@atomic_with_retry
def rename_template(template: TaskTemplate, *, name: str, when: str, by: User) -> TaskTemplate:
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=template.benchmark_id)
    row = TaskTemplate.objects.select_for_update(no_key=True).get(pk=template.pk)
    old, (name, when) = row.name, _validated(benchmark, name, when, but=row.pk)
    if (name, when) == (row.name, row.when):
        return row
    row.name, row.when = name, when
    row.save(update_fields=["name", "when"])
    summary = f"Renamed the template “{old}” to “{name}”." if name != old else f"Described when to use “{name}”."
    Event.objects.create(benchmark=benchmark, actor=by, verb="template_changed", summary=summary)
    return row


@atomic_with_retry
def delete_template(template: TaskTemplate, *, by: User) -> None:
    TaskTemplate.objects.filter(pk=template.pk).delete()
    summary = f"Deleted the template “{template.name}”."
    Event.objects.create(benchmark_id=template.benchmark_id, actor=by, verb="template_deleted", summary=summary)


def without_ids(spec: TaskSpec, folder: str) -> TaskSpec:
    """Without ids, dependencies, group and imported sources; the grader script's path is relative to ``folder``."""
    intents = tuple(
        intent.model_copy(
            update={
                "source": {},
                "recoverable_from": tuple(
                    Recovery(kind="session", note=source.note) if source.kind == "session" else source
                    for source in intent.recoverable_from
                ),
            }
        )
        for intent in spec.intents
    )
    return spec.model_copy(
        update={
            "task_id": "",
            "user_id": "",
            "environment_id": "",
            "depends_on": (),
            "group": "",
            "grader_script": script_path(folder, spec.grader_script),
            "intents": intents,
            "checklist": tuple(item.model_copy(update={"source": {}}) for item in spec.checklist),
            "tool_evidence": tuple(evidence.model_copy(update={"source": {}}) for evidence in spec.tool_evidence),
            "source": {},
        }
    )


def _validated(benchmark: Benchmark, name: str, when: str, *, but: int | None = None) -> tuple[str, str]:
    name, when = (" ".join(UNSTORABLE.sub("", text).split()) for text in (name, when))
    if not name:
        raise TaskTemplateError("name", "Enter a name, such as “Weekly report to the board”.")
    for field, text, limit in (("name", name, MAX_NAME), ("when", when, MAX_WHEN)):
        if len(text) > limit:
            raise TaskTemplateError(field, f"This has {len(text)} characters; the limit is {limit}. Shorten it.")
    same = benchmark.templates.alias(low=Lower("name")).filter(low=Lower(Value(name))).exclude(pk=but or 0)
    if (other := same.first()) is not None:
        raise TaskTemplateError("name", f"A template “{other.name}” already exists. Choose another name.")
    return name, when
