"""Every rule check of the published personas can be earned by calls of the tools they bind.

The graders here are written from the words of ``rule_checks.json``. Where such a check takes one of several phrases,
these ask for all the phrases that it names, so they are no easier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.protocol.history import APP_PREFIX, tools_history
from evaluation.protocol.participants import ToolRecord
from evaluation.tools import Toolbox, Workspace, World, toolbox_for
from tests.evaluation.tools.apps.real_personas import (
    EMAIL,
    checks_of,
    criteria_of,
    intents_of,
    law_trainee_data,
    marketer_data,
    numbers,
    quoted,
)


class Desk:
    """An agent's tools in a persona's world; ``history`` is what its calls leave for graders."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.bound = tuple(yaml.safe_load((folder / "tools.yaml").read_text())["tool_names"])
        self.data = (law_trainee_data if folder.name == "law_trainee" else marketer_data)(folder)
        self.world = World.from_data(self.data)
        self.toolbox: Toolbox = toolbox_for(
            Workspace(workspace), [APP_PREFIX + name for name in self.bound], self.world
        )
        self.records: list[ToolRecord] = []
        self.tokens: dict[str, str] = {}

    def call(self, name: str, /, **arguments: Any) -> Any:
        """As an app's user, logged in. Fails the test if the app refuses."""
        app = name.partition("__")[0]
        if app not in self.tokens:
            me = self.data[app]["accounts"][0]
            login = {"username": me["username"], "password": me["password"]}
            self.tokens[app] = self._call(f"{APP_PREFIX}{app}__login", login)["access_token"]
        return self._call(APP_PREFIX + name, {**arguments, "access_token": self.tokens[app]})

    def _call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        record = self.toolbox.call(name, json.dumps(arguments))
        assert record.ok, record.result
        self.records.append(record)
        return json.loads(record.result)["response"]

    def files(self, name: str, /, **arguments: Any) -> ToolRecord:
        record = self.toolbox.call(name, json.dumps(arguments))
        self.records.append(record)
        return record


class History:
    def __init__(self, records: list[ToolRecord]) -> None:
        self.calls = tools_history(records)

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [call for call in self.calls if call["tool_name"].removeprefix(APP_PREFIX) in names]

    def given(self, field: str, *names: str) -> list[Any]:
        return [call["call"][field] for call in self.of(*names) if call["call"].get(field)]

    def returned(self, field: str, *names: str) -> list[Any]:
        return [call["result"]["response"][field] for call in self.of(*names)]

    @property
    def notes(self) -> str:
        return "\n".join(self.given("content", "simple_note__create_note", "simple_note__update_note")).lower()

    @property
    def bodies(self) -> str:
        return "\n".join(self.given("body", "gmail__send_email", "gmail__create_draft")).lower()

    @property
    def work(self) -> str:
        """The tasks in the project that was created last."""
        [*_, project] = self.returned("project_id", "todoist__create_project")
        tasks = [call["call"] for call in self.of("todoist__create_task") if call["call"].get("project_id") == project]
        return "\n".join(f"{task['title']} {task.get('description', '')}" for task in tasks).lower()

    def cleaned_up(self) -> bool:
        deleted = self.given("project_id", "todoist__delete_project")
        return deleted[-1:] == self.returned("project_id", "todoist__create_project")[-1:] != []


Grader = Callable[[History, str], bool]
"""From the history and the words of the check."""


def all_quoted_in(part: Callable[[History], str], *more: str) -> Grader:
    return lambda history, check: all(word.lower() in part(history) for word in (*quoted(check), *more))


def last_is_quoted(field: str, name: str) -> Grader:
    return lambda history, check: history.given(field, name)[-1:] == quoted(check)[:1] != []


def sent_to_named(history: History, check: str) -> bool:
    [*_, addresses] = history.given("email_addresses", "gmail__send_email")
    return EMAIL.findall(check)[0] in addresses


def triage(history: History, check: str) -> bool:
    labels = history.of("gmail__label_thread")
    threads = [
        history.given("email_thread_id", name)[-1]
        for name in ("gmail__label_thread", "gmail__mark_thread_unread", "gmail__mark_thread_read")
    ]
    sent = history.returned("sent_email_thread_id", "gmail__send_email")
    return labels[-1]["call"]["label"] == quoted(check)[0] and threads == [sent[-1]] * 3


