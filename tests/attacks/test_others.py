"""What attackers wanted of everything else: an error that tells or costs something, an account, a network, a cell."""

from __future__ import annotations

import csv
import io
import logging
import os
import re
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_address
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import httpcore2
import psycopg
import pytest
import yaml
from allauth.account.models import EmailAddress
from django.conf import settings as settings_module
from django.db import DatabaseError, InterfaceError, OperationalError, connection, connections, transaction
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from gunicorn.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.endpoints.connection import problem_of
from evaluation.llm import EndpointError, ModelClient, RetryPolicy
from evaluation.llm.budget import Budget
from evaluation.llm.endpoint import Endpoint
from evaluation.llm.policy import Policy
from evaluation.models import Session
from evaluation.pilots import session_work
from evaluation.pilots.queue import claim_session
from evaluation.results.tables import ResultsTable, render_tables
from evaluation.sandbox import why_unavailable as why_no_sandbox
from evaluation.trials.trial import try_script
from studio.access.invitations import accept, invite, revoke, why_unusable
from studio.access.tokens import create_token, has_expired
from studio.domain import hosts
from studio.domain.addresses import is_public
from studio.domain.app_tables.declared import AppField, DeclaredTable
from studio.domain.app_tables.table_files import write_table
from studio.domain.base import is_same
from studio.domain.csv_files import write_csv
from studio.domain.hosts import CheckedBackend, InternalAddressError
from studio.domain.pack import MANIFEST, DamagedPackError, check_pack
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.pibench.yaml_writer import dump_yaml
from studio.domain.problems import Report
from studio.drafts.load import load_task
from studio.files.uploads import UploadError
from studio.imports.importer import import_files
from studio.imports.staging import zip_folder
from studio.local.stack import web_process
from studio.models import Invitation, Role, User
from studio.models.benchmarks import BenchmarkQuerySet
from studio.models.transactions import is_away
from studio.review.workflow import approve
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from studio.web.request_ids import DiscreetFormatter
from tests.drafts import benchmark_files
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of
from tests.evaluation.builders import task as a_spec
from tests.evaluation.sandbox.test_run import wait_until
from tests.everywhere.test_roles import more_for, rules, send, without_templates
from tests.everywhere.world import Route, World, build_world, routes
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, member

# --- addresses: an error of the studio ---

__all__ = ["without_templates"]  # a fixture

ROOT = Path(__file__).parents[2]
MALFORMED = ["abc", "-1", "0", "1" * 30, "1" * 5000, "1e3", "١", "%00", "%F0%9F%98%80", "..%2F..", "a b", "'"]
WORDS = {"slug", "user_id", "name", "app", "table", "kind", "path", "secret", "key", "uidb36", "action", "style"}


@pytest.fixture(scope="module")
def world(module_db: None) -> World:
    return build_world()


def malformed_addresses(world: World) -> Iterator[tuple[Route, str, list[str]]]:
    """Each address of the studio and its API, with each of its arguments malformed in turn, unless its converter
    refuses that: numbers in every way, words with NUL and in one other way, which takes turns."""
    turns = count()
    for route in routes():
        if not route.arguments:
            continue
        address = route.reverse(world, **more_for(route.name, world))
        for name in sorted(route.arguments):
            keyed = {"pk": world.key(route.name)} if "pk" in route.arguments else {}
            given = (world.arguments | keyed | more_for(route.name, world))[name]
            before, mark, after = address.rpartition(f"/{given}/")
            ways = MALFORMED if name not in WORDS else ["%00", MALFORMED[next(turns) % len(MALFORMED)]]
            found = [f"{before}/{wrong}/{after}" for wrong in ways if mark]
            if found := [malformed for malformed in found if leads_somewhere(malformed)]:
                yield route, name, found


