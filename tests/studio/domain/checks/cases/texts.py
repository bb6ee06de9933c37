"""Cases of rules about any authored text: characters, personal data, dates, names, contradictions."""

from __future__ import annotations

from studio.domain.task import ExpectedArtifact
from tests.studio.domain.checks.cases.case import Case, artifact

TEXTS_CASES: tuple[Case, ...] = (
    Case(
        "escaped-text",
        {"intents": (r"He said \"no\" to both.",)},
        {"intents": ('He said "no" to both; the path is C:\\notes.',)},
        ("intents", 1),
    ),
    Case(
        "escaped-text",
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note=r"The \"short\" list."),)},
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="The short list."),)},
        ("expected_artifacts", 1),
    ),
    Case(
        "broken-text",
        {"intents": ("Signed \u202eeiraM",)},
        {"intents": ("Signed Marie 👩‍⚕️, الممرضة",)},
        ("intents", 1),
        "\u202e",
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
        has_fix=False,
    ),
    Case(
        "personal-data",
        {"request": "Pay it with card 4539 1488 0343 6467, please."},
        {"request": "The order is 4539 1488 0343 6460, please."},
        ("initial_request", None),
        "4539 1488 0343 6467",
    ),
    Case(
        "personal-data",
        {"expected_artifacts": ("notes.md", artifact("plan.md", f"{1:064x}"))},
        {"expected_artifacts": ("notes.md", artifact("plan.md", "another"))},
        ("expected_artifacts", 2),
        "plan.md",
        texts={"plan.md": "Pay to GB82 WEST 1234 5698 7654 32."},
    ),
    Case(
        "personal-data",
        {"request": "Please look at keys.md.", "files": ("keys.md",)},
        {"request": "Please look at keys.md and the log.", "files": ("log.md",), "files_read": ("keys.md",)},
        ("assets", 1),
        "keys.md",
        texts={
            "keys.md": "API key: 9fK2xQ7vLw3ZtR8mB5nY1cHd",
            "log.md": "api_key: your-key-goes-in-here-please, secret = aaaaaaaaaaaaaaaaaaaaaaaa1",
        },
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
        "address-real",
        {"request": "Write to orla.b@outlook.com, please."},
        {"request": "Write to orla.b@kestrel.example, please."},
        ("initial_request", None),
        "orla.b@outlook.com",
    ),
    Case(
        "address-real",
        {"request": "Write to help@agency.gov.uk, please."},
        {"request": "Write to help@agency.example, please."},
        ("initial_request", None),
        "help@agency.gov.uk",
    ),
    Case(
        "to-fill-in",
        {"request": "Make a table of <insert what it lists>."},
        {"request": "Make a table of <b>boats</b>."},
        ("initial_request", None),
        "<insert what it lists>",
    ),
    Case(
        "placeholder",
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="TODO: say what stands in it."),)},
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="What is to do on each day."),)},
        ("expected_artifacts", 1),
        "TODO",
    ),
    Case(
        "contradiction",
        {"request": "Invite the choir in at most 120 words.", "intents": ("The invitation has at least 200 words.",)},
        {"request": "Invite the choir in at most 120 words.", "intents": ("The invitation has at most 80 words.",)},
        ("intents", 1),
        "at least 200 words",
    ),
    Case(
        "contradiction",
        {
            "intents": ("The volunteers are asked to answer before 5:00 tomorrow.",),
            "criteria": ("The volunteers are asked to answer before 6:00 tomorrow.",),
        },
        {
            "intents": ("The volunteers are asked to answer before 5:00 tomorrow.",),
            "criteria": ("The letter asks the caretaker to open the doors before 6:00.",),
        },
        ("checklist", 1),
        "6:00",
    ),
    Case(
        "contradiction",
        {
            "request": "See notes.md.",
            "intents": ("The fridge alarm sounds at 9 degrees in the cellar.",),
            "files": ("notes.md",),
        },
        {
            "request": "See notes.md.",
            "intents": ("The fridge alarm sounds at 8 degrees in the cellar.",),
            "files": ("notes.md",),
        },
        ("intents", 1),
        "9",
        texts={"notes.md": "Leif was here. The fridge alarm sounds at 8 degrees in the cellar. Call him."},
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
        "date-weekday",
        {"request": "The hearing is on Monday, 16 April 2027."},
        {"request": "The hearing is on Friday, 16 April 2027."},
        ("initial_request", None),
        "Monday, 16 April 2027",
    ),
    Case(
        "name-spelt-twice",
        {"request": "Write to Josie Quennell, please.", "criteria": ("The letter opens with “Dear Josie Quennel”",)},
        {"request": "Write to Josie Quennell, please.", "criteria": ("The letter is for Marta Quist.",)},
        ("checklist", 1),
        "Josie Quennel",
    ),
)