def reminder_cleaned_up(history: History, check: str) -> bool:
    last = history.of("todoist__create_task")[-1]
    text = f"{last['call']['title']} {last['call'].get('description', '')}".lower()
    deleted = history.given("task_id", "todoist__delete_task")
    return all(word in text for word in quoted(check)) and deleted[-1] == last["result"]["response"]["task_id"]


def texts_to(history: History) -> str:
    return "\n".join(history.given("message", "phone__send_text_message")).lower()


def path_given(words: tuple[str, ...], forbidden: tuple[str, ...] = ()) -> Grader:
    def grade(history: History, check: str) -> bool:
        name = next(word for word in check.split() if word.endswith(".md"))
        return any(
            any(word in call["tool_name"] for word in words)
            and not any(word in call["tool_name"] for word in forbidden)
            and call["call"].get("path") == name
            for call in history.calls
        )

    return grade


def adds(field: str) -> Grader:
    def grade(history: History, check: str) -> bool:
        wanted = numbers(check.partition(f"{field} ")[2])
        name = f"{APP_PREFIX}spotify__add_song_to_playlist"
        calls = [call["call"] for call in history.calls if call["tool_name"] == name]
        return any(type(call[field]) is int and call[field] in wanted for call in calls)

    return grade


def notes(history: History) -> str:
    return history.notes


def bodies(history: History) -> str:
    return history.bodies


def work_and_bodies(history: History) -> str:
    return f"{history.work}\n{history.bodies}"


CREATE_PROJECT = last_is_quoted("name", "todoist__create_project")
GRADERS: dict[str, Grader] = {
    "simple_note_created_with_required_title": last_is_quoted("title", "simple_note__create_note"),
    "simple_note_covers_three_missing_items": all_quoted_in(notes),
    "simple_note_explains_why_items_matter": all_quoted_in(notes, "authori", "trace"),
    "email_sent_to_real_recipient": sent_to_named,
    "subject_is_matter_specific_supplement_request": all_quoted_in(
        lambda history: "\n".join(history.given("subject", "gmail__send_email")).lower()
    ),
    "email_presents_three_missing_items": lambda history, check: all(
        any(line.startswith(f"{number}.") for line in history.bodies.splitlines()) for number in (1, 2, 3)
    ),
    "email_mentions_deadline_and_delay_flag": all_quoted_in(bodies, "p.m. tomorrow", "delay"),
    "email_mentions_practical_fallback": all_quoted_in(bodies, "latest draft"),
    "email_sent": lambda history, check: bool(history.of("gmail__send_email")),
    "subject_matches_internal_review_queue": last_is_quoted("subject", "gmail__send_email"),
    "body_states_two_live_items": all_quoted_in(bodies, "two live", "review queue"),
    "body_sets_deadline_and_blocker_flag": all_quoted_in(bodies, "p.m. tomorrow", "blocker"),
    "body_provides_courier_fallback": all_quoted_in(bodies, "waybill", "expected arrival"),
    "body_uses_separated_two_item_structure": lambda history, check: (
        all(any(word in line for line in history.bodies.splitlines()) for word in quoted(check))
        and all(any(line.startswith(mark) for line in history.bodies.splitlines()) for mark in ("1.", "2."))
    ),
    "triage_sequence_completed": triage,
    "todoist_reminder_has_checkpoint_and_cleanup": reminder_cleaned_up,
    "final_note_created_with_required_title": last_is_quoted("title", "simple_note__create_note"),
    "final_note_mentions_partner_review_and_hearing_date": all_quoted_in(notes),
    "final_note_mentions_guaranty_exposure_gap": all_quoted_in(notes),
    "final_note_mentions_bank_flow_and_confirmation_points": all_quoted_in(notes),
    "todoist_project_created": CREATE_PROJECT,
    "temporary_board_or_note_three_required_work_items": lambda history, check: all(
        word in history.work
        for word in ("guaranty", "reconcil", "bank-flow", "exhibit", "preservation", "speaking order")
    ),
    "todoist_cleanup_completed": lambda history, check: history.cleaned_up(),
    "project_created": CREATE_PROJECT,
    "tracking_item_created": lambda history, check: len(history.work.splitlines()) == 1,
    "tracking_item_covers_required_items": all_quoted_in(work_and_bodies),
    "tracking_item_mentions_main_blocker_and_escalation": all_quoted_in(work_and_bodies, "main blocker"),
    "completion_email_sent_to_internal_recipient": sent_to_named,
    "completion_email_subject_matches": last_is_quoted("subject", "gmail__send_email"),
    "completion_email_confirms_cleanup": all_quoted_in(bodies, "temporary board", "cleared"),
    "completion_email_mentions_live_risk": all_quoted_in(bodies),
    "completion_email_mentions_tomorrow_morning_checkpoint": all_quoted_in(bodies),
    "completion_email_requests_delay_flag": all_quoted_in(bodies, "delay"),
    "sms_sent_to_correct_number": last_is_quoted("phone_number", "phone__send_text_message"),
    "sms_mentions_matter": all_quoted_in(texts_to),
    "sms_mentions_handover_slot": all_quoted_in(texts_to),
    "sms_lists_required_materials": all_quoted_in(texts_to, "notarized power of attorney", "two stamped copies"),
    "sms_requests_reply_deadline": all_quoted_in(texts_to),
    "sms_requests_risk_flag": all_quoted_in(texts_to, "location needs to change"),
    "sms_is_scan_friendly": lambda history, check: (
        len(history.of("phone__send_text_message")) == 1 and "\n" in texts_to(history)
    ),
    "todoist_temp_project_created": CREATE_PROJECT,
    "selected_playlist_correct": adds("playlist_id"),
    "added_whispers_of_the_soul": adds("song_id"),
    "added_a_love_that_never_was": adds("song_id"),
    "added_twisted_paths": adds("song_id"),
    "read_enterprise_ai_bootcamp_strategy": path_given(("read", "file")),
    "read_community_launch_rulebook": path_given(("read", "file")),
    "write_5_day_launch_sop": path_given(("write",), ("read", "file")),
    "sent_email": lambda history, check: bool(history.of("gmail__send_email", "gmail__send_email_from_draft")),
    "searched_denise_maldonado": lambda history, check: (
        quoted(check)[0] in history.given("query", "gmail__search_users")
    ),
    "checked_chair_reviews": lambda history, check: (
        history.given("product_id", "amazon__show_product_reviews") == numbers(check)[:1]
    ),
    "all_subtasks_created": all_quoted_in(
        lambda history: " ".join(history.given("title", "todoist__create_sub_task")).lower()
    ),
}


