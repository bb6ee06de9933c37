"""Cases of rules about hidden intents and their sources."""

from __future__ import annotations

from studio.domain.task import ChecklistItem, HiddenIntent, Recovery
from tests.studio.domain.checks.cases.case import Case, recoverable_intent

INTENTS_CASES: tuple[Case, ...] = (
    Case(
        "intent-bundled",
        {"intents": ("The letter names the price, and it says when the offer ends.",)},
        {"intents": ("The letter goes to Mr Ode and Sons.",)},
        ("intents", 1),
    ),
    Case(
        "intent-vague",
        {"intents": ("The report should be professional and useful.",)},
        {"intents": ("The report should be professional: numbered headings, no first person, sources in brackets.",)},
        ("intents", 1),
        "professional",
    ),
    Case(
        "intent-unscored",
        {
            "intents": (HiddenIntent(uid="one", content="In metres"), HiddenIntent(uid="two", content="No jargon")),
            "criteria": (ChecklistItem(uid="c", criterion="All lengths are in metres.", follows_from=("one",)),),
        },
        {
            "intents": (HiddenIntent(uid="one", content="In metres"), HiddenIntent(uid="two", content="No jargon")),
            "criteria": (ChecklistItem(uid="c", criterion="All lengths are in metres."),),
        },
        ("intents", 2),
    ),
    Case(
        "intent-in-file",
        {"intents": ("Vaccines outside the range go into quarantine in the red tray.",), "files": ("notes.md",)},
        {
            "intents": (
                HiddenIntent(
                    uid="i",
                    content="Vaccines outside the range go into quarantine in the red tray.",
                    recoverable_from=(Recovery(kind="file", ref="notes.md"),),
                ),
            ),
            "files": ("notes.md",),
        },
        ("intents", 1),
        texts={"notes.md": "Leif says: vaccines outside the range go into quarantine, in the red tray. Call him."},
    ),
    Case(
        "intent-in-title",
        {
            "title": "Letter with the Sunday opening hours",
            "intents": ("The letter ends with our Sunday opening hours.",),
        },
        {
            "title": "Letter: reply to Mr Ode",
            "intents": ("The letter ends with our Sunday opening hours.",),
        },
        ("intents", 1),
    ),
    Case(
        "intent-in-skill",
        {"intents": ("Letters to owners are signed with the full name of the vet.",)},
        {"intents": ("Letters to owners close with the price of the next visit.",)},
        ("intents", 1),
        persona={
            "skills": {
                "letters": "---\ndescription: Letters to owners are signed with the full name of the vet.\n---\n"
                "Letters to owners close with the price of the next visit."
            }
        },
    ),
    Case(
        "intent-in-tool",
        {"intents": ("Drafts to owners are always sent from the reception account.",)},
        {"intents": ("Drafts to owners name the price of the next visit.",)},
        ("intents", 1),
        persona={"tools": ("gmail__send_draft",)},
        tools={"gmail__send_draft": "Send a draft. Drafts to owners are always sent from the reception account."},
    ),
    Case(
        "intent-unrecoverable",
        {
            "intents": (
                recoverable_intent("question", "", "The hall is warm by eight."),
                "The chairs stand in a circle.",
            )
        },
        {"intents": ("The hall is warm by eight.", "The chairs stand in a circle.")},
        ("intents", 2),
    ),
    Case(
        "intent-from-nowhere",
        {"intents": ("As agreed last year, estimates carry the blue stamp.",)},
        {"intents": ("As agreed last week, the plan is in Metric units.",)},
        ("intents", 1),
        "As agreed",
        before=({"request": "Make the plan, please."},),
    ),
    Case(
        "recovery-not-there",
        {"intents": (recoverable_intent("session", "a", "The invoice goes to the harbour master."),)},
        {"intents": (recoverable_intent("session", "a", "The rota has Wren on Saturday morning."),)},
        ("intents", 1),
        before=({"request": "Plan Saturday's rota: Wren opens in the morning."},),
        other="a",
    ),
    Case(
        "recovery-not-there",
        {"intents": (recoverable_intent("profile", "", "The invoice goes to the harbour master."),)},
        {"intents": (recoverable_intent("profile", "", "Figures come with their sums."),)},
        ("intents", 1),
        persona={"role_text": "She wants figures that add up, and their sums below."},
    ),
    Case(
        "recovery-unknown",
        {"intents": (recoverable_intent("tool", "todoist__list", "The list has four entries."),)},
        {"intents": (recoverable_intent("tool", "gmail", "The list has four entries."),)},
        ("intents", 1),
        persona={"tools": ("gmail__create_draft",)},
    ),
    Case(
        "persistent-not-earlier",
        {"intents": (recoverable_intent("question", "", "Invoices are never sent on a Friday.", "persistent"),)},
        {"intents": (recoverable_intent("profile", "", "Invoices are never sent on a Friday.", "persistent"),)},
        ("intents", 1),
        persona={"role_text": "No invoices on a Friday: nobody is there to answer."},
    ),
)
