"""The guided first task: which step a person is at. A step ends by what the person did, or when they pass it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from studio.models import Benchmark, Persona, Revision, Task, TaskState, User

SAMPLE = "sample"
EXAMPLE = "vet_04_fridge_alarm"
"""The task of the sample that the introduction takes apart."""
OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED)
DONE, LEFT = "done", "left"


@dataclass(frozen=True)
class GuideStep:
    key: str
    title: str
    text: str


STEPS = (
    GuideStep("read", "Read one", "See what a user says, what they leave unsaid, and what is checked afterwards."),
    GuideStep(
        "write",
        "Write one",
        "Pick a starting point, then replace the request with something you would really ask. Your draft is saved as "
        "you type.",
    ),
    GuideStep(
        "mend",
        "Clear the errors",
        "Add what the user leaves unsaid and how to check it. The list beside the task says what is still missing.",
    ),
    GuideStep("try", "Try it", "Rehearse it: you play the assistant and see which intents you would have missed."),
    GuideStep("submit", "Submit it", "Someone else reviews it. Requested changes appear on your Home."),
)
KEYS = [step.key for step in STEPS]


@dataclass(frozen=True)
class Guide:
    step: GuideStep
    address: str
    """Where to do it."""
    task: Task | None

    @property
    def number(self) -> int:
        return KEYS.index(self.step.key) + 1

    @property
    def total(self) -> int:
        return len(STEPS)


def guide_of(user: User, benchmarks: QuerySet[Benchmark]) -> Guide | None:
    """The step this person is at, after passing those they have done; None if they follow no guide or have finished.

    ``benchmarks``: those in which the person may write."""
    if user.guide_step not in KEYS:
        return None
    task = _first_task(user)
    at = KEYS.index(user.guide_step)
    while at < len(KEYS) and _is_done(KEYS[at], user, task):
        at += 1
    _store(user, KEYS[at] if at < len(KEYS) else DONE)
    if at == len(KEYS):
        return None
    return Guide(STEPS[at], _address(KEYS[at], task, benchmarks), task)


def start_guide(user: User) -> None:
    """Begin, or go on with what was begun before leaving."""
    if user.guide_started_at is None or user.guide_step == DONE:
        user.guide_started_at = timezone.now()
        user.save(update_fields=["guide_started_at"])
    _store(user, KEYS[0])


def pass_step(user: User, key: str) -> None:
    """Go on although the step is not done. Nothing if the person is elsewhere by now."""
    if user.guide_step == key and key in KEYS:
        following = KEYS[KEYS.index(key) + 1 :]
        _store(user, following[0] if following else DONE)


def leave_guide(user: User) -> None:
    _store(user, LEFT)


def _store(user: User, step: str) -> None:
    if user.guide_step != step:
        user.guide_step = step
        user.save(update_fields=["guide_step"])


def _first_task(user: User) -> Task | None:
    """The first task that this person began since the guide, and did not retire: the guide stays with it."""
    if user.guide_started_at is None:
        return None
    begun = Revision.objects.filter(number=1, created_by=user, created_at__gte=user.guide_started_at).order_by("pk")
    begun = begun.exclude(task__state=TaskState.RETIRED)
    row = begun.select_related("task__persona__benchmark").defer("spec", "task__spec").first()
    return row.task if row else None


def _is_done(key: str, user: User, task: Task | None) -> bool:
    if task is None:
        return False
    if key == "write":
        return True
    if key == "mend":
        return task.state not in OPEN or bool(task.n_intents and not task.n_errors)
    if key == "try":
        return Revision.objects.filter(task=task, sessions__rehearsal__person=user).exists()  # a row of a higher layer
    return key == "submit" and task.state not in OPEN


def _address(key: str, task: Task | None, benchmarks: QuerySet[Benchmark]) -> str:
    if key == "read":
        example = Task.objects.filter(persona__benchmark__in=benchmarks.filter(slug=SAMPLE), task_id=EXAMPLE)
        row = example.select_related("persona__benchmark").first()
        return row.get_absolute_url() if row else reverse("studio:introduction")
    if task is not None:
        return task.get_absolute_url() + ("rehearse/" if key == "try" else "")
    persona = (
        Persona.objects.filter(benchmark__in=benchmarks.filter(slug=SAMPLE)).first()
        or Persona.objects.filter(benchmark__in=benchmarks).select_related("benchmark").order_by("-pk").first()
    )
    if persona is not None:
        return reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])
    benchmark = benchmarks.order_by("-pk").first()
    return reverse("studio:persona_new", args=[benchmark.slug]) if benchmark else reverse("studio:benchmark_new")