def words_of(folder: Path, task: str) -> str:
    """All that the checks name, numbered, then the intents and the criteria."""
    checks = checks_of(folder)[task].values()
    words = dict.fromkeys(word for check in checks for word in quoted(check))
    lines = [f"{number}. {word}" for number, word in enumerate(words, start=1)]
    lines += [intents_of(folder, task), criteria_of(folder, task)]
    return "\n".join((*lines, "Two live items. The temporary board was cleared. Authorised; traceable."))


def title_of(folder: Path, task: str, key: str) -> str:
    return quoted(checks_of(folder)[task][key])[0]


def play_law_trainee(desk: Desk, folder: Path, task: str) -> None:
    checks, words = checks_of(folder)[task], words_of(folder, task)
    titles = {key: (quoted(check) or [""])[0] for key, check in checks.items()}
    board = titles.get("todoist_project_created") or titles.get("project_created")
    board = board or titles.get("todoist_temp_project_created")
    note = titles.get("simple_note_created_with_required_title") or titles.get("final_note_created_with_required_title")
    if note:
        number = desk.call("simple_note__create_note", title=note, content="To be written.")["note_id"]
        desk.call("simple_note__update_note", note_id=number, content=words)
    if "sms_sent_to_correct_number" in checks:
        desk.call("phone__send_text_message", phone_number=titles["sms_sent_to_correct_number"], message=words)
    if board:
        project = desk.call("todoist__create_project", name=board)["project_id"]
        desk.call("todoist__create_task", title="Chase", project_id=project, description=" ".join(words.splitlines()))
        desk.call("todoist__delete_project", project_id=project)
    recipients = [address for check in checks.values() for address in EMAIL.findall(check)]
    if recipients:
        subject = titles.get("subject_matches_internal_review_queue") or titles.get("completion_email_subject_matches")
        subject = subject or " ".join(quoted(checks["subject_is_matter_specific_supplement_request"]))
        sent = desk.call("gmail__send_email", email_addresses=recipients[:1], subject=subject, body=words)
        if "triage_sequence_completed" in checks:
            thread = {"email_thread_id": sent["sent_email_thread_id"]}
            desk.call("gmail__label_thread", label=titles["triage_sequence_completed"], **thread)
            desk.call("gmail__mark_thread_unread", **thread)
            desk.call("gmail__mark_thread_read", **thread)
    if "todoist_reminder_has_checkpoint_and_cleanup" in checks:
        made = desk.call("todoist__create_task", title="Reminder", description=words)
        desk.call("todoist__delete_task", task_id=made["task_id"])


