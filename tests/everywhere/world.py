"""One of everything, so that each address names something that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RegexPattern, RoutePattern

from annotations.gold import add_gold_item
from annotations.models import AuditCampaign, GoldItem
from evaluation.models import (
    AssistantModel,
    HeldOutPack,
    ModelEndpoint,
    Pilot,
    Proposal,
    Rehearsal,
    Release,
    ReleaseException,
    ReleaseRequest,
    ResultsView,
    Session,
)
from evaluation.rehearsals.lifecycle import start_rehearsal
from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.access.invitations import invite
from studio.access.tokens import create_token
from studio.drafts.autosave import EditorKey, keep_discarded
from studio.drafts.load import load_task
from studio.files.tokens import FileTokens
from studio.models import (
    ApiToken,
    Benchmark,
    Comment,
    GraderScript,
    Import,
    Invitation,
    Notification,
    Persona,
    Role,
    Task,
    User,
)
from studio.personas.files import save_file
from studio.personas.scripts import SCRIPTS, ScriptText, create_script, script_versions
from studio.personas.skills import SKILLS, SkillText
from studio.review.comments import add_comment
from tests.annotations.builders import make_decision, open_campaign
from tests.evaluation.builders import endpoint, file, pilot_of
from tests.evaluation.factories import finish, turn
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, member

SCRIPT = "def score(history):\n    return {'done': 1}\n"
SKILL = "---\nname: rota\ndescription: Who bakes when.\n---\nThe early shift starts at four.\n"


@dataclass
class World:
    """The owner began everything; the auditor is the only one asked in the audit."""

    benchmark: Benchmark
    people: dict[str, User]
    """By role; and ``outsider``, and ``staff``, an administrator who is no member."""
    persona: Persona
    task: Task
    script: GraderScript
    comment: Comment
    suggestion: Comment
    imported: Import
    notification: Notification
    pilot: Pilot
    session: Session
    release: Release
    release_request: ReleaseRequest
    release_exception: ReleaseException
    rehearsal: Rehearsal
    proposal: Proposal
    endpoint: ModelEndpoint
    own_endpoint: ModelEndpoint
    """Of the benchmark."""
    invitation: Invitation
    secret: str
    """Of the invitation's link."""
    api_token: ApiToken
    campaign: AuditCampaign
    gold_item: GoldItem

    @property
    def script_version(self) -> int:
        """Of the persona, in which the script changed."""
        return script_versions(self.script)[-1].revision.number

    @property
    def token(self) -> str:
        """Of the task's file, as pages hand it out."""
        (asset,) = (file for file in load_task(self.task).assets if file.path == "notes.txt")
        return FileTokens(self.benchmark.pk).seal(asset.sha256, asset.size)

    @property
    def arguments(self) -> dict[str, Any]:
        """For the converters in addresses, except ``pk``."""
        return {
            "slug": self.benchmark.slug,
            "user_id": self.persona.user_id,
            "name": "rota",
            "app": "gmail",
            "table": "emails",
            "kind": "csv",
            "number": 1,
            "path": "notes.txt",
            "comment": self.comment.pk,
            "position": 1,
            "suggestion": self.proposal.pk,
            "secret": self.secret,
            "key": confirmation_key(self.people[Role.OWNER]),
            "uidb36": user_pk_to_url_str(self.people[Role.OWNER]),
        }

    def key(self, route: str) -> int:
        """Of what ``pk`` means in an address."""
        return next(row for start, row in self._rows() if route.startswith(start)).pk

    def _rows(self) -> list[tuple[str, Any]]:
        return [
            ("mfa_", self.people[Role.OWNER]),
            ("studio:member_invitation", self.invitation),
            ("studio:token_revoke", self.api_token),
            ("studio:import", self.imported),
            ("studio:api_publication", self.imported),
            ("studio:script", self.script),
            ("studio:notification", self.notification),
            ("studio:", self.task),
            ("evaluation:script_try", self.script),
            ("evaluation:rehearsal", self.rehearsal),
            ("evaluation:rehearse", self.task),
            ("evaluation:release_request", self.release_request),
            ("evaluation:release_exception", self.release_exception),
            ("evaluation:api-release-exception", self.release_exception),
            ("evaluation:release", self.release),
            ("evaluation:api-release", self.release),
            ("evaluation:pilot", self.pilot),
            ("evaluation:api-pilot", self.pilot),
            ("evaluation:session", self.session),
            ("evaluation:api-session", self.session),
            ("evaluation:api-audit", self.campaign),
            ("evaluation:audit_model", self.campaign),
            ("evaluation:audit_corrections", self.campaign),
            ("evaluation:gold_item", self.gold_item),
            ("evaluation:api-known-answer", self.gold_item),
            ("evaluation:benchmark_endpoint", self.own_endpoint),
            ("evaluation:endpoint", self.endpoint),
            ("evaluation:proposal", self.proposal),
            ("evaluation:", self.task),
            ("annotations:", self.campaign),
        ]