def leads_somewhere(address: str) -> bool:
    try:
        resolve(unquote(address))
    except Resolver404:
        return False
    return True


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("without_templates")
def test_an_error_from_a_malformed_id(world: World):
    """Whatever is asked for or done there, by whom it is allowed and by whom it is not."""
    asked = list(malformed_addresses(world))
    methods: defaultdict[str, list[str]] = defaultdict(list)
    for name, method in rules():
        methods[name].append(method)
    wrong = []
    for role, most in ((Role.OWNER, None), (Role.AUDITOR, 1)):
        client = Client(raise_request_exception=False)
        client.force_login(world.people[role])
        for route, name, addresses in asked:
            for method, address in product(methods[route.name], addresses[:most]):
                status = send(client, method, address, route.name, world).status_code
                if status >= 500 or (name not in WORDS and status not in (302, 400, 403, 404, 405)):
                    wrong.append(f"{role}: {method} {route.name}: {address[:100]}: {status}")

    assert len({route.name for route, *_ in asked}) > 100
    assert not wrong, "\n".join(wrong)


def deep_pack(benchmark: Any) -> list[str]:
    report = import_files(benchmark, {MANIFEST: b"[" * 100_000, "ana/profile.md": b"x"}, by=None)
    return [error.message for error in report.errors]


@pytest.mark.django_db
def test_an_error_from_a_deep_manifest():
    with pytest.raises(DamagedPackError, match="nested too deeply"):
        check_pack({MANIFEST: b"[" * 100_000})

    [told] = deep_pack(BenchmarkFactory())
    assert told.startswith("pack.json is not JSON")


DEEP = "[" * 100_000


@pytest.mark.slow
@pytest.mark.django_db
def test_an_error_from_a_deep_request(world: World):
    """Of every call of the API that reads one."""
    client = Client(raise_request_exception=False)
    client.force_login(world.people[Role.OWNER])
    failed = []
    for route in routes():
        for method in {"POST", "PUT", "PATCH"} & set(route.methods or ()):
            answer = client.generic(method, route.reverse(world), DEEP.encode(), content_type="application/json")
            failed += [f"{method} {route.name}"] if answer.status_code >= 500 else []

    assert failed == []


def test_an_error_from_deep_paths_of_a_folder():
    with pytest.raises(UploadError, match="without its file paths"):
        zip_folder([], DEEP)


def test_an_error_from_a_deep_answer_of_a_script_that_is_tried():
    if words := why_no_sandbox():
        pytest.skip(words)
    source = f"""
import os, sys
mark = sys._getframe(1).f_locals["request"]["mark"]
os.write(1, ("\\n" + mark + {DEEP[:5000]!r}).encode())
os._exit(0)
"""
    assert try_script(source, []).problem == "The script ended its process."


@pytest.mark.django_db
def test_to_store_data_of_an_app_that_nothing_can_read():
    benchmark, source = BenchmarkFactory(), BenchmarkFactory()
    persona = a_persona(source)
    a_task(persona)
    files = {path.partition(f"{persona.user_id}/")[2]: content for path, content in benchmark_files(source).items()}
    files |= {"apps/zzz.json": b"{}"}

    report = import_files(benchmark, {f"{persona.user_id}/{path}": content for path, content in files.items()}, by=None)

    assert [error.message for error in report.errors] == ["There is no simulated app “zzz”."]
    assert not benchmark.personas.exists()


# --- a document that its own author cannot import again ---

