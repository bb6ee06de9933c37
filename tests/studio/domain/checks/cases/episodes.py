"""Cases of rules that compare a task with others of its episode."""

from __future__ import annotations

from tests.studio.domain.checks.cases.case import Case

EPISODES_CASES: tuple[Case, ...] = (
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
        "dates-disagree",
        {"intents": ("The fair ends on 3 May 2028.",), "depends_on": ("a",), "criteria": ("In metres",)},
        {"intents": ("The fair ends on 3 May 2027.",), "depends_on": ("a",), "criteria": ("In metres",)},
        ("intents", 1),
        "3 May 2028",
        before=({"intents": ("The fair opens on 1 May 2027.",)},),
        other="a",
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
        "dates-disagree",
        {"intents": ("The harbour fair opens on 3 May with the brass band.",)},
        {"intents": ("The harbour fair closes on 3 May with the fireworks.",)},
        ("intents", 1),
        "3 May",
        before=({"intents": ("The harbour fair opens on 1 May with the brass band.",)},),
        other="a",
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
        "empty-title",
        {"title": "Untitled 2"},
        {"title": "Tests of the water"},
        ("title", None),
    ),
)