def confirmation_key(person: User) -> str:
    """Of the link that confirms an email address."""
    address, _ = EmailAddress.objects.get_or_create(user=person, email=f"{person.username}@example.org")
    return str(EmailConfirmationHMAC(address).key)


def _release(benchmark: Benchmark, owner: User) -> Release:
    """With a pack beside it, as if tasks were held out."""
    made = cut_release(benchmark, ReleaseOptions(version="1.0", accept="To look at it."), by=owner)
    signed = {name: getattr(made, name) for name in ("key", "signature", "ssh_signature", "statement")}
    HeldOutPack.objects.create(
        release=made, manifest=made.manifest, sums=made.sums, sha256=made.sha256, size=made.size, **signed
    )
    return made


def build_world(models: str = "scripted", slug: str = "world", said: str = "Rye first.") -> World:
    """``models``: how their names begin; they are scripted whatever they are called. ``said``: in its task, files,
    session and remarks."""
    benchmark = BenchmarkFactory(slug=slug)
    people = {str(role): member(benchmark, role) for role in Role.values}
    people |= {"outsider": UserFactory(), "staff": UserFactory(is_staff=True, is_superuser=True)}
    for person in people.values():
        RecoveryCodes.activate(person)
        TOTP.activate(person, "JBSWY3DPEHPK3PXP")
    owner = people[Role.OWNER]
    persona = a_persona(benchmark, by=owner, tools=("write_file", "read_file"))
    a_task(persona, "flour", by=owner)
    task = a_task(persona, by=owner, description=said, assets=(file("notes.txt", f"{said}\n"),))
    keep_discarded(EditorKey(task=task), owner, {"title": ["Bread"]}, base_version=1)
    save_file(SKILLS, persona, "", SkillText(name="rota", text=SKILL), by=owner)
    script = create_script(persona, "plan.py", SCRIPT, by=owner, task_id=task.pk)
    save_file(SCRIPTS, persona, script.path, ScriptText(source=SCRIPT.replace("1}", "0}")), by=owner)
    task.refresh_from_db()
    suggestion = add_comment(
        task.pk, by=owner, field="description", suggestion="An order list becomes a plan for the ovens."
    )
    agent, user, judge = (
        endpoint(f"{models}-{part}", model=f"scripted-{part}") for part in ("helpful", "user", "judge")
    )
    pilot = pilot_of(benchmark, agent=agent, user_model=user, judge=judge)
    ResultsView.objects.create(benchmark=benchmark, number=1, name="Table 1", pilots=[1], scoring="strict")
    session = finish(pilot)
    turn(session, 1, reply=said, files={"notes.txt": f"{said}\n".encode()})
    AssistantModel.objects.create(benchmark=benchmark, endpoint=agent)
    invitation, secret = invite(by=owner, benchmark=benchmark, role=Role.AUTHOR, link=lambda secret: secret)
    revision = task.revisions.order_by("-number").first()
    assert revision is not None
    release = _release(benchmark, owner)
    return World(
        benchmark=benchmark,
        people=people,
        persona=persona,
        task=task,
        script=script,
        comment=add_comment(task.pk, by=owner, text=f"Which oven? {said}"),
        suggestion=suggestion,
        imported=Import.objects.create(benchmark=benchmark, by=owner, name="persona.zip", upload=b"PK"),
        notification=Notification.objects.create(
            user=owner, benchmark=benchmark, kind=Notification.Kind.COMMENTED, text="commented on it", address="/"
        ),
        pilot=pilot,
        session=session,
        release=release,
        release_request=ReleaseRequest.objects.create(
            benchmark=benchmark, options={"version": "1.0"}, state=ReleaseRequest.State.FINISHED, made=release
        ),
        release_exception=ReleaseException.objects.create(
            benchmark=benchmark, rule="task-not-approved", persona=persona.user_id, reason="To look at it.", by=owner
        ),
        rehearsal=start_rehearsal(task, by=owner, seat="agent", judge=judge),
        proposal=Proposal.objects.create(
            task=task,
            revision=revision,
            kind="reword",
            field="initial_request",
            endpoint=agent,
            model=agent.name,
            request_hash="0" * 64,
            requested_by=owner,
        ),
        endpoint=agent,
        own_endpoint=endpoint(f"of the team of {slug}", benchmark=benchmark),
        invitation=invitation,
        secret=secret,
        api_token=create_token(owner, name="nightly", scope="read", days=1)[0],
        campaign=open_campaign(
            benchmark,
            [make_decision(number) for number in (1, 2)],
            name="spring audit",
            source="pilot:0",
            seed=7,
            overlap=1,
            scripted=False,
            by=owner,
        ),
        gold_item=add_gold_item(benchmark, make_decision(3), "pilot:0", by=owner),
    )


