"""What a request takes for granted and what every agent is told: the smallest tasks, as in ``written``."""

from __future__ import annotations

from tests.studio.spec.checks.written import Case

WORKSPACE = {"tools": ("read_file", "write_file")}

REACHING: tuple[Case, ...] = (
    Case(
        "intent-in-tool",
        {"intents": ("Drafts to owners are always sent from the reception account.",)},
        {"intents": ("Drafts to owners name the price of the next visit.",)},
        ("intents", 1),
        persona={"tools": ("gmail__send_draft",)},
        tools={"gmail__send_draft": "Send a draft. Drafts to owners are always sent from the reception account."},
    ),
    Case(
        "request-unknown-record",
        {"request": "Look up order 20417 and tell the customer when it comes."},
        {"request": "Our order number is 20417. Write to the supplier and ask when it comes."},
        ("initial_request", None),
        "20417",
        persona=WORKSPACE,
    ),
    Case(
        "request-unknown-record",
        {"request": "Answer the e-mail with the subject “Boiler, again”."},
        {"request": "Write an e-mail with the subject “Boiler, again”."},
        ("initial_request", None),
        "Boiler, again",
        persona=WORKSPACE,
    ),
    Case(
        "request-unknown-record",
        {"request": "Open invoice INV-2043, please.", "files": ("other.csv",)},
        {"request": "Open invoice INV-2043, please.", "files": ("invoices.csv",)},
        ("initial_request", None),
        "INV-2043",
        texts={"other.csv": "number\nINV-2044\n", "invoices.csv": "number\nINV-2043\n"},
        persona=WORKSPACE,
    ),
    Case(
        "request-unknown-place",
        {"request": "Check my inbox and tell me what is urgent."},
        {"request": "Check my inbox and tell me what is urgent.", "files": ("inbox.md",)},
        ("initial_request", None),
        "Check my inbox",
        texts={"inbox.md": "Ines: call me."},
        persona=WORKSPACE,
    ),
    Case(
        "request-unknown-deed",
        {"request": "Write the estimate, then email it to Mr Achterberg."},
        {"request": "Write an e-mail to Mr Achterberg; I send it myself."},
        ("initial_request", None),
        persona=WORKSPACE,
    ),
    Case(
        "personal-data",
        {"request": "Call Mrs Adler on +44 20 7183 8750 and write a note of it."},
        {"request": "Call Mrs Adler on +44 20 7946 0123 and write a note of it."},
        ("initial_request", None),
        "+44 20 7183 8750",
    ),
    Case(
        "personal-data",
        {"request": "Her passport number is 533401372; put it into the form."},
        {"request": "Her number in the race is 533401372; put it into the form."},
        ("initial_request", None),
        "533401372",
    ),
    Case(
        "secret-in-request",
        {"intents": ("The door code is 4471 until Sunday.",)},
        {"intents": ("The password is on a card in the drawer.",)},
        ("intents", 1),
    ),
    Case(
        "broken-text",
        {"intents": ("The pri\u200bce is left out.",)},
        {"intents": ("می\u200cخواهم: the price is left out.",)},
        ("intents", 1),
        "\u200b",
    ),
    Case(
        "broken-text",
        {"intents": ("The pr\u0456ce is left out.",)},
        {"intents": ("Цена, the price, is left out.",)},
        ("intents", 1),
        "pr\u0456ce",
    ),
    Case(
        "address-real",
        {"request": "Write to help@agency.gov.uk, please."},
        {"request": "Write to help@agency.example, please."},
        ("initial_request", None),
        "help@agency.gov.uk",
    ),
    Case(
        "duplicate-criterion",
        {"criteria": ("The letter names the price.", "The price is named in the letter.")},
        {"criteria": ("The letter names the price.", "The price is not named in the letter's title.")},
        ("checklist", 2),
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
        "criterion-unsupported",
        {"criteria": ("The letter has at most 450 words.",)},
        {"criteria": ("The letter has at most 450 words.",), "intents": ("No letter is longer than 450 words.",)},
        ("checklist", 1),
        "at most 450 words",
    ),
    Case(
        "asset-overwrites",
        {"request": "Write plan.md, please.", "expected_artifacts": ("plan.md",)},
        {"request": "Write plan.md, please.", "expected_artifacts": ("plan.md",), "depends_on": ("a",)},
        ("expected_artifacts", 1),
        "plan.md",
        before=({"request": "Write plan.md for the fair.", "files_read": ("plan.md",)},),
        other="a",
    ),
    Case(
        "output-unread",
        {"intents": ("The answer is saved as answer.md.",), "criteria": ("The answer has a date.",)},
        {"intents": ("The answer comes from notes.md.",), "criteria": ("The answer has a date.",)},
        ("intents", 1),
        "answer.md",
    ),
    Case(
        "dates-disagree",
        {"intents": ("The harbour fair opens on 3 May with the brass band.",)},
        {"intents": ("The harbour fair closes on 3 May with the fireworks.",)},
        ("intents", 1),
        "3 May",
        before=({"intents": ("The harbour fair opens on 1 May with the brass band.",)},),
        other="a",
    ),
    Case(
        "contradiction",
        {
            "request": "The meeting is on Friday 14 May in the hall.",
            "intents": ("The meeting is on 15 May in the hall.",),
        },
        {
            "request": "The meeting is on Friday 14 May in the hall.",
            "intents": ("Replies are due by 7 May in the hall.",),
        },
        ("intents", 1),
        "15 May",
    ),
    Case(
        "contradiction",
        {
            "request": "The speaker is Dr Lena Marsh.",
            "intents": ("The programme names Dr Paula Marsh as the speaker.",),
        },
        {
            "request": "The speaker is Dr Lena Marsh.",
            "intents": ("The programme thanks Dr Paula Reed for the flowers.",),
        },
        ("intents", 1),
        "Dr Paula Marsh",
    ),
    Case(
        "contradiction",
        {
            "intents": ("No message is longer than 120 characters.",),
            "grader_script": "data/Pilot/scripts/t.py",
            "metadata": {"grader_keys": {"short": {"says": "Each message has at least 160 characters."}}},
        },
        {
            "intents": ("No message is longer than 120 characters.",),
            "grader_script": "data/Pilot/scripts/t.py",
            "metadata": {"grader_keys": {"short": {"says": "Each message has at most 120 characters."}}},
        },
        ("grader_script", None),
    ),
    Case(
        "empty-title",
        {"title": "Untitled 2"},
        {"title": "Tests of the water"},
        ("title", None),
    ),
)
