"""For each rule that reads what people wrote: the smallest task that breaks it, and one much like it that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.spec.base import FileRef
from studio.spec.episode import EpisodeSpec
from studio.spec.persona import PersonaSpec
from studio.spec.task import ChecklistItem, Dependency, HiddenIntent, Recovery, TaskSpec


@dataclass(frozen=True)
class Case:
    """``flawed`` breaks ``rule`` at ``place`` in task ``t``; ``sound`` shares its words and does not."""

    rule: str
    flawed: dict[str, Any]
    sound: dict[str, Any]
    place: tuple[str, int | None]
    words: str | None = None
    """What the finding is about, where it is worth saying."""
    before: tuple[dict[str, Any], ...] = ()
    """Earlier tasks ``a``, ``b``, …"""
    other: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    """Contents of the files, by path."""


def build(case: Case, own: dict[str, Any]) -> tuple[EpisodeSpec, dict[str, str]]:
    """The episode, and the contents of its files by sha256."""
    shas = {path: f"{number:064x}" for number, path in enumerate(case.texts, 1)}
    tasks = [_task(name, parts, shas) for name, parts in zip("abcdefgh", case.before, strict=False)]
    tasks.append(_task("t", own, shas))
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=tuple(tasks))
    return episode, {shas[path]: text for path, text in case.texts.items()}


def _task(task_id: str, parts: dict[str, Any], shas: dict[str, str]) -> TaskSpec:
    parts = {"title": f"Title {task_id}", "request": "Please help.", "intents": ("Metric units",)} | parts
    return TaskSpec(
        task_id=task_id,
        initial_request=parts["request"],
        intents=tuple(
            intent if isinstance(intent, HiddenIntent) else HiddenIntent(uid=f"{task_id}-i{number}", content=intent)
            for number, intent in enumerate(parts["intents"])
        ),
        checklist=tuple(
            item if isinstance(item, ChecklistItem) else ChecklistItem(uid=f"{task_id}-c{number}", criterion=item)
            for number, item in enumerate(parts.get("criteria", ()))
        ),
        depends_on=tuple(Dependency(task_id=other) for other in parts.get("depends_on", ())),
        assets=tuple(FileRef(path=path, sha256=shas[path], size=1) for path in parts.get("files", ())),
        **{name: parts[name] for name in ("title", "files_read", "expected_artifacts") if name in parts},
    )


WRITTEN: tuple[Case, ...] = (
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
        "criterion-not-atomic",
        {"criteria": ("The letter names the price, and it says when the offer ends.",)},
        {"criteria": ("The letter names the price that was agreed with Mr Ode and Sons.",)},
        ("checklist", 1),
        "and it says when the offer ends.",
    ),
    Case(
        "criterion-should-be-rule",
        {"criteria": ("The subject is exactly “Boiler repair”.",)},
        {"criteria": ("The letter explains why the “Boiler repair” cannot wait.",)},
        ("checklist", 1),
        "Boiler repair",
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
    ),
    Case(
        "undeclared-dependency",
        {"request": "Put tonight's songs on the playlist we updated for the harbour party."},
        {"request": "Put tonight's songs on a playlist for the harbour party."},
        ("initial_request", None),
        "we updated",
        before=(
            {"request": "Update my playlist of harbour party songs, please."},
            {"request": "How tall is the lighthouse?"},
            {"request": "Order new rope for the boat."},
            {"request": "Write to the mayor about the bins."},
        ),
        other="a",
    ),
    Case(
        "undeclared-dependency",
        {"request": "Read the figures in tides.csv and say which week is best."},
        {"request": "Look up the figures and write them into tides.csv."},
        ("initial_request", None),
        "tides.csv",
        before=({"request": "Collect the tide tables, please.", "expected_artifacts": ("tides.csv",)},),
        other="a",
    ),
    Case(
        "undeclared-dependency",
        {"request": "Send the parcel to my new place.", "intents": ("The parcel goes to Harbour Lane Mews.",)},
        {"request": "Send the parcel to Harbour Lane Mews.", "intents": ("The parcel goes to Harbour Lane Mews.",)},
        ("intents", 1),
        "Harbour Lane Mews",
        before=({"request": "I have moved to Harbour Lane Mews. Whom do I have to tell?"},),
        other="a",
    ),
    Case(
        "undeclared-dependency",
        {"intents": ("Every letter closes with the opening hours of the surgery on Saturdays.",)},
        {
            "intents": ("Every letter closes with the opening hours of the surgery on Saturdays.",),
            "depends_on": ("a",),
            "criteria": ("In metres",),
        },
        ("intents", 1),
        before=({"intents": ("Letters always close with the opening hours of the surgery on Saturdays.",)},),
        other="a",
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
        "request-unknown-file",
        {"request": "Please tidy up the list in members.csv."},
        {"request": "Please tidy up the list of members and save it as members.csv."},
        ("initial_request", None),
        "members.csv",
    ),
    Case(
        "files-read-input",
        {"request": "See notes.md.", "files": ("notes.md",), "files_read": ("notes.md",)},
        {
            "request": "See notes.md.",
            "files": ("notes.md",),
            "files_read": ("notes.md",),
            "expected_artifacts": ("notes.md",),
        },
        ("files_read", 1),
        "notes.md",
        texts={"notes.md": "Nothing yet."},
    ),
    Case(
        "title-elsewhere",
        {
            "title": "Harbour party playlist",
            "request": "Which nurse can take the late shift on Tuesday, and who opens on Wednesday?",
        },
        {
            "title": "Late shifts",
            "request": "Which nurse can take the late shift on Tuesday, and who opens on Wednesday?",
        },
        ("title", None),
        before=({"request": "Make a playlist for the harbour party."},),
        other="a",
    ),
    Case(
        "escaped-text",
        {"intents": (r"He said \"no\" to both.",)},
        {"intents": ('He said "no" to both; the path is C:\\notes.',)},
        ("intents", 1),
    ),
    Case(
        "personal-data",
        {"request": "Pay it with card 4539 1488 0343 6467, please."},
        {"request": "The order is 4539 1488 0343 6460, please."},
        ("initial_request", None),
        "4539 1488 0343 6467",
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
        "date-weekday",
        {"request": "The hearing is on Monday, 16 April 2027."},
        {"request": "The hearing is on Friday, 16 April 2027."},
        ("initial_request", None),
        "Monday, 16 April 2027",
    ),
    Case(
        "dates-disagree",
        {"intents": ("The fair ends on 3 May 2028.",), "depends_on": ("a",), "criteria": ("In metres",)},
        {"intents": ("The fair ends on 3 May 2027.",), "depends_on": ("a",), "criteria": ("In metres",)},
        ("intents", 1),
        "3 May 2028",
        before=({"intents": ("The fair opens on 1 May 2027.",)},),
        other="a",
    ),
    Case(
        "criterion-unsupported",
        {"criteria": ("The letter has the reference 4477812.",)},
        {"request": "Their reference is 4477812.", "criteria": ("The letter has the reference 4477812.",)},
        ("checklist", 1),
        "4477812",
    ),
    Case(
        "output-unread",
        {"request": "Write the plan into plan.md.", "criteria": ("The plan has a date.",)},
        {"request": "Write the plan into plan.md.", "criteria": ("The plan has a date.",), "files_read": ("plan.md",)},
        ("initial_request", None),
        "plan.md",
    ),
)