@dataclass(frozen=True)
class Route:
    name: str
    """With its namespace."""
    address: str
    """With converters: ``b/<slug:slug>/``."""
    arguments: frozenset[str]
    methods: frozenset[str] = frozenset()
    """Of an operation of the API; empty for pages, whose views do not tell."""

    def reverse(self, world: World, **more: Any) -> str:
        values = world.arguments | {"pk": world.key(self.name) if "pk" in self.arguments else None} | more
        return reverse(self.name, kwargs={name: values[name] for name in self.arguments})


def routes() -> list[Route]:
    """Every named address of the studio but the administration's."""
    return [route for route in _walk(get_resolver().url_patterns) if not route.address.startswith("admin/")]


def _walk(
    patterns: Iterable[URLPattern | URLResolver],
    space: str = "",
    address: str = "",
    given: frozenset[str] = frozenset(),
) -> Iterator[Route]:
    for entry in patterns:
        names = given | _names(entry.pattern)
        if isinstance(entry, URLResolver):
            within = f"{space}{entry.namespace}:" if entry.namespace else space
            yield from _walk(entry.url_patterns, within, address + str(entry.pattern), names)
        else:
            yield Route(f"{space}{entry.name}", address + str(entry.pattern), names, _methods(entry.callback))


def _names(pattern: Any) -> frozenset[str]:
    if isinstance(pattern, RoutePattern):
        return frozenset(pattern.converters)
    assert isinstance(pattern, RegexPattern)
    return frozenset(pattern.regex.groupindex)


def _methods(view: Any) -> frozenset[str]:
    if actions := getattr(view, "actions", None):
        return frozenset(method.upper() for method in actions if method != "head")
    if (cls := getattr(view, "cls", None)) is None:
        return frozenset()
    return frozenset(m.upper() for m in ("get", "post", "put", "patch", "delete") if hasattr(cls, m))
