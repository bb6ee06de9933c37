"""Every address with every role. A new address needs a rule here: who may do what there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.template.base import Template
from django.test import Client
from django.urls import get_resolver, reverse
from drf_spectacular.generators import SchemaGenerator

from studio.access import ALLOWED
from studio.models import DiscardedText, Role
from tests.everywhere.world import Route, World, build_world, routes

pytestmark = pytest.mark.django_db

# METHOD who: an action of studio.access.ALLOWED, or
#   public  anybody        user   who is signed in         staff   administrators, members or not
#   own     the owner of the benchmark, who began it: it is nobody else's, whatever their role, and hidden from them
#   maker   the same, but every member sees it
RULES = {
    "studio:home": "GET user",
    "studio:introduction": "GET public",
    "studio:guide_strip": "GET user",
    "studio:guide_act": "POST user",
    "studio:signed_in": "GET user",
    "studio:recent_activity": "GET user",
    "studio:login": "GET public, POST public",
    "studio:logout": "POST public",
    "studio:settings": "GET user, POST user",
    "studio:invitation": "GET public, POST public",
    "studio:tokens": "GET user, POST user",
    "studio:token_revoke": "POST own",
    "account_login": "GET public, POST public",
    "account_logout": "POST public",
    "account_signup": "GET public, POST public",
    "account_inactive": "GET public",
    "account_reauthenticate": "GET user, POST user",
    "account_email": "GET user, POST user",
    "account_email_verification_sent": "GET public",
    "account_confirm_email": "GET public, POST public",
    "account_change_password": "GET user, POST user",
    "account_reset_password": "GET public, POST public",
    "account_reset_password_done": "GET public",
    "account_reset_password_from_key": "GET public, POST public",
    "account_reset_password_from_key_done": "GET public",
    "usersessions_list": "GET user, POST user",
    "mfa_login_webauthn": "GET public, POST public",
    "mfa_index": "GET user",
    "mfa_authenticate": "GET public, POST public",
    "mfa_reauthenticate": "GET user, POST user",
    "mfa_activate_totp": "GET user, POST user",
    "mfa_deactivate_totp": "GET user, POST user",
    "mfa_view_recovery_codes": "GET user",
    "mfa_generate_recovery_codes": "GET user, POST user",
    "mfa_download_recovery_codes": "GET user",
    "mfa_list_webauthn": "GET user",
    "mfa_add_webauthn": "GET user, POST user",
    "mfa_reauthenticate_webauthn": "GET user, POST user",
    "mfa_remove_webauthn": "GET user, POST user",
    "mfa_edit_webauthn": "GET user, POST user",
    "studio:styleguide": "GET public",
    "studio:inbox": "GET user",
    "studio:inbox_read_all": "POST user",
    "studio:notification": "POST own",
    "studio:notification_choices": "GET user, POST user",
    "studio:search": "GET user",
    "studio:destinations": "GET user",
    "studio:benchmarks": "GET user",
    "studio:benchmark_new": "GET user, POST user",
    "studio:benchmark": "GET view",
    "studio:benchmark_edit": "GET manage, POST manage",
    "studio:members": "GET view, POST manage",
    "studio:member_invite": "POST manage",
    "studio:member_invitation_revoke": "POST manage",
    "studio:benchmark_history": "GET view",
    "studio:statistics": "GET view",
    "studio:gaps": "GET view",
    "studio:findings": "GET view",
    "studio:tasks": "GET view",
    "studio:tasks_change": "POST edit",
    "studio:copy": "GET view, POST view",
    "studio:tasks_deleted": "GET edit, POST edit",
    "studio:import_start": "GET edit, POST edit",
    "studio:import": "GET edit",
    "studio:import_decide": "POST edit",
    "studio:import_publication": "POST manage",
    "studio:persona_new": "GET edit, POST edit",
    "studio:persona": "GET view",
    "studio:profile": "GET view, POST edit",
    "studio:profile_autosave": "POST edit",
    "studio:file_autosave": "POST edit",
    "studio:file_delete": "POST edit",
    "studio:skill_new": "GET edit, POST edit",
    "studio:skill": "GET view, POST edit",
    "studio:apps": "GET view",
    "studio:cast": "GET view, POST edit",
    "studio:clock": "GET view, POST edit",
    "studio:approvals": "GET view, POST review",
    "studio:app": "GET view, POST edit",
    "studio:web_page": "GET edit, POST edit",
    "studio:app_table": "GET view, POST edit",
    "studio:app_import": "GET edit, POST edit",
    "studio:app_export": "GET view",
    "studio:persona_download": "GET view",
    "studio:task_download": "GET view",
    "studio:task_read": "GET view",
    "studio:task_delete": "GET edit, POST edit",
    "studio:app_names": "GET view",
    "studio:tool_servers": "GET view",
    "studio:tool_server": "GET manage, POST manage",
    "studio:persona_history": "GET view",
    "studio:persona_version": "GET view",
    "studio:board_move": "POST edit",
    "studio:script_new": "GET edit, POST edit",
    "studio:script": "GET view, POST edit",
    "studio:script_version": "GET view",
    "studio:script_restore": "POST edit",
    "studio:task_new": "GET edit, POST edit",
    "studio:task": "GET view, POST edit",
    "studio:comment_add": "POST comment",
    "studio:suggestions_apply": "POST edit",
    "studio:comment_reply": "POST comment",
    "studio:comment_edit": "POST comment",
    "studio:comment_resolve": "POST comment",
    "studio:suggestion_conflict": "GET edit, POST edit",
    "studio:assign": "POST assign",
    "studio:template": "POST edit",
    "studio:waive": "POST edit",
    "studio:activity": "GET view",
    "studio:versions": "GET view",
    "studio:version": "GET view",
    "studio:restore": "POST edit",
    "studio:asset": "GET view",
    "studio:preview": "GET view",
    "studio:file_add": "POST edit",
    "studio:signal": "POST edit",
    "studio:file_syntax": "POST view",
    "studio:workflow_step": "POST edit",
    "studio:submission": "GET edit",
    "studio:check": "POST edit",
    "studio:autosave": "POST edit",
    "studio:discard": "POST edit",
    "studio:take_back": "POST own",
    "studio:build_on": "POST edit",
    "studio:api": "GET user",
    "studio:schema": "GET public",
    "studio:api_benchmarks": "GET user",
    "studio:api_personas": "GET view",
    "studio:api_persona": "GET view",
    "studio:api_findings": "GET view",
    "studio:api_credits": "GET view, PUT manage",
    "studio:api_imports": "POST edit",
    "studio:api_publication": "POST manage",
    "studio:api_benchmark_tasks": "GET view",
    "studio:api_tasks": "GET view",
    "studio:api_task": "GET view, PUT edit, DELETE edit",
    "studio:api_steps": "POST edit",
    "studio:api_board": "GET view, POST edit",
    "studio:api_cast": "GET view, POST edit",
    "studio:api_comments": "GET view, POST comment",
    "studio:api_apply": "POST edit",
    "studio:api_comment": "PATCH comment, DELETE comment",
    "studio:api_replies": "POST comment",
    "studio:api_reviews": "GET view",
    "studio:api_people": "GET view, PUT assign",
    "evaluation:pilots": "GET user",
    "evaluation:benchmark_pilots": "GET view",
    "evaluation:pilot_new": "GET pilot, POST pilot",
    "evaluation:pilot": "GET view",
    "evaluation:pilot_cancel": "POST pilot",
    "evaluation:benchmark_budget": "POST pilot",
    "evaluation:pilot_budget": "POST pilot",
    "evaluation:pilot_estimate": "GET pilot",
    "evaluation:pilot_pause": "POST pilot",
    "evaluation:pilot_resume": "POST pilot",
    "evaluation:pilot_retry": "POST pilot",
    "evaluation:pilot_usage": "GET view",
    "evaluation:pilot_json": "GET view",
    "evaluation:pilot_rejudge": "GET pilot, POST pilot",
    "evaluation:pilot_scoring": "GET pilot, POST pilot",
    "evaluation:pilot_round_resume": "POST pilot",
    "evaluation:session": "GET view",
    "evaluation:session_file": "GET view",
    "evaluation:session_download": "GET view",
    "evaluation:session_notes": "POST comment",
    "evaluation:releases": "GET user",
    "evaluation:results": "GET view",
    "evaluation:result_sessions": "GET view",
    "evaluation:results_compare": "GET view",
    "evaluation:results_charts": "GET view",
    "evaluation:item_figures": "GET view",
    "evaluation:results_view": "GET view",
    "evaluation:results_view_save": "POST pilot",
    "evaluation:results_view_remove": "POST pilot",
    "evaluation:results_view_freeze": "POST release",
    "evaluation:pilot_tags": "POST pilot",
    "evaluation:api-results": "GET view",
    "evaluation:release_new": "GET view, POST release",
    "evaluation:release_request": "GET release",
    "evaluation:release_accept": "POST release",
    "evaluation:release_except": "GET release, POST release",
    "evaluation:release_exception_withdraw": "POST release",
    "evaluation:api-release-exceptions": "GET release, POST release",
    "evaluation:api-release-exception": "DELETE release",
    "evaluation:release_key": "POST manage",
    "evaluation:release": "GET view, POST release",
    "evaluation:release_download": "GET view",
    "evaluation:release_limits": "GET view, POST manage",
    "evaluation:api-release-limits": "GET view, PUT manage",
    "evaluation:release_statement": "GET view",
    "evaluation:release_site": "GET view",
    "evaluation:api-release-site": "GET view",
    "evaluation:release_results": "GET pilot, POST pilot",
    "evaluation:pilot_verified": "POST release",
    "evaluation:api-submissions": "POST user",
    "evaluation:api-pilot-verified": "POST release",
    "evaluation:release_held_out": "GET manage",
    "evaluation:release_held_out_statement": "GET manage",
    "evaluation:rehearse": "GET rehearse, POST rehearse",
    "evaluation:model_try": "GET view, POST pilot",
    "evaluation:user_preview": "GET view",
    "evaluation:can_be_done": "GET view",
    "evaluation:validation": "GET view, POST pilot",
    "evaluation:validation_stop": "POST pilot",
    "evaluation:validation_resume": "POST pilot",
    "evaluation:task_validation": "GET view, POST edit",
    "evaluation:api-validation": "GET view, POST pilot",
    "evaluation:rehearsal_solution": "POST own",
    "evaluation:api-prospects": "GET view",
    "evaluation:script_try": "GET rehearse, POST rehearse",
    "evaluation:rehearsal": "GET own",
    "evaluation:rehearsal_tools": "GET own, POST own",
    "evaluation:rehearsal_mail": "GET own, POST own",
    "evaluation:rehearsal_act": "GET own, POST own",
    "evaluation:request_proposal": "POST edit",
    "evaluation:proposal": "GET edit, POST edit",
    "evaluation:assistance_settings": "GET manage, POST manage",
    "evaluation:benchmark_endpoints": "GET view",
    "evaluation:benchmark_endpoint_new": "GET manage, POST manage",
    "evaluation:benchmark_endpoint_models": "POST manage",
    "evaluation:benchmark_endpoint_ask": "POST view",
    "evaluation:benchmark_endpoint": "GET manage, POST manage",
    "evaluation:benchmark_endpoint_try": "POST manage",
    "evaluation:benchmark_endpoint_remove": "POST manage",
    "evaluation:endpoints": "GET user",
    "evaluation:endpoint_new": "GET staff, POST staff",
    "evaluation:endpoint_models": "POST staff",
    "evaluation:endpoint": "GET staff, POST staff",
    "evaluation:endpoint_try": "POST staff",
    "evaluation:endpoint_remove": "POST staff",
    "evaluation:api-pilot-list": "GET user, POST pilot",
    "evaluation:api-pilot-detail": "GET view",
    "evaluation:api-pilot-report": "GET view",
    "evaluation:api-pilot-sessions": "GET view",
    "evaluation:api-pilot-judgings": "GET view",
    "evaluation:api-pilot-rejudge": "POST pilot",
    "evaluation:api-pilot-scoring": "POST pilot",
    "evaluation:api-pilot-budget": "POST pilot",
    "evaluation:api-pilot-control": "POST pilot",
    "evaluation:api-session-list": "GET user",
    "evaluation:api-session-detail": "GET view",
    "evaluation:api-release-list": "GET user, POST release",
    "evaluation:api-release-accept-elsewhere": "POST release",
    "evaluation:api-release-detail": "GET view",
    "evaluation:api-release-download": "GET view",
    "evaluation:api-release-errata": "POST release",
    "evaluation:api-release-statement": "GET view",
    "evaluation:api-release-held-out": "GET manage",
    "evaluation:api-release-changes": "GET view",
    "evaluation:api-endpoint-list": "GET user",
    "evaluation:api_proposals": "GET edit, POST edit",
    "evaluation:api_proposal": "GET edit",
    "evaluation:api_proposal_accept": "POST edit",
    "evaluation:api_proposal_dismiss": "POST edit",
    "evaluation:audit_new": "GET plan_audit, POST plan_audit",
    "evaluation:api-audit-list": "GET user, POST plan_audit",
    "evaluation:api-audit-detail": "GET view",
    "evaluation:api-audit-close": "POST plan_audit",
    "evaluation:api-audit-model": "POST plan_audit",
    "evaluation:api-audit-next": "POST audit",
    "evaluation:api-audit-packets": "GET view",
    "evaluation:api-audit-packet": "GET view",
    "evaluation:api-audit-judge": "POST audit",
    "evaluation:api-audit-undo": "POST audit",
    "evaluation:api-audit-adjudication": "POST plan_audit",
    "evaluation:api-audit-results": "GET view, POST audit",
    "annotations:campaigns": "GET user",
    "annotations:campaign": "GET view",
    "evaluation:judges": "GET plan_audit",
    "evaluation:audit_corrections": "GET plan_audit, POST plan_audit",
    "evaluation:api-audit-corrections": "GET plan_audit, POST plan_audit",
    "evaluation:gold": "GET plan_audit, POST plan_audit",
    "evaluation:gold_item": "GET plan_audit, POST plan_audit",
    "evaluation:api-known-answers": "GET plan_audit, POST plan_audit",
    "evaluation:api-known-answer": "GET plan_audit, PUT plan_audit, DELETE plan_audit",
    "evaluation:audit_model": "GET plan_audit, POST plan_audit",
    "annotations:report": "GET view",
    "annotations:reopen": "POST plan_audit",
    "evaluation:api-audit-reopen": "POST plan_audit",
    "annotations:mine": "GET user",
    "annotations:people": "GET plan_audit",
    "evaluation:api-audit-mine": "GET user",
    "evaluation:api-audit-people": "GET plan_audit",
    "evaluation:api-audit-judges": "GET plan_audit",
    "annotations:plan": "GET plan_audit",
    "annotations:export_csv": "GET view",
    "annotations:export_json": "GET view",
    "annotations:export_parquet": "GET view",
    "annotations:close": "POST plan_audit",
    "annotations:results": "POST audit",
    "annotations:judge": "GET audit",
    "annotations:packet": "GET audit, POST audit",
    "annotations:undo": "POST audit",
    "annotations:autosave": "POST audit",
    "annotations:adjudicate_next": "GET view",
    "annotations:adjudicate": "GET plan_audit, POST plan_audit",
}

DONE = {200, 201, 202, 204, 302, 400, 409, 415, 422}  # allowed, also where what was sent is incomplete
MEMBERS = tuple(Role.values)
ROLES = ("anonymous", "outsider", "staff", *MEMBERS)


@pytest.fixture
def world() -> World:
    return build_world()


def rules() -> dict[tuple[str, str], str]:
    """By route and method."""
    return {
        (name, method): who
        for name, words in RULES.items()
        for method, who in (part.split() for part in words.split(", "))
    }


def data_for(name: str, method: str, world: World) -> dict[str, Any]:
    """As little as it takes to get past the search for what is named."""
    if name.startswith(("evaluation:api-pilot", "evaluation:api-release", "evaluation:api-audit")) and method == "POST":
        parts = dict.fromkeys(("agent", "user_model", "judge"), world.endpoint.name)
        return {
            "benchmark": world.benchmark.slug,
            "version": "not a version",
            "persona": "nobody",
            "pilots": [0],
        } | parts
    if name == "studio:api_steps":
        return {"action": "submit"}
    return {"decide": "dismiss"} if name == "evaluation:proposal" else {}


def query_for(name: str, world: World) -> str:
    if name == "studio:copy":
        return f"?task={world.task.pk}"
    if name.startswith("evaluation:session_"):
        return "?path=notes.txt"
    if name in ("evaluation:api-audit-people", "evaluation:api-audit-judges"):
        return f"?benchmark={world.benchmark.slug}"
    if name in ("studio:file_autosave", "studio:file_delete"):
        return "?name=rota"
    if name == "studio:preview":
        return f"?file={world.token}&path=notes.txt"
    return ""


def more_for(name: str, world: World) -> dict[str, Any]:
    """Where an argument means something else than usual."""
    if name in ("studio:suggestion_conflict", "studio:suggestions_apply"):
        return {"comment": world.suggestion.pk}
    if name == "studio:app":
        return {"name": "gmail"}
    if name in ("studio:file_autosave", "studio:file_delete"):
        return {"kind": "skill"}
    if name == "studio:take_back":
        return {"number": DiscardedText.objects.get(user=world.people[Role.OWNER]).pk}
    if name.startswith("studio:script_"):
        return {"number": world.script_version}
    return {"action": "end" if name == "evaluation:rehearsal_act" else "submit"}


def requests(world: World) -> Iterator[tuple[Route, str, str, str]]:
    """Route, method, who may, and address."""
    known = rules()
    for route in routes():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if who := known.get((route.name, method)):
                yield (
                    route,
                    method,
                    who,
                    route.reverse(world, **more_for(route.name, world)) + query_for(route.name, world),
                )


def send(client: Client, method: str, address: str, name: str, world: World) -> HttpResponse:
    """One request, of which nothing stays."""
    data = data_for(name, method, world)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    json = address.startswith("/api/") and method != "GET"
    with transaction.atomic():
        answer = client.generic(method, address) if method == "GET" else _post(client, method, address, data, json=json)
        transaction.set_rollback(True)
    client.cookies.load(cookies)  # signed in again, if that was the way out
    return answer


def _post(client: Client, method: str, address: str, data: dict[str, Any], *, json: bool) -> Any:
    if json:
        return getattr(client, method.lower())(address, data, content_type="application/json")
    return client.post(address, data)


def expected(who: str, role: str) -> str:
    """``done``, ``forbidden`` (403, with the reason), ``hidden`` (404), or ``sign in``."""
    if who == "public":
        return "done"
    if role == "anonymous":
        return "sign in"
    if who == "user":
        return "done"
    if who == "staff":
        return "done" if role == "staff" else "forbidden"
    if role in ("outsider", "staff"):
        return "hidden"
    if who == "own":
        return "done" if role == Role.OWNER else "hidden"
    if who == "maker":
        return "done" if role == Role.OWNER else "forbidden"
    return "done" if role in ALLOWED[who] else "forbidden"


def outcome(answer: HttpResponse, role: str) -> str:
    to = answer.headers.get("Location", "")
    if to.startswith("/login/?next=") or (role == "anonymous" and answer.status_code == 401):
        return "sign in"
    if answer.status_code == 404:
        return "hidden"
    if answer.status_code == 403:
        return "forbidden"
    return "done" if answer.status_code in DONE else str(answer.status_code)


def test_every_address_has_a_rule_for_every_method():
    names = {route.name for route in routes()}
    assert names - RULES.keys() == set(), "say in RULES who may use it"
    assert RULES.keys() - names == set()
    told = {(name, method) for name, method in rules()}
    offered = {(route.name, method) for route in routes() for method in route.methods}
    assert offered - told == set()


@pytest.fixture
def without_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views decide who may; drawing their pages, or the API's description, would take most of the time."""
    monkeypatch.setattr(Template, "render", lambda self, context: "")
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda self, request=None, public=False: {"paths": {}})


