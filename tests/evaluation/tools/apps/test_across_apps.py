"""Files of one app in another, and what people write, delete and get back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.tools.apps import World
from evaluation.tools.apps.catalog import APPS

ADA, NOOR = "ada@example.com", "noor@example.com"


class Person:
    """Calls APIs of apps, logged in to each."""

    def __init__(self, world: World, username: str) -> None:
        self.world = world
        self.username = username
        self.tokens: dict[str, str] = {}

    def ask(self, name: str, /, **arguments: Any) -> Any:
        app = name.partition("__")[0]
        token = {"access_token": self.token(app)} if APPS[app].apis[name].login else {}
        return self.world.call(name, {**arguments, **token})

    def do(self, name: str, /, **arguments: Any) -> Any:
        result = self.ask(name, **arguments)
        assert result.ok, (name, result.response)
        return result.response

    def token(self, app: str) -> str:
        if app not in self.tokens:
            login = self.world.call(f"{app}__login", {"username": self.username, "password": "pw"})
            self.tokens[app] = login.response["access_token"]
        return self.tokens[app]

    @property
    def files(self) -> dict[str, str]:
        return {"file_system_access_token": self.token("file_system")}


@pytest.fixture
def world() -> World:
    data = {name: app.example for name, app in APPS.items()}
    for app in ("gmail", "file_system", "todoist", "splitwise", "spotify", "amazon"):
        names = [account["username"] for account in data[app]["accounts"]]
        data[app]["accounts"] += [{"username": name} for name in (ADA, NOOR) if name not in names]
        for account in data[app]["accounts"]:
            account["password"] = "pw"
    for account in data["phone"]["accounts"]:
        account["password"] = "pw"
    return World.from_data(data)


@pytest.fixture
def ada(world: World) -> Person:
    return Person(world, ADA)


@pytest.fixture
def noor(world: World) -> Person:
    return Person(world, NOOR)


LETTER = "/home/ada/letters/landlord.txt"


def test_file_attached_to_an_email_is_saved_by_its_recipient(ada: Person, noor: Person):
    sent = ada.do(
        "gmail__send_email", email_addresses=[NOOR], subject="Letter", attachment_file_paths=[LETTER], **ada.files
    )
    ada.do("file_system__delete_file", file_path=LETTER)

    [attached] = noor.do("gmail__show_email", email_id=sent["sent_email_id"])["attachments"]
    saved = noor.do("gmail__download_attachment", attachment_id=attached["id"], **noor.files)

    assert attached["file_name"] == "landlord.txt"
    assert saved["file_path"] == "/home/noor/downloads/landlord.txt"
    assert noor.do("file_system__show_file", file_path=saved["file_path"])["content"] == "Dear Mr Ames,"
    again = noor.ask("gmail__download_attachment", attachment_id=attached["id"], **noor.files)
    assert (again.ok, again.response["status"]) == (False, 409)


def test_call_that_fails_half_way_attaches_and_sends_nothing(world: World, ada: Person):
    emails = len(world.state("gmail").tables["emails"])
    refused = ada.ask(
        "gmail__send_email", email_addresses=[NOOR], attachment_file_paths=[LETTER, "/home/ada/none.txt"], **ada.files
    )

    assert (refused.ok, refused.response["status"]) == (False, 404)
    assert len(world.state("gmail").tables["emails"]) == emails
    assert len(world.state("gmail").tables["attachments"]) == 0


def test_nobody_attaches_files_of_another_person(ada: Person, noor: Person):
    refused = noor.ask("gmail__create_draft", attachment_file_paths=[LETTER], **noor.files)
    without = ada.ask("gmail__create_draft", attachment_file_paths=[LETTER])

    assert (refused.response["status"], without.response["status"]) == (403, 422)


def test_attachment_of_a_draft_goes_with_it_and_can_be_taken_off(ada: Person, noor: Person):
    draft = ada.do("gmail__create_draft", recipient_email_addresses=[NOOR])["draft_id"]
    first, second = (
        ada.do("gmail__upload_attachments_to_draft", draft_id=draft, attachment_file_paths=[LETTER], **ada.files)[
            "attachment_ids"
        ][0]
        for _ in range(2)
    )
    ada.do("gmail__remove_attachment_from_draft", draft_id=draft, attachment_id=first)
    sent = ada.do("gmail__send_email_from_draft", draft_id=draft)

    shown = noor.do("gmail__show_email", email_id=sent["sent_email_id"])["attachments"]
    assert [each["id"] for each in shown] == [second]
    assert noor.ask("gmail__download_attachment", attachment_id=first, **noor.files).response["status"] == 404


@pytest.mark.parametrize("made", ["recipient_email_addresses", "email_addresses"])
@pytest.mark.parametrize("changed", ["email_addresses", "recipient_email_addresses"])
def test_recipients_of_a_draft_are_named_in_either_way(ada: Person, made: str, changed: str):
    draft = ada.do("gmail__create_draft", **{made: [NOOR]})["draft_id"]
    assert ada.do("gmail__show_draft", draft_id=draft)["recipient_email_addresses"] == (NOOR,)

    ada.do("gmail__update_draft", draft_id=draft, **{changed: [ADA]})

    assert ada.do("gmail__show_draft", draft_id=draft)["recipient_email_addresses"] == (ADA,)


def test_songs_albums_and_playlists_have_a_link_to_share(ada: Person):
    song, album, playlist = (
        ada.do(f"spotify__search_{kind}s", query="")[0][f"{kind}_id"] for kind in ("song", "album", "playlist")
    )

    assert ada.do("spotify__show_song", song_id=song)["shareable_link"] == f"https://spotify.com/songs/{song}"
    assert ada.do("spotify__show_album", album_id=album)["shareable_link"] == f"https://spotify.com/albums/{album}"
    link = ada.do("spotify__show_playlist", playlist_id=playlist)["shareable_link"]
    assert link == f"https://spotify.com/playlists/{playlist}"


def test_sub_task_is_changed_and_deleted_with_or_without_the_task_that_it_is_part_of(ada: Person):
    project = ada.do("todoist__create_project", name="Flat")["project_id"]
    task, other = (ada.do("todoist__create_task", project_id=project, title=title)["task_id"] for title in "ab")
    first, second = (ada.do("todoist__create_sub_task", task_id=task, title=title)["sub_task_id"] for title in "cd")

    refused = ada.ask("todoist__update_sub_task", sub_task_id=first, task_id=other, is_completed=True)
    ada.do("todoist__update_sub_task", sub_task_id=first, task_id=task, is_completed=True)
    ada.do("todoist__update_sub_task", sub_task_id=second, title="e")
    shown = ada.do("todoist__show_sub_tasks", task_id=task)

    assert refused.response["status"] == 404
    assert [(each["title"], each["is_completed"]) for each in shown] == [("c", True), ("e", False)]
    assert ada.ask("todoist__delete_sub_task", sub_task_id=first, task_id=other).response["status"] == 404
    ada.do("todoist__delete_sub_task", sub_task_id=first, task_id=task)
    ada.do("todoist__delete_sub_task", sub_task_id=second)
    assert ada.do("todoist__show_sub_tasks", task_id=task) == []


def test_brief_lists_show_who_wrote_what_and_leave_out_what_is_empty(world: World):
    long, brief = Person(world, ADA), Person(World(world.snapshot(), brief_lists=True), ADA)

    [thread], [short] = long.do("gmail__show_inbox_threads"), brief.do("gmail__show_inbox_threads")
    [product] = brief.do("amazon__search_products", query="towel")

    assert {"participants", "archived", "labels"} <= thread.keys()
    assert short == {
        "email_thread_id": 1,
        "subject": "Thursday's agenda",
        "read": False,
        "starred": False,
        "email_ids": [1],
        "updated_at": "2026-04-10T16:20:00",
        "from": NOOR,
        "preview": "Could you send me your two points before noon on Wednesday?",
    }
    assert product["rating"] == 0  # a number is never empty
    assert long.do("gmail__show_thread", email_thread_id=1) == brief.do("gmail__show_thread", email_thread_id=1)


def test_forgotten_password_is_set_anew_with_the_code_in_the_mail(world: World, ada: Person):
    who = {"email": ADA}
    assert world.call("simple_note__send_password_reset_code", who).ok
    [thread, *_] = ada.do("gmail__show_inbox_threads")
    body = ada.do("gmail__show_email", email_id=thread["email_ids"][0])["body"]
    code = body.split(" is ")[1].split(".")[0]

    def reset(code: str) -> bool:
        new = {"password_reset_code": code, "new_password": "new password"}
        return world.call("simple_note__reset_password", who | new).ok

    assert (reset("guess"), reset(code), reset(code)) == (False, True, False)
    assert world.call("simple_note__login", {"username": ADA, "password": "new password"}).ok


def test_code_of_the_mail_app_comes_by_mail_as_well(world: World, ada: Person):
    assert world.call("gmail__send_verification_code", {"email": ADA}).ok
    assert ada.do("gmail__show_inbox_threads")[0]["subject"] == "Gmail: verification code"


def test_deleted_account_lets_nobody_in(world: World, ada: Person):
    ada.do("todoist__delete_account")

    assert ada.ask("todoist__show_projects").response["status"] == 401
    assert not world.call("todoist__login", {"username": ADA, "password": "pw"}).ok
    assert list(world.problems()) == []


def test_deleted_and_spam_threads_leave_the_lists_of_their_owner_alone(ada: Person, noor: Person):
    thread = noor.do("gmail__send_email", email_addresses=[ADA], subject="Lottery")["sent_email_thread_id"]

    def inbox() -> list[str]:
        return [each["subject"] for each in ada.do("gmail__show_inbox_threads")]

    ada.do("gmail__mark_thread_spam", email_thread_id=thread)
    assert "Lottery" not in inbox()
    assert [each["subject"] for each in ada.do("gmail__show_spam_threads")] == ["Lottery"]
    ada.do("gmail__mark_thread_not_spam", email_thread_id=thread)
    assert "Lottery" in inbox()
    ada.do("gmail__delete_thread", email_thread_id=thread)
    assert "Lottery" not in inbox()
    assert ada.ask("gmail__show_thread", email_thread_id=thread).response["status"] == 404
    assert len(noor.do("gmail__show_thread", email_thread_id=thread)["emails"]) == 1


def test_answer_in_a_deleted_thread_brings_back_only_what_is_new(ada: Person, noor: Person):
    first = noor.do("gmail__send_email", email_addresses=[ADA], subject="Tea?")
    ada.do("gmail__delete_thread", email_thread_id=first["sent_email_thread_id"])
    reply = noor.do("gmail__reply_to_email", email_id=first["sent_email_id"], body="?", reply_to_all=True)

    emails = ada.do("gmail__show_thread", email_thread_id=first["sent_email_thread_id"])["emails"]
    assert [email["email_id"] for email in emails] == [reply["sent_email_id"]]


def test_deleted_expense_and_payment_come_back(ada: Person):
    expense = ada.do("splitwise__record_expense", description="Tea", paid_amount=9, group_id=1)["expense_id"]
    owed = ada.do("splitwise__show_group_balance", group_id=1)
    ada.do("splitwise__delete_expense", expense_id=expense)
    assert ada.ask("splitwise__show_expense", expense_id=expense).response["status"] == 404
    ada.do("splitwise__undelete_expense", expense_id=expense)
    assert ada.do("splitwise__show_group_balance", group_id=1) == owed

    paid = ada.do("splitwise__record_payment", payer_email=ADA, receiver_email=NOOR, amount=2)["payment_id"]
    ada.do("splitwise__update_payment", payment_id=paid, amount=3)
    assert ada.do("splitwise__show_no_group_payments")[0]["amount"] == 3
    ada.do("splitwise__delete_payment", payment_id=paid)
    assert ada.do("splitwise__show_no_group_payments") == []
    ada.do("splitwise__undelete_payment", payment_id=paid)
    balances = {each["group_id"]: each["balance"] for each in ada.do("splitwise__show_groups_balance")}
    assert balances[None] == 3


@pytest.mark.parametrize("noun", ["expense", "payment"])
def test_receipt_is_attached_saved_and_taken_off(ada: Person, noor: Person, noun: str):
    if noun == "expense":
        arguments: dict[str, Any] = {"description": "Tea", "paid_amount": 9, "group_id": 1}
    else:
        arguments = {"payer_email": ADA, "receiver_email": NOOR, "amount": 2}
    which = {f"{noun}_id": ada.do(f"splitwise__record_{noun}", **arguments)[f"{noun}_id"]}

    ada.do(f"splitwise__attach_{noun}_receipt_file", **which, receipt_file_path=LETTER, **ada.files)
    assert noor.do(f"splitwise__show_{noun}", **which)["receipt_file_name"] == "landlord.txt"
    saved = noor.do(f"splitwise__download_{noun}_receipt_file", **which, **noor.files)
    assert noor.do("file_system__show_file", file_path=saved["file_path"])["content"] == "Dear Mr Ames,"
    noor.do(f"splitwise__delete_{noun}_receipt_file", **which)
    assert "receipt_file_name" not in ada.do(f"splitwise__show_{noun}", **which)


def test_only_its_author_changes_a_comment(ada: Person, noor: Person):
    comment = ada.do("splitwise__post_expense_comment", expense_id=1, content="Mine")["expense_comment_id"]

    refused = noor.ask("splitwise__update_expense_comment", expense_comment_id=comment, content="No")
    ada.do("splitwise__update_expense_comment", expense_comment_id=comment, content="Better")

    assert refused.response["status"] == 403
    assert [each["content"] for each in noor.do("splitwise__show_expense_comments", expense_id=1)] == ["Better"]
    ada.do("splitwise__delete_expense_comment", expense_comment_id=comment)
    assert noor.do("splitwise__show_expense_comments", expense_id=1) == []


@pytest.mark.parametrize("what", ["song", "album", "playlist"])
def test_everybody_reviews_each_song_album_and_playlist_once(ada: Person, what: str):
    review = ada.do(f"spotify__review_{what}", **{f"{what}_id": 1}, rating=4)[f"{what}_review_id"]

    assert ada.ask(f"spotify__review_{what}", **{f"{what}_id": 1}, rating=5).response["status"] == 409
    ada.do(f"spotify__update_{what}_review", **{f"{what}_review_id": review}, rating=2)
    [shown] = ada.do(f"spotify__show_{what}_reviews", **{f"{what}_id": 1})
    assert (shown["rating"], shown["title"]) == (2, "")
    ada.do(f"spotify__delete_{what}_review", **{f"{what}_review_id": review})
    assert ada.do(f"spotify__show_{what}_reviews", **{f"{what}_id": 1}) == []


def test_returned_products_are_refunded_and_not_returned_twice(ada: Person):
    returned = ada.do("amazon__initiate_return", order_id=1, product_id=1, deliverer="UPS")

    assert returned["refund"] == 31.0
    again = ada.ask("amazon__initiate_return", order_id=1, product_id=1, deliverer="UPS")
    assert (again.ok, again.response["status"]) == (False, 422)
    assert [each["return_id"] for each in ada.do("amazon__show_returns")] == [returned["return_id"]]


def test_gift_wrapping_and_prime_are_paid_with_the_card(world: World, ada: Person):
    ada.do("amazon__add_gift_wrapping_to_product", product_id=2)
    order = ada.do("amazon__place_order", payment_card_id=1, address_id=1)
    ada.do("amazon__subscribe_prime", payment_card_id=1, prime_plan="yearly")

    assert order["total_cost"] == 11.25
    assert world.state("amazon").tables["payment_cards"].get(1).balance == 500 - 11.25 - 139
    assert ada.ask("amazon__subscribe_prime", payment_card_id=1).response["status"] == 422
    path = ada.do("amazon__download_order_receipt", order_id=order["order_id"], **ada.files)["file_path"]
    assert "1 x Tea towel: 6.25" in ada.do("file_system__show_file", file_path=path)["content"]
    assert list(world.problems()) == []


def test_premium_is_paid_with_a_card_of_ones_own(ada: Person, noor: Person):
    card = {"card_name": "Debit", "owner_name": "Ada", "card_number": "400012341234", "cvv_number": "123"}
    number = ada.do("spotify__add_payment_card", **card, expiry_year=2030, expiry_month=1)["payment_card_id"]

    assert noor.ask("spotify__subscribe_premium", payment_card_id=number).response["status"] == 404
    paid = ada.do("spotify__subscribe_premium", payment_card_id=number)["premium_subscription_id"]
    saved = ada.do("spotify__download_premium_subscription_receipt", premium_subscription_id=paid, **ada.files)
    assert "Total: 10.99" in ada.do("file_system__show_file", file_path=saved["file_path"])["content"]


def test_people_are_told_of_expenses_that_others_record(ada: Person, noor: Person):
    ada.do("splitwise__record_expense", description="Tea", paid_amount=9, group_id=1)

    assert [each["message"] for each in noor.do("splitwise__show_notifications")] == [
        "Ada Berg recorded the expense 'Tea'."
    ]
    assert ada.do("splitwise__show_notifications_count") == {"count": 0}


def test_deleted_question_takes_its_answers_along(world: World, ada: Person, noor: Person):
    question = ada.do("amazon__write_product_question", product_id=1, question="Loud?")["question_id"]
    noor.do("amazon__write_product_question_answer", question_id=question, answer="No")

    assert noor.ask("amazon__delete_product_question", question_id=question).response["status"] == 403
    ada.do("amazon__delete_product_question", question_id=question)

    assert len(world.state("amazon").tables["answers"]) == 0


def test_voice_messages_are_kept_apart_from_texts(world: World):
    me = Person(world, "4155550100")
    sent = me.do("phone__send_voice_message", phone_number="4155550101", message="Call me")

    assert [each["message"] for each in me.do("phone__search_voice_messages")] == ["Call me"]
    assert "Call me" not in [each["message"] for each in me.do("phone__search_text_messages")]
    me.do("phone__delete_voice_message", voice_message_id=sent["voice_message_id"])
    assert me.do("phone__search_voice_messages") == []


def test_compressed_directory_comes_back_with_everything_in_it(ada: Person):
    ada.do("file_system__create_directory", directory_path="~/letters/old")
    ada.do("file_system__create_file", file_path="~/letters/old/a.txt", content="A")
    packed = ada.do("file_system__compress_directory", directory_path="~/letters", delete_directory=True)
    assert ada.do("file_system__directory_exists", directory_path="~/letters") == {"exists": False}

    ada.do("file_system__decompress_file", compressed_file_path=packed["compressed_file_path"])

    assert ada.do("file_system__show_file", file_path="~/letters/old/a.txt")["content"] == "A"
    assert ada.do("file_system__show_file", file_path="~/letters/landlord.txt")["content"] == "Dear Mr Ames,"


def test_a_promo_code_takes_its_share_off_the_next_order(world: World, ada: Person):
    promo = {"promo_code": "TIDE20", "percent": 20, "valid_until": "2026-12-31"}
    old = {"promo_code": "OLD", "percent": 50, "valid_until": "2025-01-01"}
    world.restore({**world.snapshot(), "amazon": _with(world, "amazon", promo_codes=[promo, old])})
    ada.do("amazon__add_product_to_cart", product_id=2)
    before = ada.do("amazon__show_cart")["total_cost"]

    assert (
        ada.ask("amazon__apply_promo_code_to_cart", promo_code="OLD").response["message"].endswith("after 2025-01-01.")
    )
    assert not ada.ask("amazon__remove_promo_code_from_cart").ok
    ada.do("amazon__apply_promo_code_to_cart", promo_code="TIDE20")
    cart = ada.do("amazon__show_cart")
    order = ada.do("amazon__place_order", payment_card_id=1, address_id=1)

    assert (cart["promo_code"], cart["total_cost"]) == ("TIDE20", round(before * 0.8, 2))
    assert order["total_cost"] == cart["total_cost"]
    assert ada.do("amazon__show_order", order_id=order["order_id"])["discount"] == round(before * 0.2, 2)
    assert not ada.ask("amazon__remove_promo_code_from_cart").ok, "it was for one order"
    back = ada.do("amazon__initiate_return", order_id=order["order_id"], product_id=2, deliverer="UPS")
    bought = [
        item for item in ada.do("amazon__show_order", order_id=order["order_id"])["items"] if item["product_id"] == 2
    ]
    assert back["refund"] == round(bought[0]["price"] * bought[0]["quantity"] * 0.8, 2)
    assert list(world.problems()) == []


def test_who_has_its_invitation_code_joins_a_group(world: World, ada: Person):
    number = ada.do("splitwise__create_group", name="Boat")["group_id"]
    code = ada.do("splitwise__show_group", group_id=number)["invitation_code"]
    noor = Person(world, NOOR)

    assert not noor.ask("splitwise__accept_group_invitation", invitation_code="none").ok
    noor.do("splitwise__accept_group_invitation", invitation_code=code)

    assert NOOR in noor.do("splitwise__show_group", group_id=number)["members"]
    assert not noor.ask("splitwise__accept_group_invitation", invitation_code=code).ok


def test_the_current_song_is_sought_within_its_length(world: World, ada: Person):
    assert not ada.ask("spotify__seek_song", seek_seconds=1).ok, "the queue is empty"
    ada.do("spotify__play_music", song_id=1)

    assert not ada.ask("spotify__seek_song", seek_seconds=10_000).ok
    ada.do("spotify__seek_song", seek_seconds=30)
    assert ada.do("spotify__show_current_song")["seconds"] == 30
    ada.do("spotify__pause_music")
    ada.do("spotify__play_music")
    assert ada.do("spotify__show_current_song")["seconds"] == 30
    ada.do("spotify__play_music", queue_position=0)
    assert ada.do("spotify__show_current_song")["seconds"] == 0


def _with(world: World, app: str, **tables: Any) -> bytes:
    return json.dumps({**json.loads(world.snapshot()[app]), **tables}).encode()
