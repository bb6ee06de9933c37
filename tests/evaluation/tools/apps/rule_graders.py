"""Graders written from the words of ``rule_checks.json``, for tests and as grader scripts.

Where a check takes one of several phrases, these ask for all the phrases that it names, so they are no easier. The text
of this module is the beginning of each script, so it imports the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

APP_PREFIX = "mcp_appworld_"
QUOTED = re.compile(r"(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.\w+")


def quoted(text: str) -> list[str]:
    return QUOTED.findall(text)


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\b\d+\b", text)]


class History:
    def __init__(self, calls: list[dict[str, Any]]) -> None:
        self.calls = calls

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


def grade(checks: dict[str, str], calls: list[dict[str, Any]]) -> dict[str, int]:
    """``checks``: key → what it demands, in words."""
    history = History(calls)
    values = {}
    for key, check in checks.items():
        try:
            values[key] = int(GRADERS[key](history, check))
        except (LookupError, ValueError, TypeError):  # a call it looks for was never made
            values[key] = 0
    return values