@pytest.mark.slow
@pytest.mark.timeout(900)  # two thousand requests, on a machine that may be busy
@pytest.mark.usefixtures("without_templates")
def test_every_role_is_allowed_exactly_what_its_rule_says(world: World):
    wrong = []
    asked = list(requests(world))
    for role in ROLES:
        client = Client(raise_request_exception=False)
        if role != "anonymous":
            client.force_login(world.people[role])
        for route, method, who, address in asked:
            answer = send(client, method, address, route.name, world)
            if outcome(answer, role) != expected(who, role):
                wrong.append(f"{role}: {method} {route.name}: {answer.status_code}, not {expected(who, role)}")
    assert not wrong, "\n".join(wrong)


def test_nothing_acts_on_a_cookie_without_a_csrf_token(world: World):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people[Role.OWNER])
    acted = []
    for route, method, _, address in requests(world):
        if method != "GET":
            answer = send(client, method, address, route.name, world)
            if answer.status_code not in (403, 415):  # 415: the API did not even read it
                acted.append(f"{method} {route.name}: {answer.status_code}")

    assert acted == []


def test_administration_is_for_staff_only(world: World):
    names = sorted(name for name in get_resolver().namespace_dict["admin"][1].reverse_dict if isinstance(name, str))
    wrong = []
    for role in ROLES:
        if role == "staff":
            continue
        client = Client()
        if role != "anonymous":
            client.force_login(world.people[role])
        for name in names:
            address = _admin_address(name)
            if address and client.get(address).status_code != 302:
                wrong.append(f"{role}: {address}")
    assert wrong == []


def _admin_address(name: str) -> str:
    if name in ("login", "jsi18n"):
        return ""
    for arguments in ([], [1], ["auth"], [1, 1]):
        try:
            return reverse(f"admin:{name}", args=arguments)
        except Exception:
            continue
    return ""
