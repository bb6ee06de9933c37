import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from studio import access
from studio.models import Event, Role
from tests.at_once import after
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


def test_member_with_several_roles_sees_the_benchmark_once():
    benchmark = BenchmarkFactory()
    BenchmarkFactory()
    user = member(benchmark, Role.AUTHOR, Role.REVIEWER, Role.AUDITOR)

    assert list(access.benchmarks_for(user)) == [benchmark]


def test_benchmark_persona_and_task_of_others_are_not_found():
    benchmark = BenchmarkFactory()
    persona = a_persona(benchmark)
    task = a_task(persona)
    stranger = member(BenchmarkFactory(), Role.OWNER)

    for find in (
        lambda: access.find_benchmark(stranger, benchmark.slug),
        lambda: access.find_persona(stranger, benchmark.slug, persona.user_id),
        lambda: access.find_task(stranger, benchmark.slug, persona.user_id, task.pk),
        lambda: access.require(stranger, benchmark, "view"),
    ):
        with pytest.raises(Http404):
            find()


def test_superuser_has_no_access_without_membership():
    benchmark = BenchmarkFactory()
    root = UserFactory(is_superuser=True, is_staff=True)

    with pytest.raises(Http404):
        access.find_benchmark(root, benchmark.slug)


def test_task_is_found_only_under_its_own_persona():
    benchmark = BenchmarkFactory()
    user = member(benchmark, Role.VIEWER)
    task = a_task(a_persona(benchmark))
    other = a_persona(benchmark, "miller")
    elsewhere = BenchmarkFactory()
    access.set_roles(elsewhere, user, [Role.OWNER], by=user)

    for slug, user_id in ((benchmark.slug, other.user_id), (elsewhere.slug, task.persona.user_id)):
        with pytest.raises(Http404):
            access.find_task(user, slug, user_id, task.pk)
    with pytest.raises(Http404):
        access.find_persona(user, elsewhere.slug, task.persona.user_id)
    assert access.find_persona(user, benchmark.slug, other.user_id) == other


def test_only_benchmarks_and_personas_are_offered_that_a_role_lets_one_work_on():
    own, read = BenchmarkFactory(), BenchmarkFactory()
    user = member(own, Role.AUTHOR)
    access.set_roles(read, user, [Role.VIEWER], by=user)
    persona = a_persona(own)
    a_persona(read)

    assert list(access.benchmarks_allowing(user, "edit")) == [own]
    assert access.personas_to_edit(user) == [persona]


@pytest.mark.parametrize(
    ("role", "actions"),
    [
        (
            Role.OWNER,
            {"view", "comment", "assign", "edit", "review", "rehearse", "pilot", "plan_audit", "release", "manage"},
        ),
        (Role.AUTHOR, {"view", "comment", "assign", "edit", "rehearse", "pilot"}),
        (Role.REVIEWER, {"view", "comment", "assign", "review", "rehearse", "pilot"}),
        (Role.AUDITOR, {"view", "audit"}),
        (Role.RELEASE_MANAGER, {"view", "comment", "assign", "pilot", "plan_audit", "release"}),
        (Role.VIEWER, {"view"}),
    ],
)
def test_roles_allow_exactly_their_actions(role, actions):
    benchmark = BenchmarkFactory()
    user = member(benchmark, role)

    assert access.actions_in(user, benchmark) == actions
    assert {action for action in access.ALLOWED if access.may(user, benchmark, action)} == actions


def test_error_names_the_roles_that_allow_the_action():
    benchmark = BenchmarkFactory(name="Bakers")
    viewer = member(benchmark, Role.VIEWER)

    with pytest.raises(PermissionDenied, match=r"To edit .* in “Bakers” you need to be an owner or author"):
        access.require(viewer, benchmark, "edit")


def test_creator_owns_the_benchmark():
    user = UserFactory()

    benchmark = access.create_benchmark(name="Bakers", slug="bakers", by=user)

    assert access.roles_in(user, benchmark) == {Role.OWNER}


def test_roles_are_replaced_and_the_change_recorded():
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    user = member(benchmark, Role.VIEWER)

    access.set_roles(benchmark, user, [Role.AUTHOR, Role.REVIEWER], by=owner)

    assert access.roles_in(user, benchmark) == {Role.AUTHOR, Role.REVIEWER}
    access.set_roles(benchmark, user, [Role.REVIEWER, Role.AUTHOR], by=owner)
    assert Event.objects.get(benchmark=benchmark).summary == f"{user}: author, reviewer."


def test_last_owner_cannot_be_removed():
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    member(benchmark, Role.AUTHOR)

    with pytest.raises(access.MembershipError, match="only owner"):
        access.set_roles(benchmark, owner, [Role.AUTHOR], by=owner)

    assert access.roles_in(owner, benchmark) == {Role.OWNER}


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_the_second_stays():
    benchmark = BenchmarkFactory()
    first, second = member(benchmark, Role.OWNER), member(benchmark, Role.OWNER)

    with pytest.raises(access.MembershipError, match="only owner"):
        after(
            lambda: access.set_roles(benchmark, first, [], by=first),
            lambda: access.set_roles(benchmark, second, [], by=second),
        )

    assert access.roles_in(second, benchmark) == {Role.OWNER}
