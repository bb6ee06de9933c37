"""The next changelog is drafted from what people wrote since the last release."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.releases.comparison import LONGEST, draft_changes
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.errata import ErratumOptions, publish_erratum
from studio.drafts.load import load_task
from studio.episodes.moves import Move, make_move
from studio.models import Benchmark, Role, Task, User
from studio.review.workflow import request_changes
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return benchmark_of(*(task(name, checklist=(rubric(f"It names the fee {name}."),)) for name in "abc"))


@pytest.fixture
def owner(benchmark: Benchmark) -> User:
    return member(benchmark, Role.OWNER)


def change(name: str, note: str, by: User) -> int:
    row = Task.objects.get(task_id=name)
    save_task(row.pk, load_task(row).model_copy(update={"title": note}), by=by, note=note)
    return row.pk


def release(benchmark: Benchmark) -> None:
    version = f"1.{benchmark.releases.count()}"
    cut_release(benchmark, ReleaseOptions(version=version, accept="A test."), by=None, signature="Ada")


def test_first_release_has_no_draft(benchmark: Benchmark, owner: User) -> None:
    change("a", "The fee is named", owner)
    assert draft_changes(benchmark) == ""


@pytest.mark.slow
def test_notes_requests_of_reviewers_and_errata_since_the_last_release_are_drafted(
    benchmark: Benchmark, owner: User
) -> None:
    change("a", "Before the release", owner)
    release(benchmark)
    persona = benchmark.personas.get().user_id
    make_move(benchmark.personas.get().pk, Move("split", ("c",), split="held_out"), by=owner)
    pk = change("b", "The fee is named", owner)
    change("c", "Secret", owner)
    submit(pk, by=owner)
    request_changes(pk, by=member(benchmark, Role.REVIEWER), text="Say by when.\nAnd where")
    change("b", "It says by when!", owner)
    publish_erratum(
        benchmark.releases.get(), ErratumOptions(text="The fee was wrong", tasks=[f"{persona}/a"]), by=owner
    )

    assert draft_changes(benchmark).splitlines() == [
        "- Erratum 1 of 1.0: The fee was wrong.",
        f"- {persona}/b: The fee is named. It says by when! A reviewer asked: Say by when. And where.",
    ]
    release(benchmark)
    assert draft_changes(benchmark) == ""


def test_long_draft_says_what_it_leaves_out(benchmark: Benchmark, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    release(benchmark)
    for name in "abc":
        change(name, f"The fee {name} is named.", owner)
    assert LONGEST < 20_000
    monkeypatch.setattr("evaluation.releases.comparison.LONGEST", 80)
    assert draft_changes(benchmark).splitlines()[-1].endswith("more")


@pytest.mark.slow
def test_draft_stands_in_the_form_to_be_edited(benchmark: Benchmark, owner: User, client: Client) -> None:
    release(benchmark)
    change("a", "The fee is named.", owner)
    address = reverse("evaluation:release_new", args=[benchmark.slug])
    client.force_login(owner)
    assert "a: The fee is named.</textarea>" in client.get(address).content.decode()
    client.force_login(member(benchmark, Role.VIEWER))
    assert "The fee is named.</textarea>" not in client.get(address).content.decode()
