"""The sample benchmark and demo accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


_data_sources: list[Callable[[Benchmark], None]] = []


def register_sample_data(add_data: Callable[[Benchmark], None]) -> None:
    """Register a function that adds data of a higher layer to a new sample benchmark."""
    if add_data not in _data_sources:
        _data_sources.append(add_data)


@dataclass(frozen=True)
class DemoAccount:
    """The password is public: it is printed when the studio starts."""

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
    DemoAccount("auditor2", "Anna Auditor", Role.AUDITOR),
    DemoAccount("manager", "Mina Manager", Role.RELEASE_MANAGER),
    DemoAccount("viewer", "Vito Viewer", Role.VIEWER),
)


class SampleError(Exception):
    """The sample cannot be imported; the message says why."""


def load_sample() -> bool:
    """Create the sample benchmark and demo accounts where they are missing; return whether any was. Existing accounts
    and tasks are left alone."""
    people, new_people = _create_accounts()
    return _create_benchmark(people) or new_people


@transaction.atomic
def _create_accounts() -> tuple[dict[str, User], bool]:
    people = {}
    changed = False
    for account in ACCOUNTS:
        person, new = User.objects.get_or_create(
            username=account.username, defaults={"display_name": account.display_name}
        )
        if new:
            person.set_password(account.password)
            person.save(update_fields=["password"])
        people[account.username] = person
        changed |= new
    return people, changed


@transaction.atomic
def _create_benchmark(people: Mapping[str, User]) -> bool:
    benchmark, new = Benchmark.objects.get_or_create(
        slug=SLUG,
        defaults={
            "name": NAME,
            "description": DESCRIPTION,
            "taxonomy": ensure_taxonomy(),
            "licence": "Apache-2.0",
            "contributors": ["The π-Bench Studio contributors"],
            "created_by": people["owner"],
            **{f"plan_{name}": value for name, value in PLAN.to_json().items()},
        },
    )
    if new:
        Membership.objects.bulk_create(
            Membership(benchmark=benchmark, user=people[account.username], role=account.role) for account in ACCOUNTS
        )
        report = import_path(benchmark, settings.BASE_DIR / "fixtures" / "sample" / "data", by=people["author"])
        if report.errors:
            raise SampleError(str(report.errors[0]))
        for add_data in _data_sources:
            add_data(benchmark)
    return new
