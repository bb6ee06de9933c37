"""Cases of rules about checklist items."""

from __future__ import annotations

from studio.domain.task import ChecklistItem
from tests.studio.domain.checks.cases.case import Case

CHECKLIST_CASES: tuple[Case, ...] = (
    Case(
        "criterion-not-atomic",
        {"criteria": ("The letter names the price, and it says when the offer ends.",)},
        {"criteria": ("The letter names the price that was agreed with Mr Ode and Sons.",)},
        ("checklist", 1),
        "and it says when the offer ends.",
    ),
    Case(
        "intents-untested",
        {
            "intents": ("Metric units", "Deliver before Easter", "Mention the allergens of nuts"),
            "criteria": ("The letter is polite.",),
        },
        {
            "intents": ("Metric units", "Deliver before Easter", "Mention the allergens of nuts"),
            "criteria": ("The letter is polite.", "The letter mentions nuts."),
        },
        ("checklist", None),
    ),
    Case(
        "criterion-should-be-rule",
        {"criteria": ("The subject is exactly “Boiler repair”.",)},
        {"criteria": ("The letter explains why the “Boiler repair” cannot wait.",)},
        ("checklist", 1),
        "Boiler repair",
        has_fix=False,
    ),
    Case(
        "criterion-should-be-rule",
        {"criteria": ("The file plan.md exists.",)},
        {"criteria": ("The plan is compelling to a visitor who reads plan.md for the first time.",)},
        ("checklist", 1),
        "plan.md",
    ),
    Case(
        "criterion-should-be-rule",
        {"criteria": ("The temporary board is deleted by the end of the task.",)},
        {"criteria": ("The note confirms that the temporary board was deleted, in words of comparable meaning.",)},
        ("checklist", 1),
        has_fix=False,
    ),
    Case(
        "criterion-is-process",
        {"criteria": ("The agent asks a clarifying question about the budget.",)},
        {"criteria": ("The letter asks the landlord to repair the boiler.",)},
        ("checklist", 1),
    ),
    Case(
        "criterion-interrogative",
        {"criteria": ("Does the letter name the price?",)},
        {"criteria": ("The letter closes with the question “Shall we begin on Monday?”",)},
        ("checklist", 1),
    ),
    Case(
        "criterion-truncated",
        {"criteria": ("The letter names the price and",)},
        {"criteria": ("The letter names the price that Mr Ode asked for.",)},
        ("checklist", 1),
    ),
    Case(
        "criterion-truncated",
        {"criteria": ("The script states that the global size of the market.",)},
        {"criteria": ("The script states that the market grows.",)},
        ("checklist", 1),
        "states that the global size of the market.",
    ),
    Case(
        "criterion-unsupported",
        {"criteria": ("The letter has the reference 4477812.",)},
        {"request": "Their reference is 4477812.", "criteria": ("The letter has the reference 4477812.",)},
        ("checklist", 1),
        "4477812",
    ),
    Case(
        "criterion-unsupported",
        {"criteria": ("The letter has at most 450 words.",)},
        {"criteria": ("The letter has at most 450 words.",), "intents": ("No letter is longer than 450 words.",)},
        ("checklist", 1),
        "at most 450 words",
    ),
    Case(
        "criterion-repeats-key",
        {
            "criteria": ("No message is longer than 160 characters.",),
            "grader_script": "data/Pilot/scripts/t.py",
            "metadata": {"grader_keys": {"short": {"says": "No message is longer than 160 characters."}}},
        },
        {
            "criteria": ("No message names a price.",),
            "grader_script": "data/Pilot/scripts/t.py",
            "metadata": {"grader_keys": {"short": {"says": "No message is longer than 160 characters."}}},
        },
        ("checklist", 1),
    ),
    Case(
        "criterion-vague",
        {"criteria": ("Complaints were taken seriously.",)},
        {"criteria": ("Each complaint has a line in the log, with the day it was answered.",)},
        ("checklist", 1),
        "taken seriously",
    ),
    Case(
        "criterion-vague",
        {"criteria": ("The letter is professional and well written.",)},
        {"criteria": ("The letter is professional: full names, no first person, the sum in words.",)},
        ("checklist", 1),
        "professional",
    ),
    Case(
        "duplicate-criterion",
        {"criteria": ("The letter names the price.", "The price is named in the letter.")},
        {"criteria": ("The letter names the price.", "The price is not named in the letter's title.")},
        ("checklist", 2),
    ),
    Case(
        "evidence-unshown",
        {"criteria": (ChecklistItem(uid="c", criterion="The plan has a date.", evidence=("plan.md",)),)},
        {
            "criteria": (ChecklistItem(uid="c", criterion="The plan has a date.", evidence=("plan.md",)),),
            "files_read": ("plan.md",),
            "expected_artifacts": ("plan.md",),
        },
        ("checklist", 1),
    ),
)
