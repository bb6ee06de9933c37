"""The sample benchmark and the accounts to look at it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from studio.domain.plan import Plan
from studio.imports.importer import import_path
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Benchmark, Membership, Role, User

SLUG = "sample"
NAME = "Sample benchmark"
PLAN = Plan(sessions=7, groups=2, standalone=3)
DESCRIPTION = "Two personas from different fields, to learn from and experiment with."


_furnishers: list[Callable[[Benchmark], None]] = []


def register_furnisher(furnish: Callable[[Benchmark], None]) -> None:
    """Name a function that adds to a new sample benchmark what the rooms above authoring have to show."""
    if furnish not in _furnishers:
        _furnishers.append(furnish)


@dataclass(frozen=True)
class DemoAccount:
    """Someone to sign in as. The password is meant to be read by everyone who sees the studio start."""

    username: str
    display_name: str
    role: Role

    @property
    def password(self) -> str:
        return f"{self.username}-demo"


ACCOUNTS = (
    DemoAccount("owner", "Olga Owner", Role.OWNER),
    DemoAccount("author", "Aki Author", Role.AUTHOR),
    DemoAccount("reviewer", "Rosa Reviewer", Role.REVIEWER),
    DemoAccount("auditor", "Abel Auditor", Role.AUDITOR),
    DemoAccount("manager", "Mina Manager", Role.RELEASE_MANAGER),
    DemoAccount("viewer", "Vito Viewer", Role.VIEWER),
)


class SampleError(Exception):
    """The files of the sample cannot be imported. The text says why."""


@transaction.atomic
def load_sample() -> bool:
    """Make the sample benchmark and the demo accounts where they are missing; True if anything was made.

    What is there is left as people made it: an account keeps its password and its roles, the benchmark its tasks.
    """
    made = False
    people = {}
    for account in ACCOUNTS:
        person, new = User.objects.get_or_create(
            username=account.username, defaults={"display_name": account.display_name}
        )
        if new:
            person.set_password(account.password)
            person.save(update_fields=["password"])
        people[account.role] = person
        made |= new
    taxonomy = ensure_taxonomy()
    benchmark, new = Benchmark.objects.get_or_create(
        slug=SLUG,
        defaults={
            "name": NAME,
            "description": DESCRIPTION,
            "taxonomy": taxonomy,
            "created_by": people[Role.OWNER],
            **{f"plan_{name}": value for name, value in PLAN.to_json().items()},
        },
    )
    if new:
        Membership.objects.bulk_create(
            Membership(benchmark=benchmark, user=person, role=role) for role, person in people.items()
        )
        report = import_path(benchmark, settings.BASE_DIR / "fixtures" / "sample" / "data", by=people[Role.AUTHOR])
        if report.errors:
            first = report.errors[0]
            raise SampleError(f"{first.file}:{first.line}: {first.message} {first.mend}")
        for furnish in _furnishers:
            furnish(benchmark)
    return made or new
