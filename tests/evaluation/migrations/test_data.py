"""Migrations that carry data over, on tables as they were: temporary ones, which hide those of today."""

# ruff: noqa: S608  # tables and columns are named here

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from evaluation.llm.exchange import Exchange, decode, decode_messages

pytestmark = pytest.mark.django_db

EDITOR = SimpleNamespace(connection=connection)
FROZEN = (
    'CREATE TRIGGER {0}_frozen BEFORE UPDATE ON pg_temp."{0}" FOR EACH ROW EXECUTE FUNCTION public.refuse_update()'
)


def migration(name: str) -> Any:
    return importlib.import_module(f"evaluation.migrations.{name}")


def tables(definitions: dict[str, str], frozen: Sequence[str] = ()) -> None:
    with connection.cursor() as cursor:
        for name, columns in definitions.items():
            cursor.execute(f'CREATE TEMP TABLE "evaluation_{name}" ({columns}) ON COMMIT DROP')
        for name in frozen:
            cursor.execute(FROZEN.format(f"evaluation_{name}"))


def insert(table: str, **values: Any) -> None:
    names = ", ".join(values)
    slots = ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "evaluation_{table}" ({names}) VALUES ({slots})',
            [json.dumps(value) if isinstance(value, dict) else value for value in values.values()],
        )


def rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def refuses_updates(table: str) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET id = id")
    except DatabaseError:
        return True
    return False


class TestJudgings:
    """0017: what was judged before judgings were rows."""

    @pytest.fixture
    def carried(self) -> None:
        judging = """id serial, session_id int, rehearsal_id int, round_id int, purpose text, scoring text, sample int,
            endpoint_id int, judge jsonb, prompts jsonb, state text, reason text, scripted bool, replayed int,
            claimed_by text, lease_until timestamptz, created_at timestamptz, finished_at timestamptz"""
        tables(
            {
                "pilot": "id int, config jsonb, created_by_id int, created_at timestamptz, scripted bool, "
                "user_model_id int, judge_id int",
                "run": "id int, pilot_id int",
                "session": "id int, run_id int, started_at timestamptz, ended_at timestamptz, "
                "graded_compat_at timestamptz, graded_strict_at timestamptz",
                "verdict": "id int, session_id int, scoring text, judging_id int",
                "modelcall": "id int, session_id int, purpose text, judging_id int",
                "rehearsal": "id int, judge_id int, scripted bool, created_at timestamptz",
                "rehearsalcall": "id int, rehearsal_id int, purpose text, judging_id int",
                "modelendpoint": "id int, name text, base_url text, model text, params jsonb",
                "judginground": """id serial, pilot_id int, number int, purpose text, judge jsonb, prompts jsonb,
                    samples int, every_turn bool, estimate jsonb, created_by_id int, created_at timestamptz""",
                "scoringchoice": "id serial, pilot_id int, round_id int, rules jsonb, by_id int, at timestamptz",
                "judging": judging,
            },
            frozen=("verdict", "modelcall"),
        )
        day = "2026-01-01T00:00Z"
        config = {"judge": {"name": "j", "model": "judge-1"}, "user_model": {"name": "u", "model": "user-1"}}
        insert("pilot", id=1, config=config, created_at=day, scripted=False, user_model_id=7, judge_id=8)
        insert("run", id=1, pilot_id=1)
        insert("session", id=1, run_id=1, started_at=day, ended_at=day, graded_strict_at=day)
        insert("session", id=2, run_id=1)
        for key, scoring in ((1, ""), (2, "strict"), (3, "strict")):
            insert("verdict", id=key, session_id=1, scoring=scoring)
        purposes = ("agent", "satisfaction", "checklist_strict", "checklist_compat")
        for key, purpose in enumerate(purposes, start=1):
            insert("modelcall", id=key, session_id=1, purpose=purpose)
        insert("modelendpoint", id=8, name="j", base_url="https://x", model="judge-1", params={})
        insert("rehearsal", id=5, judge_id=8, scripted=False, created_at=day)
        insert("rehearsalcall", id=1, rehearsal_id=5, purpose="follow_up")
        insert("rehearsalcall", id=2, rehearsal_id=5, purpose="agent")
        migration("0017_judgings").carry_over(None, EDITOR)

    @pytest.mark.usefixtures("carried")
    def test_each_pilot_gets_a_first_round_that_scores_it_with_its_judge_and_prompts(self):
        [(pilot, number, purpose, judge, prompts)] = rows(
            "SELECT pilot_id, number, purpose, judge, prompts FROM evaluation_judginground"
        )
        assert (pilot, number, purpose, json.loads(judge)["model"]) == (1, 1, "scoring", "judge-1")
        assert {name: prompt["version"] for name, prompt in json.loads(prompts).items()} == {
            "satisfaction": "1", "follow_up": "1", "checklist": "1",
        }  # fmt: skip
        assert rows("SELECT c.pilot_id, c.round_id = r.id FROM evaluation_scoringchoice c, evaluation_judginground r")

    @pytest.mark.usefixtures("carried")
    def test_verdicts_and_judges_calls_find_their_judging_and_agents_calls_have_none(self):
        judgings = rows(
            "SELECT id, session_id, rehearsal_id, scoring, state, endpoint_id, judge->>'model' "
            "FROM evaluation_judging ORDER BY session_id, scoring"
        )
        assert [judging[1:] for judging in judgings] == [
            (1, None, "", "finished", 7, "user-1"),
            (1, None, "compat", "running", 8, "judge-1"),
            (1, None, "strict", "finished", 8, "judge-1"),
            (None, 5, "", "running", 8, "judge-1"),
        ]
        user, compat, strict, rehearsal = (judging[0] for judging in judgings)
        verdicts = rows("SELECT judging_id FROM evaluation_verdict ORDER BY id")
        calls = rows("SELECT judging_id FROM evaluation_modelcall ORDER BY id")
        assert verdicts == [(user,), (strict,), (strict,)]
        assert calls == [(None,), (user,), (strict,), (compat,)]
        assert rows("SELECT judging_id FROM evaluation_rehearsalcall ORDER BY id") == [(rehearsal,), (None,)]

    @pytest.mark.usefixtures("carried")
    def test_what_was_frozen_is_frozen_again(self):
        assert refuses_updates("evaluation_verdict")
        assert refuses_updates("evaluation_modelcall")


