from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.test import Client

from evaluation.judging.judgings import open_judging
from evaluation.models import Judging, JudgingRound, ModelCall, Session, TurnNote
from evaluation.protocol.scoring import ScoringMode
from evaluation.transcripts.session import costs_by_turn
from tests.evaluation.builders import benchmark_of, file, intents, rubric, task
from tests.evaluation.factories import finish, person, pilot_row, resolve_intent, turn, verdict

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def session_of(client: Client, *, role: str = "viewer", **spec: object) -> Session:
    values: dict[str, object] = {"checklist": (rubric("The fee is named."), rubric("It is signed."))}
    session = finish(pilot_row(benchmark_of(task("a", **(values | spec)))))
    client.force_login(person(session.run.pilot.benchmark, role))
    return session


def read(client: Client, session: Session, query: str = "") -> str:
    answer = client.get(f"/sessions/{session.pk}/{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def step(page: str, name: str) -> str:
    """One step of the ladder, without its tags."""
    match = re.search(rf'<li id="{name}".*?</li>', page, re.DOTALL)
    assert match
    return " ".join(re.sub(r"<[^>]+>", " ", match[0]).split())


def test_intents_show_status_turn_and_quote(client: Client):
    session = session_of(client, intents=intents("Name the fee.", "Sign it.", "Be brief.", provided=[3]))
    turn(session, 1, reply="The fee is 70 euros. Shall I sign it?")
    resolve_intent(session, 1, "completed", 1)
    resolve_intent(session, 2, "inferred", 1)
    resolve_intent(session, 3, "provided", 0)
    first = verdict(session, "satisfaction", index=1, quote="The fee is 70 euros.", reason="It names it.")
    verdict(session, "satisfaction", index=2, met=False, reason="Not signed.")
    verdict(session, "follow_up", index=2, quote="Shall I sign it?", reason="It asks.")

    page = read(client, session)

    assert "completed turn 1 Name the fee. “The fee is 70 euros.” It names it." in step(page, "intent-1")
    assert "inferred turn 1 Sign it. “Shall I sign it?” It asks." in step(page, "intent-2")
    assert "provided from the start" in step(page, "intent-3")
    assert f'<span class="evidence-at" id="e{first.pk}"></span><mark class="evidence"' in page
    assert f'href="#e{first.pk}"' in page


def test_items_show_both_scoring_modes_with_reasons(client: Client):
    session = session_of(client, checklist=tuple(rubric(name) for name in ("a", "b", "c", "d")))
    turn(session, 1, reply="Signed.")
    for mode in ScoringMode:
        verdict(session, scoring=mode, index=1, quote="Signed.")
        verdict(session, scoring=mode, index=2, met=False, reason="Nowhere.")
        verdict(session, scoring=mode, index=3, quote="Nobody said this.", supported=False)
        verdict(session, scoring=mode, index=4, met=None, error="The grader loops.", supported=False)

    page = read(client, session)

    assert "compat ✓ met turn 1 strict ✓ met turn 1" in step(page, "item-1")
    assert "compat – not met strict – not met" in step(page, "item-2")
    assert "Nowhere." in step(page, "item-2")
    assert "compat ? unsupported turn 1" in step(page, "item-3")
    assert "does not occur in what the judge saw" in step(page, "item-3")
    assert "compat ✕ not graded strict ✕ not graded" in step(page, "item-4")
    assert "The grader loops." in step(page, "item-4")


def test_failed_session_explains_its_scores(client: Client):
    session = session_of(client)
    Session.objects.update(state="failed", reason="It called tools 201 times.")

    page = read(client, session)

    assert "It called tools 201 times." in page
    assert "compat ✕ not graded strict – not met" in step(page, "item-1")


@pytest.mark.slow
def test_evidence_is_highlighted_in_tool_calls_and_files(client: Client):
    session = session_of(client, files_read=("note.md",))
    turn(
        session,
        1,
        reply="Done.",
        files={"note.md": b"# Note\nThe fee is 70."},
        calls=[{"name": "send_email", "arguments": {"to": "a@b.example", "body": 'Say "by five".'}, "result": "sent"}],
    )
    in_call = verdict(session, index=1, quote='Say \\"by five\\".')
    in_file = verdict(session, index=2, quote="The fee is 70.")

    page = read(client, session)

    call = page[page.index("<b>send_email</b>") :]
    assert f'id="e{in_call.pk}"' in call[: call.index("</details>")]
    file_view = page[page.index("saw it after this turn") :]
    assert f'id="e{in_file.pk}"' in file_view[: file_view.index("</details>")]
    assert client.get(f"/sessions/{session.pk}/turns/1/file/?path=note.md").content.count(b'class="evidence"') == 1


def test_evidence_of_the_paper_protocol_is_found_in_all_that_judges_saw(client: Client):
    asset = file("given.md", "The tide turns at six.")
    spec = task("a", assets=(asset,), checklist=tuple(map(rubric, "wxyz")))
    session = finish(pilot_row(benchmark_of(spec), protocol="paper"))
    client.force_login(person(session.run.pilot.benchmark, "viewer"))
    sent = {"name": "gmail__send_email", "arguments": {"to": ["a@b.example"], "subject": "Tides"}, "result": "{}"}
    given = {"given.md": b"The tide turns at six."}
    turn(session, 1, files=given, calls=[{**sent, "changes": ["Sent an email to a@b.example."]}])
    turn(session, 2, files=given)
    in_input = verdict(session, turn=2, index=1, quote="The tide turns at six.")
    across = verdict(session, turn=2, index=2, quote='"to": ["a@b.example"], "subject": "Tides"')
    in_change = verdict(session, turn=2, index=3, quote="Sent an email to a@b.example.")
    told = verdict(session, turn=2, index=4, quote="No files were written.")

    page = read(client, session)

    call = page[page.index("<b>gmail__send_email</b>") :]
    call = call[: call.index("</details>")]
    assert f'id="e{across.pk}"' in call
    assert f'id="e{in_change.pk}"' in call
    assert f'href="#e{in_input.pk}"' in page
    assert page.count("is among what the judge was told of the work") == 1
    assert "not shown on this page" not in page
    assert f'id="e{told.pk}"' not in page


def test_a_turn_after_every_intent_had_its_status_says_that_it_was_not_judged_for_intents(client: Client):
    session = session_of(client, intents=intents("Name the fee."))
    turn(session, 1)
    turn(session, 2)
    resolve_intent(session, 1, "provided", 1)

    page = read(client, session)

    assert page.count("no judge of intents looked at it") == 1
    assert page.index("no judge of intents looked at it") > page.index('id="turn-2"')


def test_output_of_models_and_tools_is_escaped(client: Client):
    session = session_of(client)
    turn(
        session,
        1,
        message=HOSTILE,
        reply=HOSTILE,
        files={f"{HOSTILE}.md": HOSTILE.encode()},
        calls=[{"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "result": HOSTILE, "ok": False}],
    )
    Session.objects.update(reason=HOSTILE)
    verdict(session, met=None, error=HOSTILE, reason=HOSTILE, quote=HOSTILE, label=HOSTILE)

    page = read(client, session)
    in_full = client.get(f"/sessions/{session.pk}/turns/1/file/", {"path": f"{HOSTILE}.md"}).content.decode()

    assert "alert(1)" in page
    for drawn in (page, in_full):
        assert not re.search(r"<script>alert|<img", drawn)


def test_files_are_downloads_in_a_sandbox(client: Client):
    session = session_of(client)
    turn(session, 1, files={"a/page.html": b"<script>alert(1)</script>"})

    answer = client.get(f"/sessions/{session.pk}/turns/1/download/?path=a/page.html")

    assert answer.content == b"<script>alert(1)</script>"
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")


@pytest.mark.slow
def test_workspace_marks_new_and_changed_files(client: Client):
    session = session_of(client, assets=(file("given.txt", "as given"),))
    turn(session, 1, files={"given.txt": b"as given", "note.md": b"one\ntwo"})
    turn(session, 2, files={"note.md": b"one\nthree"})

    first, second = read(client, session, "?turn=1"), read(client, session, "?turn=2")
    part = client.get(f"/sessions/{session.pk}/?turn=1", headers={"HX-Request": "true", "HX-Target": "workspace"})

    def files(page: str) -> list[str]:
        listed = page[page.index('class="panel rows files"') :]
        return [
            " ".join(re.sub(r"<[^>]+>", " ", row).split())
            for row in re.findall(r"<li.*?</li>", listed[: listed.index("</ul>")], re.DOTALL)
        ]

    assert files(first) == ["given.txt 8 bytes", "note.md + new 7 bytes"]
    assert files(second) == ["given.txt − gone", "note.md ~ changed 9 bytes"]
    assert part.content.decode().strip().startswith("<section")
    assert files(part.content.decode()) == files(first)


def test_changed_file_is_compared_with_the_previous_turn(client: Client):
    session = session_of(client)
    turn(session, 1, files={"note.md": b"one\ntwo"})
    turn(session, 2, files={"note.md": b"one\nthree"})

    page = client.get(f"/sessions/{session.pk}/turns/2/file/?path=note.md&diff=1").content.decode()

    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
    assert rows == ["@@ -1,2 +1,2 @@", "one", "- two", "+ three"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["nothing.md", "../../etc/passwd", ""])
def test_file_outside_the_workspace_is_not_found(client: Client, path: str):
    session = session_of(client)
    turn(session, 1, files={"note.md": b"x"})

    for page in ("file", "download"):
        assert client.get(f"/sessions/{session.pk}/turns/1/{page}/", {"path": path}).status_code == 404


def test_binary_file_can_only_be_downloaded(client: Client):
    session = session_of(client)
    turn(session, 1, files={"picture.png": b"\x89PNG\x00"})

    page = client.get(f"/sessions/{session.pk}/turns/1/file/?path=picture.png").content.decode()

    assert "not shown" in page


def test_session_of_another_benchmark_is_not_found(client: Client):
    session = session_of(client)
    turn(session, 1, files={"note.md": b"x"})
    client.force_login(person())

    for path in ("", "turns/1/file/?path=note.md", "turns/1/download/?path=note.md"):
        assert client.get(f"/sessions/{session.pk}/{path}").status_code == 404


def test_queued_session_is_labelled_as_queued(client: Client):
    session = session_of(client)
    Session.objects.update(state="waiting", ended_at=None, graded_strict_at=None, graded_compat_at=None)

    page = read(client, session)

    assert "No turns yet" in page
    assert "waiting" in step(page, "item-1")


def test_session_that_an_infrastructure_failure_stopped_is_told_to_go_on_from_there(client: Client):
    session = session_of(client, intents=intents("Name the fee."))
    Session.objects.update(state="error", reason="The service is down.")

    page = read(client, session)

    assert "A retry on the pilot’s page goes on from here." in page
    assert "Technical failure" in page and "Infrastructure" not in page
    assert "Open when a technical failure stopped the session." in step(page, "intent-1")


@pytest.mark.slow
def test_two_sessions_of_a_task_are_shown_side_by_side(client: Client):
    session = session_of(client)
    turn(session, 1, message="Write it.", reply="It is written.")
    resolve_intent(session, 1, "completed", 1)
    other = finish(pilot_row(session.run.pilot.benchmark))
    turn(other, 1, message="Write it.", reply=f"What shall I write? {HOSTILE}")
    turn(other, 2, message=f"A note. {HOSTILE}", reply="There it is.")

    assert f'href="?beside={other.pk}"' in read(client, session)
    page = read(client, session, f"?beside={other.pk}")
    assert page.index("It is written.") < page.index("What shall I write?") < page.index("There it is.")
    assert "This session was over before." in page
    assert "completed" in page
    assert HOSTILE not in page


@pytest.mark.slow
@pytest.mark.parametrize("key", ["0", "x", "9" * 30])
def test_only_a_visible_session_of_the_same_task_is_compared(client: Client, key: str):
    session = session_of(client)
    elsewhere = finish(pilot_row())
    for other in (key, str(elsewhere.pk), str(session.pk)):
        assert client.get(f"/sessions/{session.pk}/?beside={other}").status_code == 404


def test_each_turn_says_what_it_cost_without_what_judging_again_took(client: Client):
    session = session_of(client)
    turn(session, 1)
    turn(session, 2)
    judging = open_judging(session, "strict")
    called(session, 1, "agent", 100, "0.02")
    called(session, 1, "checklist_strict", 50, "0.01", judging=judging)
    called(session, 1, "agent", 7, "0.5", attempts=0)  # answered from the record
    called(session, 3, "agent", 10, "0.04")
    called(session, 3, "agent", None, None)
    again = JudgingRound.objects.create(
        pilot=session.run.pilot, number=2, purpose="rejudging", judge=judging.judge, prompts=judging.prompts
    )
    other = Judging.objects.create(
        session=session, round=again, scoring="strict", endpoint=judging.endpoint, judge=judging.judge, prompts={}
    )
    called(session, 1, "checklist_strict", 50, "0.3", judging=other)

    used = costs_by_turn(session)
    assert {turn: (use.calls, use.tokens.total, use.cost, use.unpriced) for turn, use in used.items()} == {
        1: (2, 150, Decimal("0.03"), 0),
        3: (2, 10, Decimal("0.04"), 1),
    }
    page = " ".join(read(client, session).split())
    assert "$0.0300 for 2 calls" in page
    assert "for 0 calls" in page


def called(session: Session, turn: int, purpose: str, tokens: int | None, cost: str | None, **fields: object) -> None:
    ModelCall.objects.create(
        session=session,
        turn=turn,
        purpose=purpose,
        prompt_tokens=tokens,
        cost=None if cost is None else Decimal(cost),
        endpoint=session.run.pilot.agent,
        request_hash=f"{ModelCall.objects.count():064}",
        content=b"",
        answered=True,
        **fields,
    )


@pytest.mark.slow
def test_notes_on_a_turn_are_seen_by_all_and_deleted_by_their_author_alone(client: Client):
    session = session_of(client, role="reviewer")
    first = turn(session, 1)
    address = f"/sessions/{session.pk}/turns/1/notes/"

    assert client.post(address, {"text": " It guessed the <fee>. "}).status_code == 302
    empty = client.post(address, {"text": " "}, headers={"HX-Request": "true"})
    note = TurnNote.objects.get(turn=first)
    assert "Write the note first." in empty.content.decode()
    assert "It guessed the &lt;fee&gt;." in read(client, session)
    assert client.get(f"/api/sessions/{session.pk}/").json()["turns"][0]["notes"][0]["text"] == "It guessed the <fee>."

    client.force_login(person(session.run.pilot.benchmark, "author"))
    client.post(address, {"delete": note.pk})
    assert "It guessed the &lt;fee&gt;." in read(client, session)
    client.force_login(note.author)
    client.post(address, {"delete": note.pk})
    assert not TurnNote.objects.exists()


def test_a_viewer_reads_notes_and_writes_none(client: Client):
    session = session_of(client)
    TurnNote.objects.create(turn=turn(session, 1), text="Read me.")

    page = read(client, session)

    assert "Read me." in page and "A former member" in page and "Add a note" not in page
    assert client.post(f"/sessions/{session.pk}/turns/1/notes/", {"text": "x"}).status_code == 403