INDICATORS = [*"-?:,[]{}#&*!|>'\"%@`~=<.0", "---", "...", "- ", "? ", ": ", " #", "--- ", "... ", "<<", " "]
keys = st.lists(st.sampled_from([*INDICATORS, "a", "note", "\n", "é"]), min_size=1, max_size=4).map("".join)
documents = st.dictionaries(
    keys,
    st.recursive(
        keys | st.none() | st.booleans() | st.integers(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)


def read(data: bytes) -> Any:
    report = Report("")
    node = parse_yaml(data, report)
    assert node is not None, [error.message for error in report.errors]
    assert not report.errors
    return node.value


@pytest.mark.parametrize("key", ["... note", "--- a", "...", "---", "- a", "? a", ": a", "# a", "%TAG a", "@a", "`a"])
def test_a_key_that_ends_the_document(key: str):
    for document in ({key: 1}, {"a": {key: ["b"]}}, {"a": key}, {"a": [key, {key: key}]}):
        assert is_same(read(dump_yaml(document)), document)


@pytest.mark.slow
@given(documents)
@settings(max_examples=150, deadline=None)
def test_a_document_with_any_indicator_in_its_keys(document: dict[str, Any]):
    written = dump_yaml(document)

    assert is_same(read(written), document)
    assert dump_yaml(read(written)) == written


@given(documents)
@settings(max_examples=100, deadline=None)
def test_a_document_that_others_write(document: dict[str, Any]):
    assert is_same(read(yaml.safe_dump(document, allow_unicode=True, sort_keys=False).encode()), document)


# --- a formula in somebody's spreadsheet ---


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "=1+1",
            "+1",
            "-1",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "'=1",
            " =1",
            "\n=1",
            "\v=1",
            "\u3000=1",
            "\u200b=1",
            "\u2028=1",
        ),
        *("＝1", "＋1", "－1", "＠SUM(1)"),
    ],
)
def test_a_formula_in_a_spreadsheet(cell: str):
    rows = list(csv.reader(io.StringIO(write_csv([[cell], [cell, -5, 1.5, None, True]]), newline="")))

    assert rows == [[f"'{cell}"], [f"'{cell}", "-5", "1.5", "", "True"]]


def test_a_formula_in_a_caption_or_head():
    table = ResultsTable(caption="=HYPERLINK(1)", head=["+a"], rows=[["@b"]])

    assert render_tables([table], "csv") == "'=HYPERLINK(1)\n'+a\n'@b\n"


def test_a_formula_in_a_list_of_an_app_table():
    field = AppField("labels", "texts")
    table = DeclaredTable("notes", "note", (field,))

    [_, line] = write_table(table, [{"labels": ["=1+1", "x"]}]).splitlines()

    assert line == '"\'=1+1, x"'


def test_another_writer_of_csv():
    """Everything goes through the one that guards: nobody else imports ``csv`` to write."""
    writers = [
        str(path.relative_to(ROOT))
        for app in ("studio", "annotations", "evaluation")
        for path in (ROOT / app).rglob("*.py")
        if "csv.writer" in (text := path.read_text()) or "csv.DictWriter" in text
    ]
    assert writers == ["studio/domain/csv_files.py"]


# --- a network that is nobody's business ---


@pytest.mark.parametrize(
    "address",
    [
        "fec0::1", "feff::1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8", "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254", "64:ff9b:1::a00:1", "2002:a00:1::", "2002:7f00:1::1", "168.63.129.16",
        "::ffff:168.63.129.16", "64:ff9b::168.63.129.16", "2002:a83f:8110::", "::1", "::", "::ffff:127.0.0.1",
        "fe80::1", "fc00::1", "5f00::1", "192.88.99.1", "100.64.0.1", "169.254.169.254", "224.0.0.1", "ff02::1",
    ],
)  # fmt: skip
def test_an_internal_address_in_another_form(address: str):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::"])
def test_a_public_address_stays_public(address: str):
    assert is_public(ip_address(address))


