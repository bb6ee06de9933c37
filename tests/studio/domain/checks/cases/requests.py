"""Cases of rules about the request."""

from __future__ import annotations

from tests.studio.domain.checks.cases.case import WORKSPACE, Case

REQUESTS_CASES: tuple[Case, ...] = (
    Case(
        "intent-in-request",
        {
            "request": "Invite the choir. Keep it under 120 words, please.",
            "intents": ("The invitation is under 120 words.",),
        },
        {
            "request": "Invite the choir. Keep it under 120 words, please.",
            "intents": ("Members over seventy get it by post.",),
        },
        ("intents", 1),
        "The invitation is under 120 words.",
    ),
    Case(
        "intent-in-request",
        {
            "request": "Tell the volunteers about Saturday, and send it today rather than tomorrow.",
            "intents": ("A", "Send it today; say in it that the gate at the back is closed."),
        },
        {
            "request": "Tell the volunteers about Saturday, and send it today rather than tomorrow.",
            "intents": ("A", "The volunteers are told that the gate at the back is closed."),
        },
        ("intents", 2),
    ),
    Case(
        "request-tells-all",
        {
            "request": "Invite the choir under 120 words, no pictures please.",
            "intents": ("The invitation is under 120 words.", "The invitation to the choir has no pictures in it."),
        },
        {
            "request": "Invite the choir under 120 words, no pictures please.",
            "intents": ("The invitation is under 120 words.", "Members over seventy get it by post."),
        },
        ("initial_request", None),
    ),
    Case(
        "request-benchmark-words",
        {"request": "The agent should proactively plan my week."},
        {"request": "Ask my letting agent to plan the visit this week."},
        ("initial_request", None),
    ),
    Case(
        "request-benchmark-words",
        {"request": "Write the reminders and make sure that all edge cases are covered."},
        {"request": "Write the reminders and make sure that all clients are covered."},
        ("initial_request", None),
    ),
    Case(
        "request-unknown-file",
        {"request": "Please tidy up the list in members.csv."},
        {"request": "Please tidy up the list of members and save it as members.csv."},
        ("initial_request", None),
        "members.csv",
    ),
    Case(
        "request-no-goal",
        {"request": "Long day at the harbour. The pumps were loud and the crew was tired."},
        {"request": "Long day at the harbour. Plan tomorrow's crew for the pumps."},
        ("initial_request", None),
    ),
    Case(
        "request-no-goal",
        {"request": "Good morning."},
        {"request": "Good morning. Which crew is on the pumps?"},
        ("initial_request", None),
        "Good morning.",
    ),
    Case(
        "request-no-goal",
        {"request": "Can you sort out the music thing?"},
        {"request": "Can you sort out the music return for February?"},
        ("initial_request", None),
        "the music thing",
    ),
    Case(
        "request-like-a-prompt",
        {"request": "You are a helpful assistant. Plan the crews for the pumps."},
        {"request": "You are a great help, as always. Plan the crews for the pumps."},
        ("initial_request", None),
        "You are a helpful assistant",
    ),
    Case(
        "request-unknown-app",
        {"request": "Put the crews into Todoist, please."},
        {"request": "Put the crews into Gmail as a draft; Todoist users get nothing.", "title": "Crews"},
        ("initial_request", None),
        "into Todoist",
        persona={"tools": ("gmail__create_draft",)},
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
        "session-weekday",
        {"request": "Today is Friday, so write to the crew before the weekend."},
        {"request": "Today is Monday, so write to the crew before the week begins. Tomorrow after Friday is no day."},
        ("initial_request", None),
        "Today is Friday",
    ),
    Case(
        "session-weekday",
        {"request": "The ferry leaves tomorrow (Friday)."},
        {"request": "The ferry leaves tomorrow (Tuesday)."},
        ("initial_request", None),
        "tomorrow (Friday",
    ),
    Case(
        "web-missing",
        {"request": "Please conduct an internet search on harbour fees of 2026."},
        {"request": "Please conduct a search in project_online.md on harbour fees. Do not search the web."},
        ("initial_request", None),
        "internet search",
    ),
    Case(
        "web-missing",
        {"request": "Research the two brands independently via the internet."},
        {"request": "Research the two brands in brands.md, and mail what you find."},
        ("initial_request", None),
    ),
)
