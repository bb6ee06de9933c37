"""Permissions: roles in a benchmark decide, for pages, API and commands alike."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django_htmx.middleware import HtmxDetails
from rest_framework.request import Request

from studio.models import Benchmark, Event, Membership, Persona, Role, Task, User
from studio.models.transactions import atomic_with_retry

AnyUser = User | AnonymousUser
Row = TypeVar("Row", Benchmark, Persona, Task)

EVERYONE = frozenset(Role.values)
ALLOWED: dict[str, frozenset[str]] = {
    "view": EVERYONE,
    "comment": frozenset({Role.OWNER, Role.AUTHOR, Role.REVIEWER, Role.RELEASE_MANAGER}),
    "assign": frozenset({Role.OWNER, Role.AUTHOR, Role.REVIEWER, Role.RELEASE_MANAGER}),
    "edit": frozenset({Role.OWNER, Role.AUTHOR}),
    "review": frozenset({Role.OWNER, Role.REVIEWER}),
    "rehearse": frozenset({Role.OWNER, Role.AUTHOR, Role.REVIEWER}),
    "pilot": frozenset({Role.OWNER, Role.AUTHOR, Role.REVIEWER, Role.RELEASE_MANAGER}),
    "audit": frozenset({Role.AUDITOR}),
    "plan_audit": frozenset({Role.OWNER, Role.RELEASE_MANAGER}),
    "release": frozenset({Role.OWNER, Role.RELEASE_MANAGER}),
    "manage": frozenset({Role.OWNER}),
}
"""Roles that allow an action; every member may ``view``."""

ACTION_DESCRIPTIONS = {
    "view": "see this",
    "comment": "comment on tasks",
    "assign": "assign authors and reviewers",
    "edit": "edit personas and tasks",
    "review": "review tasks",
    "rehearse": "rehearse tasks",
    "pilot": "start pilots",
    "audit": "judge in audits",
    "plan_audit": "plan and adjudicate audits",
    "release": "create releases",
    "manage": "edit the benchmark and its members",
}


class SignedInRequest(HttpRequest):
    """A request of somebody who is signed in, as the middleware sees to."""

    user: User
    htmx: HtmxDetails


class ApiRequest(Request):
    """A request behind ``IsAuthenticated``."""

    user: User


class MembershipError(ValueError):
    """A change of members that is not possible; the message says why."""


def benchmarks_for(user: AnyUser) -> QuerySet[Benchmark]:
    return Benchmark.objects.of_member(user.pk) if user.is_authenticated else Benchmark.objects.none()


def benchmarks_allowing(user: AnyUser, action: str) -> QuerySet[Benchmark]:
    """Benchmarks in which a role of the user allows the action."""
    if not user.is_authenticated:
        return Benchmark.objects.none()
    allowing = Membership.objects.filter(user=user, role__in=ALLOWED[action])
    return Benchmark.objects.filter(pk__in=allowing.values("benchmark"))


def find_benchmark(user: AnyUser, slug: str, action: str = "", *, lock: bool = False) -> Benchmark:
    """Raises Http404 if it does not exist or the user is no member; PermissionDenied for members who may not do it."""
    rows = benchmarks_for(user).filter(slug=_storable(slug))
    found = _first_or_404(rows.select_for_update(no_key=True) if lock else rows)
    if action:
        require(user, found, action)
    return found


def find_persona(user: AnyUser, slug: str, user_id: str) -> Persona:
    rows = Persona.objects.filter(benchmark__in=benchmarks_for(user), benchmark__slug=_storable(slug))
    return _first_or_404(rows.filter(user_id=_storable(user_id)).select_related("benchmark"))


def personas_to_edit(user: AnyUser) -> list[Persona]:
    if not user.is_authenticated:
        return []
    roles = Membership.objects.filter(user=user, role__in=ALLOWED["edit"])
    rows = Persona.objects.filter(benchmark__in=roles.values("benchmark"))
    return list(
        rows.select_related("benchmark__taxonomy").order_by("benchmark__name", "benchmark", "position", "user_id")
    )


def find_task(user: AnyUser, slug: str, user_id: str, pk: int) -> Task:
    rows = Task.objects.filter(
        persona__benchmark__in=benchmarks_for(user),
        persona__benchmark__slug=_storable(slug),
        persona__user_id=_storable(user_id),
        pk=pk,
    )
    return _first_or_404(rows.select_related("persona__benchmark"))


def roles_in(user: AnyUser, benchmark: Benchmark) -> frozenset[str]:
    if not user.is_authenticated:
        return frozenset()
    return frozenset(Membership.objects.filter(user=user, benchmark=benchmark).values_list("role", flat=True))


def actions_in(user: AnyUser, benchmark: Benchmark) -> frozenset[str]:
    roles = roles_in(user, benchmark)
    return frozenset(action for action, allowed in ALLOWED.items() if roles & allowed)


def may(user: AnyUser, benchmark: Benchmark, action: str) -> bool:
    return bool(roles_in(user, benchmark) & ALLOWED[action])


def require(user: AnyUser, benchmark: Benchmark, action: str) -> None:
    """Raise Http404 for users who are no members, PermissionDenied for members without the role."""
    roles = roles_in(user, benchmark)
    if not roles:
        raise Http404
    if not roles & ALLOWED[action]:
        raise PermissionDenied(why_not(action, benchmark))


def why_not(action: str, benchmark: Benchmark | None = None) -> str:
    """What a member without the role for this is told, on every page."""
    needed = [str(Role(role).label).lower() for role in Role.values if role in ALLOWED[action]]
    roles = " or ".join(filter(None, [", ".join(needed[:-1]), needed[-1]]))
    place = f"in “{benchmark}” " if benchmark else ""
    return f"To {ACTION_DESCRIPTIONS[action]} {place}you need to be {with_article(roles)}. An owner can add the role."


def with_article(words: str) -> str:
    """``an owner or reviewer``."""
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


@atomic_with_retry
def create_benchmark(*, name: str, slug: str, by: User, description: str = "", **fields: Any) -> Benchmark:
    benchmark = Benchmark.objects.create(name=name, slug=slug, description=description, created_by=by, **fields)
    Membership.objects.create(benchmark=benchmark, user=by, role=Role.OWNER)
    Event.objects.create(benchmark=benchmark, actor=by, verb="created", summary="Created the benchmark.")
    return benchmark


@atomic_with_retry
def set_roles(benchmark: Benchmark, user: User, roles: Collection[str], *, by: User) -> None:
    """Give ``user`` exactly these roles; without any they are no longer a member. Raises MembershipError for the last
    owner."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    wanted = set(roles)
    if unknown := wanted - EVERYONE:
        raise MembershipError(f"There is no role “{sorted(unknown)[0]}”.")
    current = set(benchmark.memberships.filter(user=user).values_list("role", flat=True))
    if wanted == current:
        return
    others = benchmark.memberships.filter(role=Role.OWNER).exclude(user=user)
    if Role.OWNER in current and Role.OWNER not in wanted and not others.exists():
        raise MembershipError(f"{user} is the only owner. Make someone else an owner first.")
    Membership.objects.bulk_create(
        [Membership(benchmark=benchmark, user=user, role=role) for role in sorted(wanted - current)]
    )
    # Only after adding the new roles: losing the last role that allows an assignment deletes it.
    benchmark.memberships.filter(user=user).exclude(role__in=wanted).delete()
    labels = ", ".join(str(Role(role).label).lower() for role in Role.values if role in wanted)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="members_changed",
        summary=f"{user}: {labels}." if labels else f"{user} is no longer a member.",
        data={"user": user.username, "roles": sorted(wanted)},
    )


def _first_or_404(rows: QuerySet[Row]) -> Row:
    """Of rows that are one at most."""
    for row in rows.order_by():
        return row
    raise Http404


def _storable(name: str) -> str:
    if "\0" in name:  # PostgreSQL refuses it
        raise Http404
    return name