class Resolver:
    """Answers each question with the next address, as a name server of the attacker's would."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: Any, *rest: Any, **more: Any) -> list[Any]:
        self.asked.append(host)
        if not self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        address = self.answers.pop(0)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port or 0))]


@pytest.mark.parametrize("second", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "64:ff9b::a00:1"])
def test_a_name_that_is_public_when_looked_at_and_internal_when_connected(second: str, monkeypatch: pytest.MonkeyPatch):
    resolver = Resolver("93.184.216.34", second)
    monkeypatch.setattr(hosts.socket, "getaddrinfo", resolver)

    assert hosts.allowed_addresses("rebinding.example", ()) == ["93.184.216.34"]
    with pytest.raises(InternalAddressError):
        CheckedBackend(()).connect_tcp("rebinding.example", 80, timeout=1)
    assert resolver.asked == ["rebinding.example"] * 2


def test_the_connection_goes_to_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch):
    connected: list[str] = []
    monkeypatch.setattr(hosts.socket, "getaddrinfo", Resolver("93.184.216.34", "127.0.0.1"))

    def connect(self: Any, host: str, *_: Any) -> Any:
        connected.append(host)
        raise httpcore2.ConnectError("not here")

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    with pytest.raises(httpcore2.ConnectError, match="not here"):
        CheckedBackend(()).connect_tcp("rebinding.example", 80, timeout=1)

    assert connected == ["93.184.216.34"]


def test_a_service_behind_a_socket_file():
    with pytest.raises(InternalAddressError):
        CheckedBackend(()).connect_unix_socket("/run/postgresql/.s.PGSQL.5432")


@pytest.mark.django_db
def test_to_learn_whether_an_internal_name_resolves(monkeypatch: pytest.MonkeyPatch, settings: Any):
    """Neither saving an owner's model nor testing it tells."""
    settings.MODEL_NETWORKS = []
    told: dict[str, list[str]] = {"resolves": [], "does not": []}
    for name, answers in (("resolves", ["10.0.0.7"] * 9), ("does not", [])):
        for scheme in ("https", "http"):
            monkeypatch.setattr(hosts.socket, "getaddrinfo", Resolver(*answers))
            benchmark = BenchmarkFactory()
            address = f"{scheme}://vault.corp.example/v1"
            row = endpoint(f"{name} {scheme}", base_url=address, scripted=False, benchmark=benchmark)
            told[name].append(problem_of(row))
            asked = Endpoint(name="m", base_url=address, model="m", policy=Policy())
            client = ModelClient(asked, budget=Budget(), retry_policy=RetryPolicy(attempts=1))
            with pytest.raises(EndpointError) as refused:
                client.complete([{"role": "user", "content": "?"}])
            told[name].append(str(refused.value))

    assert told["resolves"] == told["does not"]


# --- a token that does more than it was made for ---

GRAVE = {"plan_audit", "pilot", "release", "manage"}
COSTS = {"evaluation:api_proposals": b"{}"}
APPROVES = {"studio:api_steps": b'{"action": "approve"}'}
"""Which others may do, too, with what is sent there."""


@pytest.mark.django_db
def test_to_decide_something_with_a_token_for_writing(world: World):
    """What costs money, ends an audit, changes what scores or approves asks for a token for everything."""
    secret = create_token(world.people[Role.OWNER], name="drafts", scope="write", days=1)[1]
    client = Client(headers={"Authorization": f"Token {secret}"}, raise_request_exception=False)
    known = {route.name: route for route in routes() if route.methods}
    asked = [
        (name, method, b"{}")
        for (name, method), who in rules().items()
        if name in known and method != "GET" and who in GRAVE
    ]
    asked += [(name, "POST", body) for name, body in (COSTS | APPROVES).items()]
    allowed = []
    for name, method, body in asked:
        answer = client.generic(method, known[name].reverse(world), body, content_type="application/json")
        if answer.status_code != 403 or b"this needs" not in answer.content:
            allowed.append(f"{method} {name}: {answer.status_code}")

    assert len(asked) > 12
    assert allowed == []


# --- somebody else's account ---


