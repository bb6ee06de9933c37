from __future__ import annotations

from typing import Any

import pytest

from evaluation.tools.apps import World
from evaluation.tools.apps.splitwise import app

ADA, NOOR, LI = "ada@example.com", "noor@example.com", "li@example.com"


@pytest.fixture
def world() -> World:
    return World.from_data({"splitwise": {**app.example, "expenses": []}})


def call(world: World, name: str, **arguments: Any) -> Any:
    login = world.call("splitwise__login", {"username": ADA, "password": "bills-of-ada"})
    token = {"access_token": login.response["access_token"]}
    result = world.call(f"splitwise__{name}", {**arguments, **token})
    assert list(world.problems()) == []
    return result.response


def test_expense_outside_of_groups_is_owed_by_its_debtors_and_settled_up(world: World):
    made = call(
        world, "record_expense", description="Taxi", paid_amount=30, payer_email=NOOR, debtor_emails=[NOOR, ADA]
    )
    assert call(world, "show_no_group_expenses")[0]["expense_id"] == made["expense_id"]
    assert call(world, "show_people_balance") == {
        "you_owe_others": 15.0,
        "others_owe_you": 0.0,
        "breakdown": [{"email": NOOR, "name": "Noor Haddad", "direction": "you_owe_them", "amount": 15.0}],
    }

    paid = call(world, "settle_up", email=NOOR)["payment_id"]

    assert call(world, "show_payment", payment_id=paid)["payer"] == ADA
    assert call(world, "show_people_balance")["breakdown"] == []
    assert call(world, "settle_up", email=NOOR)["status"] == 422


def test_debts_of_a_group_follow_their_amounts_and_are_paid_back_in_it(world: World):
    debts = {"debtor_emails": [NOOR, LI], "debt_amounts": [20, 10.5]}
    call(world, "record_expense", group_id=1, description="Boat", paid_amount=30.5, payer_email=ADA, **debts)
    call(world, "record_payment", group_id=1, payer_email=LI, receiver_email=ADA, amount=10.5)

    balances = {each["email"]: each["balance"] for each in call(world, "show_member_balances", group_id=1)}

    assert balances == {ADA: 20.0, NOOR: -20.0, LI: 0.0}
    assert len(call(world, "show_group_payments", group_id=1)) == 1
    assert call(world, "settle_up", email=NOOR)["status"] == 422, "nothing is owed outside of the group"


def test_expense_nobody_can_owe_is_refused(world: World):
    taxi = {"description": "Taxi", "paid_amount": 30}
    assert "Name the debtor_emails" in call(world, "record_expense", **taxi)["message"]
    assert "named twice" in call(world, "record_expense", debtor_emails=[NOOR, NOOR], **taxi)["message"]
    assert "You must be" in call(world, "record_expense", payer_email=NOOR, debtor_emails=[LI], **taxi)["message"]
    unequal = call(world, "record_expense", debtor_emails=[NOOR, LI], debt_amounts=[30], **taxi)
    assert unequal["message"] == "There are 2 debtor_emails, but 1 debt_amounts."


def test_earlier_names_still_work(world: World):
    old = call(world, "record_expense", group_id=1, description="Tea", amount=9, paid_by=NOOR, shares={ADA: 9})
    assert call(world, "show_expense", expense_id=old["expense_id"])["shares"][0] == {"username": ADA, "amount": 9.0}
    call(world, "update_expense", expense_id=old["expense_id"], amount=12)
    assert len(call(world, "show_expense", expense_id=old["expense_id"])["shares"]) == 3
    assert call(world, "add_group_member", group_id=1, email=LI)["status"] == 409