class TestExchanges:
    """0019: calls that stored whole requests store what is new in them."""

    LONG = "Please write the note on the harbour fee, and name the fee in it. " * 5
    ASKED = {"model": "m", "messages": [{"role": "user", "content": LONG}]}
    ANSWER = {"choices": [{"message": {"role": "assistant", "content": "It is written – 30 kr."}}]}
    ASKED_AGAIN = {
        "model": "m",
        "messages": [*ASKED["messages"], ANSWER["choices"][0]["message"], {"role": "user", "content": "Sign it."}],
    }

    @pytest.fixture
    def shortened(self) -> None:
        call = """id int, {0} int, purpose text, turn int, request json, response json, request_hash text,
            endpoint_id int, content bytea, base_id int, answered bool"""
        tables(
            {
                "modelcall": call.format("session_id"),
                "rehearsalcall": call.format("rehearsal_id"),
                "suggestioncall": call.format("suggestion_id"),
                "turn": "id int, session_id int, number int, agent_state json",
                "rehearsal": "id int, agent_state json",
                "modelendpoint": "id int, name text, base_url text",
            },
            frozen=("modelcall", "suggestioncall", "turn"),
        )
        insert("modelendpoint", id=1, name="gpt", base_url="https://x")
        for key, turn, asked, answer in ((1, 1, self.ASKED, self.ANSWER), (2, 2, self.ASKED_AGAIN, None)):
            insert(
                "modelcall", id=key, session_id=9, purpose="agent", turn=turn, request=asked, response=answer,
                endpoint_id=1, request_hash=digest(["gpt", "https://x", 0, asked]),
            )  # fmt: skip
        insert("turn", id=4, session_id=9, number=1, agent_state={"messages": self.ASKED["messages"], "cost": "0"})
        insert("turn", id=5, session_id=9, number=2, agent_state={"note": "no conversation"})
        migration("0019_calls_as_exchanges").shorten(None, EDITOR)

    def decoded(self) -> dict[int, Exchange]:
        known: dict[int, Exchange] = {}
        context = b""
        for key, content, base in rows("SELECT id, content, base_id FROM evaluation_modelcall ORDER BY id"):
            assert base == (key - 1 or None)
            known[key], context = decode(key, bytes(content), context, known)
        return known

    @pytest.mark.usefixtures("shortened")
    def test_requests_answers_and_states_are_exact_to_the_byte(self):
        first, second = self.decoded().values()
        assert json.dumps(first.request) == json.dumps(self.ASKED)
        assert json.dumps(first.response) == json.dumps(self.ANSWER)
        assert json.dumps(second.request) == json.dumps(self.ASKED_AGAIN)
        assert second.response is None
        (state,), (other,) = rows("SELECT agent_state FROM evaluation_turn ORDER BY id")
        assert decode_messages(state["messages"], self.decoded()) == self.ASKED["messages"]
        assert (state["cost"], other) == ("0", {"note": "no conversation"})

    @pytest.mark.usefixtures("shortened")
    def test_the_second_request_stores_little_of_what_the_first_has(self):
        [_, (second,)] = rows("SELECT length(content) FROM evaluation_modelcall ORDER BY id")
        assert second < len(json.dumps(self.ASKED_AGAIN)) / 2
        assert rows("SELECT answered FROM evaluation_modelcall ORDER BY id") == [(True,), (False,)]

    @pytest.mark.usefixtures("shortened")
    def test_calls_are_found_without_the_endpoints_name(self):
        found = rows("SELECT request_hash FROM evaluation_modelcall ORDER BY id")
        assert found == [(digest(["https://x", 0, asked]),) for asked in (self.ASKED, self.ASKED_AGAIN)]

    @pytest.mark.usefixtures("shortened")
    def test_what_was_frozen_is_frozen_again(self):
        assert refuses_updates("evaluation_modelcall")
        assert refuses_updates("evaluation_turn")


def digest(identity: list[Any]) -> str:
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