@pytest.fixture
def invited() -> tuple[Client, str]:
    """Somebody with an invitation, and its address."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    _, secret = invite(by=owner, benchmark=benchmark, role=Role.AUTHOR, link=lambda secret: secret)
    return Client(), reverse("studio:invitation", args=[secret])


def sign_up(invited: tuple[Client, str], username: str, email: str = "new@example.org") -> str:
    client, address = invited
    entered = {"username": username, "email": email, "password1": "correct horse battery", "display_name": "N"}
    return client.post(address, entered, follow=True).content.decode()


@pytest.mark.django_db
def test_a_name_that_is_somebodys_address(invited: tuple[Client, str]):
    UserFactory(username="victim", email="victim@example.org")

    page = sign_up(invited, "victim@example.org")

    assert "Choose a username without @" in page
    assert User.objects.filter(email="new@example.org").count() == 0


ALREADY = "A user with that username already exists"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "words"),
    [
        *[("ｖｉｃｔｉｍ", ALREADY), ("VICTIM", ALREADY), ("ⓥictim", ALREADY)],
        *[("vi\u0441tim", "in one alphabet"), ("v\u03b9ctim", "in one alphabet")],
        *[(name, ALREADY) for name in ("ꓦꓲꓚꓔꓲꓟ", "ᴠɪᴄᴛɪᴍ", "vıctım", "Victlm")],
        *[("victim\u200b", "Enter a valid username"), ("vic\u00adtim", "Enter a valid username")],
    ],
)
def test_a_name_that_looks_like_somebodys(invited: tuple[Client, str], name: str, words: str):
    UserFactory(username="victim")

    page = sign_up(invited, name)

    assert words in page
    assert User.objects.filter(email="new@example.org").count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("known", "name"),
    [("apex", "арех"), ("aroma", "ароma"), ("AXE", "ΑΧΕ"), ("lena", "Iena"), ("bob0", "bobo"), ("Сору", "Copy")],
)
def test_a_name_that_looks_like_somebodys_in_another_alphabet(invited: tuple[Client, str], known: str, name: str):
    UserFactory(username=known)

    sign_up(invited, name)

    assert User.objects.filter(email="new@example.org").count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Zoë", "анна", "田中さん", "ana.2"])
def test_a_name_in_one_alphabet_is_free(invited: tuple[Client, str], name: str):
    sign_up(invited, name)

    assert User.objects.filter(username=name).count() == 1


@pytest.mark.django_db
def test_an_address_that_is_somebodys(invited: tuple[Client, str], settings: Any):
    """Neither at sign-up nor later, also where the other account has never confirmed it and no mail is sent."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    UserFactory(username="victim", email="Victim@Example.org")
    attacker = UserFactory(username="attacker", email="attacker@example.org")
    assert not EmailAddress.objects.exists()

    sign_up(invited, "other", "victim@example.ORG")
    client = Client()
    client.force_login(attacker)
    client.post(reverse("account_email"), {"action_add": "", "email": "victim@example.org"})

    assert list(User.objects.filter(email__iexact="victim@example.org").values_list("username", flat=True)) == [
        "victim"
    ]
    assert not EmailAddress.objects.filter(email__iexact="victim@example.org").exclude(user__username="victim").exists()


@pytest.mark.django_db
def test_a_new_address_counts_once_it_is_confirmed(mailoutbox: list[Any], settings: Any):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    person = UserFactory(username="ana", email="ana@example.org")
    client = Client()
    client.force_login(person)

    client.post(reverse("account_email"), {"action_add": "", "email": "boss@example.org"})
    person.refresh_from_db()

    assert person.email == "ana@example.org"
    assert mailoutbox[-1].to == ["boss@example.org"]


@pytest.mark.parametrize(
    "address",
    ["/invitation/{}/", "/account/email/{}/", "/password/7f-{}/", "/invitation/{}/?next=/"],
)
def test_an_invitation_in_the_log(address: str):
    line = settings_module.LOGGING["formatters"]["line"]
    formatter = DiscreetFormatter(line["fmt"].replace("request=%(request_id)s ", ""))
    path = address.format("s3cr3t-Key:1")
    try:
        raise ValueError(f"no page at '{path}'")
    except ValueError:
        record = logging.LogRecord("django.request", 40, "", 1, "Not found: %s", (path,), sys.exc_info())

    written = formatter.format(record)
    logged = access_line(path)

    assert "s3cr3t" not in written + logged
    assert (written.count("…"), logged.count("…")) == (2, 2)
    assert line["()"] == "studio.web.request_ids.DiscreetFormatter"


