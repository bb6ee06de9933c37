"""For each rule that reads what people wrote: the smallest task that breaks it, and one much like it that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.domain.base import Content, FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExpectedArtifact,
    HiddenIntent,
    Recovery,
    RecoveryKind,
    Scope,
    TaskSpec,
)


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
    persona: dict[str, Any] = field(default_factory=dict)
    """What the persona has besides its name; ``skills`` are texts by name."""
    tools: dict[str, str] = field(default_factory=dict)
    """What agents are told of tools."""


def build(case: Case, own: dict[str, Any]) -> tuple[EpisodeSpec, dict[str, str]]:
    """The episode, and the contents of its files by sha256."""
    shas = {path: f"{number:064x}" for number, path in enumerate(case.texts, 1)}
    tasks = [_task(name, parts, shas) for name, parts in zip("abcdefgh", case.before, strict=False)]
    tasks.append(_task("t", own, shas))
    skills = {f"{number:064x}": pair for number, pair in enumerate(case.persona.get("skills", {}).items(), 1_000)}
    persona = PersonaSpec(
        user_id="Pilot",
        skills=tuple(
            Skill(name=name, files=(FileRef(path="SKILL.md", sha256=sha, size=1),)) for sha, (name, _) in skills.items()
        ),
        **{name: value for name, value in case.persona.items() if name != "skills"},
    )
    texts = {shas[path]: text for path, text in case.texts.items()} | {sha: text for sha, (_, text) in skills.items()}
    return EpisodeSpec(episode_id="ep", persona=persona, tasks=tuple(tasks)), texts


def _task(task_id: str, parts: dict[str, Any], shas: dict[str, str]) -> TaskSpec:
    parts = {"title": f"Title {task_id}", "request": "Please plan the week.", "intents": ("Metric units",)} | parts
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
        **{
            name: parts[name]
            for name in ("title", "files_read", "expected_artifacts", "metadata", "grader_script")
            if name in parts
        },
    )


def _artifact(path: str, sha256: str) -> ExpectedArtifact:
    return ExpectedArtifact(path=path, reference=Content(sha256=sha256, size=1))


def _from(kind: RecoveryKind, ref: str, content: str, scope: Scope = "session_local") -> HiddenIntent:
    return HiddenIntent(uid=content, content=content, scope=scope, recoverable_from=(Recovery(kind=kind, ref=ref),))


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
    Case(
        "title-elsewhere",
        {
            "title": "Regatta crisis letter",
            "request": "After the regatta crisis week I need rest. Book the sauna on Sunday. Pack my bag. "
            "Plan the walk there. Buy bread. Tell me the times. Find a quiet room. Look up the bus. Write it all down.",
            "intents": ("The room has no window to the road.", "No coffee after four."),
            "criteria": ("The bus leaves before nine.", "The bag has two towels.", "The walk takes an hour at most."),
        },
        {
            "title": "Sunday in the sauna",
            "request": "After the regatta crisis week I need rest. Book the sauna on Sunday. Pack my bag.",
            "intents": ("The room has no window to the road.", "No coffee after four."),
            "criteria": ("The sauna is booked for Sunday.",),
        },
        ("title", None),
        before=(
            {
                "request": "The regatta is a crisis: write a letter to the crews.",
                "intents": ("The letter names the regatta's new day.", "The crisis is called by its name."),
            },
        ),
        other="a",
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
        "recovery-not-there",
        {"intents": (_from("session", "a", "The invoice goes to the harbour master."),)},
        {"intents": (_from("session", "a", "The rota has Wren on Saturday morning."),)},
        ("intents", 1),
        before=({"request": "Plan Saturday's rota: Wren opens in the morning."},),
        other="a",
    ),
    Case(
        "recovery-not-there",
        {"intents": (_from("profile", "", "The invoice goes to the harbour master."),)},
        {"intents": (_from("profile", "", "Figures come with their sums."),)},
        ("intents", 1),
        persona={"role_text": "She wants figures that add up, and their sums below."},
    ),
    Case(
        "persistent-not-earlier",
        {"intents": (_from("question", "", "Invoices are never sent on a Friday.", "persistent"),)},
        {"intents": (_from("profile", "", "Invoices are never sent on a Friday.", "persistent"),)},
        ("intents", 1),
        persona={"role_text": "No invoices on a Friday: nobody is there to answer."},
    ),
    Case(
        "intent-unrecoverable",
        {"intents": (_from("question", "", "The hall is warm by eight."), "The chairs stand in a circle.")},
        {"intents": ("The hall is warm by eight.", "The chairs stand in a circle.")},
        ("intents", 2),
    ),
    Case(
        "name-spelt-twice",
        {"request": "Write to Josie Quennell, please.", "criteria": ("The letter opens with “Dear Josie Quennel”",)},
        {"request": "Write to Josie Quennell, please.", "criteria": ("The letter is for Marta Quist.",)},
        ("checklist", 1),
        "Josie Quennel",
    ),
    Case(
        "asset-unused",
        {"request": "Plan the week, please.", "files": ("tides.csv",)},
        {"request": "Plan the week by the tides, please.", "files": ("tides.csv",)},
        ("assets", 1),
        "tides.csv",
        texts={"tides.csv": "day,high\nMonday,9:40\n"},
    ),
    Case(
        "dependency-empty",
        {"request": "Order rope for the boat.", "depends_on": ("a",), "criteria": ("Twenty metres of rope.",)},
        {"request": "Answer the mayor about Thursday.", "depends_on": ("a",), "criteria": ("Twenty metres of rope.",)},
        ("depends_on", 1),
        before=(
            {"title": "Bins", "request": "Write to the mayor: Thursday's bins.", "intents": ("Ask for Thursdays",)},
        ),
        other="a",
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
    Case(
        "placeholder",
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="TODO: say what stands in it."),)},
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="What is to do on each day."),)},
        ("expected_artifacts", 1),
        "TODO",
    ),
    Case(
        "escaped-text",
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note=r"The \"short\" list."),)},
        {"expected_artifacts": (ExpectedArtifact(path="plan.md", note="The short list."),)},
        ("expected_artifacts", 1),
    ),
    Case(
        "personal-data",
        {"expected_artifacts": ("notes.md", _artifact("plan.md", f"{1:064x}"))},
        {"expected_artifacts": ("notes.md", _artifact("plan.md", "another"))},
        ("expected_artifacts", 2),
        "plan.md",
        texts={"plan.md": "Pay to GB82 WEST 1234 5698 7654 32."},
    ),
    Case(
        "reference-unread",
        {"expected_artifacts": (_artifact("plan.md", "a"),), "criteria": ("The reply names a day.",)},
        {"expected_artifacts": (_artifact("plan.md", "a"),), "criteria": ("The first line of plan.md names a day.",)},
        ("expected_artifacts", 1),
        "plan.md",
    ),
    Case(
        "reference-unread",
        {"expected_artifacts": ("notes.md", _artifact("out/plan.md", "a")), "files_read": ("out/plan.md",)},
        {
            "expected_artifacts": ("notes.md", _artifact("out/plan.md", "a")),
            "files_read": ("out/plan.md",),
            "criteria": ("A day is named.",),
        },
        ("expected_artifacts", 2),
        "out/plan.md",
    ),
    Case(
        "reference-is-input",
        {"files": ("fees.md",), "expected_artifacts": (_artifact("plan.md", f"{1:064x}"),)},
        {"files": ("fees.md",), "expected_artifacts": (_artifact("plan.md", "another"),)},
        ("expected_artifacts", 1),
        "plan.md",
        texts={"fees.md": "The fee is twelve crowns."},
    ),
    Case(
        "reference-is-input",
        {"expected_artifacts": (_artifact("plan.md", f"{1:064x}"),)},
        {"expected_artifacts": ("plan.md",)},
        ("expected_artifacts", 1),
        before=({"files": ("fees.md",)},),
        other="a",
        texts={"fees.md": "The fee is twelve crowns."},
    ),
    Case(
        "artifact-is-input",
        {"files": ("log.csv",), "expected_artifacts": ("plan.md", "log.csv")},
        {
            "files": ("log.csv",),
            "expected_artifacts": ("plan.md", ExpectedArtifact(path="log.csv", note="One more line.")),
        },
        ("expected_artifacts", 2),
        "log.csv",
        texts={"log.csv": "a,b"},
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
        "address-real",
        {"request": "Write to orla.b@outlook.com, please."},
        {"request": "Write to orla.b@kestrel.example, please."},
        ("initial_request", None),
        "orla.b@outlook.com",
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
        "broken-text",
        {"intents": ("Signed \u202eeiraM",)},
        {"intents": ("Signed Marie 👩‍⚕️, الممرضة",)},
        ("intents", 1),
        "\u202e",
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
        "dates-disagree",
        {
            "criteria": ("The letter says that the harbour fair opens on 3 May.",),
            "depends_on": ("a",),
        },
        {"criteria": ("The letter says that the harbour fair closes on 3 May.",), "depends_on": ("a",)},
        ("checklist", 1),
        "3 May",
        before=({"intents": ("The letter says that the harbour fair opens on 1 May.",)},),
        other="a",
    ),
    Case(
        "asset-overwrites",
        {"request": "See plan.md.", "files": ("plan.md",)},
        {"request": "See other.md.", "files": ("other.md",)},
        ("assets", 1),
        "plan.md",
        before=({"request": "Write plan.md, please.", "files_read": ("plan.md",)},),
        other="a",
        texts={"plan.md": "One.", "other.md": "Two."},
    ),
    Case(
        "recovery-unknown",
        {"intents": (_from("tool", "todoist__list", "The list has four entries."),)},
        {"intents": (_from("tool", "gmail", "The list has four entries."),)},
        ("intents", 1),
        persona={"tools": ("gmail__create_draft",)},
    ),
)
