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
)