def play_marketer(desk: Desk, folder: Path, task: str) -> None:
    {"004": play_music, "009": play_files, "010": play_mail, "014": play_shop, "020": play_lists}[task[-3:]](
        desk, folder
    )


def play_music(desk: Desk, folder: Path) -> None:
    playlists = desk.call("spotify__show_playlist_library")
    for song in desk.call("spotify__show_liked_songs"):
        desk.call("spotify__add_song_to_playlist", playlist_id=playlists[0]["playlist_id"], song_id=song["song_id"])


def play_files(desk: Desk, folder: Path) -> None:
    for check in checks_of(folder)["marketer_task_009"].values():
        name = next(word for word in check.split() if word.endswith(".md"))
        desk.files("write_file", path=name, content="text")
        desk.files("read_file", path=name)
        desk.files("write", path=name)  # only a tool of this name can earn the last key, and there is none


def play_mail(desk: Desk, folder: Path) -> None:
    name = quoted(checks_of(folder)["marketer_task_010"]["searched_denise_maldonado"])[0]
    [album] = desk.call("spotify__search_albums", query="", min_rating=4.5)
    [person] = desk.call("gmail__search_users", query=name)
    draft = desk.call("gmail__create_draft", recipient_email_addresses=[person["email"]], body=album["title"])
    desk.call("gmail__send_email_from_draft", draft_id=draft["draft_id"])


def play_shop(desk: Desk, folder: Path) -> None:
    [order] = desk.call("amazon__show_orders")
    desk.call("amazon__show_product_reviews", product_id=order["items"][0]["product_id"])
    [speaker] = desk.call("amazon__search_products", query="speaker")
    desk.call("amazon__add_product_to_cart", product_id=speaker["product_id"])
    [address], [card] = desk.call("amazon__show_addresses"), desk.call("amazon__show_payment_cards")
    placed = desk.call("amazon__place_order", payment_card_id=card["payment_card_id"], address_id=address["address_id"])
    bought = desk.call("amazon__show_order", order_id=placed["order_id"])
    assert len(bought["items"]) == 2
    assert bought["shipping_address"] == address["street_address"]


def play_lists(desk: Desk, folder: Path) -> None:
    made = desk.call("todoist__create_task", title="Sunday evening")
    for title in quoted(checks_of(folder)["marketer_task_020"]["all_subtasks_created"]):
        desk.call("todoist__create_sub_task", task_id=made["task_id"], title=title)


TASKS = [
    *(("law_trainee", f"law_trainee_task_{number}") for number in ("008", "012", "014", "018", "020")),
    *(("marketer", f"marketer_task_{number}") for number in ("004", "009", "010", "014", "020")),
]


@pytest.mark.parametrize(("user", "task"), TASKS, ids=[task for _, task in TASKS])
def test_calls_earn_every_rule_check(pibench_data: Path, tmp_path: Path, user: str, task: str):
    folder = pibench_data / user
    desk = Desk(folder, tmp_path)
    checks = checks_of(folder)[task]

    (play_law_trainee if user == "law_trainee" else play_marketer)(desk, folder, task)

    history = History(desk.records)
    assert {key: GRADERS[key](history, check) for key, check in checks.items()} == dict.fromkeys(checks, True)
    assert list(desk.world.problems()) == []


@pytest.mark.parametrize("user", ["law_trainee", "marketer"])
def test_no_bound_tool_of_a_real_persona_is_missing_and_no_check_is_left_out(
    pibench_data: Path, tmp_path: Path, user: str
):
    folder = pibench_data / user
    desk = Desk(folder, tmp_path)
    offered = {schema["function"]["name"] for schema in desk.toolbox.schemas}

    assert {APP_PREFIX + name for name in desk.bound} <= offered
    assert set(checks_of(folder)) == {task for of, task in TASKS if of == user}
