"""Calls that earn the rule checks of the published personas. A desk makes them: ``call`` as an app's user, logged in,
``files`` in the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from tests.evaluation.tools.apps.real_personas import EMAIL, checks_of, criteria_of, intents_of, quoted


class Desk(Protocol):
    def call(self, name: str, /, **arguments: Any) -> Any: ...

    def files(self, name: str, /, **arguments: Any) -> Any: ...


def play(desk: Desk, folder: Path, task: str) -> None:
    (play_law_trainee if folder.name == "law_trainee" else play_marketer)(desk, folder, task)


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