def access_line(path: str) -> str:
    """As ``make run`` writes it."""
    with socket.socket() as listener:
        argv = list(web_process(listener, 0).argv)
    config = Config()
    config.set("logger_class", argv[argv.index("--logger-class") + 1])
    environ = {"REQUEST_METHOD": "GET", "RAW_URI": path, "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_REFERER": path}
    answer = SimpleNamespace(status="200 OK", sent=2, headers=[])
    request = SimpleNamespace(headers=[])
    atoms = config.logger_class(config).atoms(answer, request, environ, timedelta(seconds=1))
    return argv[argv.index("--access-logformat") + 1] % defaultdict(str, atoms)


# --- a failure that is called something else ---


@contextmanager
def stopped_database() -> Iterator[type[Exception]]:
    """What comes of a connection of our own that the server ends, as when it is stopped."""
    ours = connections["default"].copy()
    try:
        with ours.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            [pid] = cursor.fetchone()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises((OperationalError, InterfaceError)) as ended, ours.cursor() as cursor:
            cursor.execute("SELECT 1")
        yield ended.value
    finally:
        ours.close()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/benchmarks/", "/api/benchmarks/"])
def test_to_have_a_stopped_database_called_a_defect(address: str, monkeypatch: pytest.MonkeyPatch):
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory())
    with stopped_database() as ended:

        def fails(*_: Any, **__: Any) -> None:
            raise ended

        monkeypatch.setattr(BenchmarkQuerySet, "of_member", fails)
        answer = client.get(address)

    assert answer.status_code == 503
    assert "The database cannot be reached just now." in answer.content.decode()


@pytest.mark.django_db
def test_a_deadlock_is_not_a_stopped_database():
    refused = OperationalError("deadlock")
    refused.__cause__ = psycopg.errors.DeadlockDetected("deadlock")

    assert not is_away(refused)
    assert not is_away(ValueError("x"))


@pytest.mark.django_db
def test_to_have_a_session_stopped_with_the_database(monkeypatch: pytest.MonkeyPatch):
    """It is nobody's failure: whoever takes it once the lease has run out goes on."""
    session = Session.objects.get(run__pilot=pilot_of(benchmark_of(a_spec("bread"))))
    with stopped_database() as ended:

        def fails(*_: Any) -> None:
            raise ended

        monkeypatch.setattr(session_work, "_work", fails)
        with pytest.raises((OperationalError, InterfaceError)):
            session_work.work_on(session.pk)
    session.refresh_from_db()

    assert (session.state, session.reason) == (Session.State.RUNNING, "")


REFUSES = """
from studio.web.uploads import reading_uploads

def refuse(environ, start_response):
    start_response("403 Forbidden", [("Content-Length", "2")])
    return [b"no"]

application = reading_uploads(refuse)
"""


def test_an_upload_that_breaks_off_in_place_of_an_answer(tmp_path: Path):
    (tmp_path / "refuses.py").write_text(REFUSES)
    place = tmp_path / "socket"
    server = subprocess.Popen(
        [Path(sys.executable).with_name("gunicorn"), "refuses", "--bind", f"unix:{place}", "--no-control-socket"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        wait_until(place.exists)
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(str(place))
            client.sendall(b"POST / HTTP/1.1\r\nHost: studio\r\nContent-Length: 20000000\r\n\r\n")
            client.sendall(bytes(20_000_000))
            answer = client.recv(1000)
    finally:
        server.terminate()
        server.wait()

    assert answer.startswith(b"HTTP/1.1 403 Forbidden")


def test_the_studio_is_served_so():
    from studio.wsgi import application

    assert application.__qualname__.startswith("reading_uploads")


# --- a promise that nothing tests ---


def test_a_promise_of_security_that_no_test_holds():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text())
    missing = [
        (file, name)
        for file, name in named
        if not (ROOT / file).exists() or (name and f"def {name}(" not in (ROOT / file).read_text())
    ]

    assert len(named) > 30
    assert missing == []


# --- tried, and held ---


@pytest.mark.django_db
@pytest.mark.parametrize(
    "host", ["evil.example", "testserver.evil.example", "testserver@evil.example", "evil.example:80"]
)
def test_a_reset_link_that_leads_elsewhere(host: str, mailoutbox: list[Any], settings: Any):
    settings.ALLOWED_HOSTS = ["testserver"]
    UserFactory(username="ana", email="ana@example.org")

    answer = Client(headers={"Host": host}).post(reverse("account_reset_password"), {"email": "ana@example.org"})
    forwarded = Client(headers={"X-Forwarded-Host": host}).post(
        reverse("account_reset_password"), {"email": "ana@example.org"}
    )

    assert (answer.status_code, forwarded.status_code) == (400, 302)
    assert len(mailoutbox) == 1
    assert "http://testserver/" in mailoutbox[0].body
    assert "evil" not in mailoutbox[0].body


@pytest.mark.django_db
def test_to_restore_an_approval_by_raw_sql():
    """Of an older text, for a newer one, or by its writer: the database alone refuses it."""
    benchmark = BenchmarkFactory()
    writer = member(benchmark, Role.AUTHOR, Role.REVIEWER)
    task = a_task(a_persona(benchmark, by=writer), by=writer)
    submit(task.pk, by=writer)
    approve(task.pk, by=member(benchmark, Role.REVIEWER))
    save_task(task.pk, load_task(task).model_copy(update={"initial_request": "Another one."}), by=writer)
    for statement in (
        "UPDATE studio_review SET reviewer_id = %s",
        "UPDATE studio_review SET created_at = now() WHERE reviewer_id <> %s",
        """UPDATE studio_task SET state = 'approved', approved_content = (SELECT content FROM studio_review LIMIT 1)
            WHERE state <> 'approved' AND %s > 0""",
        """INSERT INTO studio_review (revision_id, reviewer_id, decision, content, parts, text, points, created_at)
           SELECT revision_id, %s, decision, content, parts, text, points, created_at FROM studio_review""",
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            assert changed_by(statement, writer.pk) == 1


def changed_by(statement: str, value: int) -> int:
    """Rows, with all that the database checks at the end of a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [value])
        found = cursor.rowcount
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return found


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets the clock of this process, which the database's is not."""
    now = timezone.now

    def set_clock(by: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: now() + by)

    return set_clock


@pytest.mark.django_db
def test_two_leases_of_a_session_by_a_clock_that_jumps(jump: Callable[[timedelta], None]):
    """Whoever's clock runs ahead takes over, and the first can write no more; one that runs behind waits."""
    session = Session.objects.get(run__pilot=pilot_of(benchmark_of(a_spec("bread"))))
    first = claim_session(session.pk)
    assert first is not None

    jump(timedelta(hours=-2))
    assert claim_session(session.pk) is None
    jump(timedelta(hours=2))
    second = claim_session(session.pk)
    jump(timedelta())

    assert second is not None
    assert (first.held().exists(), second.held().exists()) == (False, True)
    assert claim_session(session.pk) is None


@pytest.mark.django_db
def test_a_token_or_invitation_that_lives_on_by_a_clock_that_jumps(jump: Callable[[timedelta], None]):
    """What was used or withdrawn stays so, whatever the clock says; what expired comes back only while it is wrong."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    token, _ = create_token(owner, name="nightly", scope="read", days=1)
    made = [invite(by=owner, benchmark=benchmark, role=Role.AUTHOR, link=str)[0] for _ in range(3)]
    accept(made[0], UserFactory())
    revoke(made[1], by=owner)
    open_in: dict[int, list[bool]] = {}
    for days in (-30, 0, 30):
        jump(timedelta(days=days))
        rows = [Invitation.objects.get(pk=row.pk) for row in made]
        open_in[days] = [not has_expired(token), *(not why_unusable(row) for row in rows)]

    assert open_in == {
        -30: [True, False, False, True],
        0: [True, False, False, True],
        30: [False, False, False, False],
    }
