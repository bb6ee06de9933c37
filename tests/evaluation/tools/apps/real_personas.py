"""App data for the published personas, derived from their requests, intents and rule checks.

Their texts stay where they are: everything here is read from their files.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.evaluation.tools.apps.rule_graders import EMAIL, numbers, quoted

__all__ = ["EMAIL", "numbers", "quoted"]
APPS = {"Simple Note": "simple_note", "Gmail": "gmail", "Todoist": "todoist", "Spotify": "spotify"}


@cache
def checks_of(folder: Path) -> dict[str, dict[str, str]]:
    """Task → key → what the check demands, in words."""
    document = json.loads((folder / "rule_checks.json").read_text())
    return {task: entry["checks"] for task, entry in document.items()}


@cache
def task_of(folder: Path, name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((folder / "tasks" / name / "task.yaml").read_text())
    return document


def request_of(folder: Path, name: str) -> str:
    return str(task_of(folder, name)["intent"]["initial_input"])


def intents_of(folder: Path, name: str) -> str:
    return "\n".join(intent["content"] for intent in task_of(folder, name)["intent"]["hidden_intent"])


def criteria_of(folder: Path, name: str) -> str:
    return "\n".join(item["criterion"] for item in task_of(folder, name)["objectives"].get("checklist", ()))


def account(username: str, password: str = "", name: str = "") -> dict[str, str]:
    first, _, last = name.partition(" ")
    return {"username": username, "password": password, "first_name": first, "last_name": last}


def law_trainee_data(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    data: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name in checks_of(folder):
        request = request_of(folder, name)
        for app, email, password in re.findall(r"My ([A-Z][\w ]+?) email is (\S+) and password is '([^']+)'", request):
            data[APPS[app]] = {"accounts": [account(email, password)]}
        for number, password in re.findall(r"My phone number is (\d+) and password is '([^']+)'", request):
            data["phone"] = {"accounts": [account(number, password)]}
    colleague = next(iter(EMAIL.findall(checks_of(folder)["law_trainee_task_008"]["email_sent_to_real_recipient"])))
    data["gmail"]["accounts"].append(account(colleague))
    data["gmail"]["emails"] = [
        {"sender": colleague, "recipients": [data["gmail"]["accounts"][0]["username"]], "subject": "Files", "body": "."}
    ]
    return data


def app_data(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    return (law_trainee_data if folder.name == "law_trainee" else marketer_data)(folder)


def marketer_data(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    music, mail, shop, lists = (f"marketer_task_{number}" for number in ("004", "010", "014", "020"))
    email, spotify = re.findall(r"email is (\S+) and password is '([^']+)'", request_of(folder, music))[0]
    gmail = re.findall(r"Gmail uses the password: (\S+)", request_of(folder, mail))[0]
    amazon = re.findall(r"trailing space: (\S+)", request_of(folder, shop))[0]
    todoist = re.findall(r"Todoist password is (\S+)", request_of(folder, lists))[0]
    checks = checks_of(folder)
    songs = {
        numbers(text)[0]: key.removeprefix("added_").replace("_", " ").title()
        for key, text in checks[music].items()
        if key.startswith("added_")
    }
    playlist = quoted(intents_of(folder, music))[0]
    album = quoted(criteria_of(folder, mail))[0]
    colleague = quoted(checks[mail]["searched_denise_maldonado"])[0]
    _, chair, address, speaker = quoted(intents_of(folder, shop))[:4]
    rack = next(name for name in quoted(criteria_of(folder, shop)) if name not in (email, chair, speaker, address))
    product = numbers(checks[shop]["checked_chair_reviews"])[0]
    me = account(email, spotify)
    return {
        "spotify": {
            "accounts": [me],
            "artists": [{"artist_id": 1, "name": "An orchestra", "genre": "classical"}],
            "albums": [{"album_id": 1, "title": album, "artist_ids": [1], "genre": "classical", "rating": 4.9}],
            "songs": [
                {"song_id": number, "title": title, "artist_ids": [1], "genre": "classical"}
                for number, title in songs.items()
            ],
            "playlists": [
                {"playlist_id": number, "owner": email, "title": title}
                for number, title in zip(
                    numbers(checks[music]["selected_playlist_correct"])[:2], (playlist, f"{playlist} II"), strict=True
                )
            ],
            "libraries": [{"username": email, "liked_songs": list(songs)}],
        },
        "gmail": {
            "accounts": [account(email, gmail), account("denise@example.com", name=colleague)],
            "emails": [],
        },
        "todoist": {"accounts": [account(email, todoist)]},
        "amazon": {
            "accounts": [account(email, amazon)],
            "products": [
                {"product_id": product, "name": chair, "product_type": "office chair", "price": 449.0},
                {"product_id": 900, "name": speaker, "product_type": "speaker", "price": 119.95, "rating": 4.7},
                {"product_id": 901, "name": rack, "product_type": "dish rack", "price": 24.99},
            ],
            "reviews": [{"product_id": product, "author": "Sam", "rating": 2, "text": "It wore out within a year."}],
            "cart": [{"owner": email, "product_id": 901}],
            "addresses": [{"owner": email, "name": "Studio", "street_address": address}],
            "payment_cards": [{"owner": email, "card_name": "Visa", "card_number": "4000111122223333"}],
            "orders": [{"owner": email, "items": [{"product_id": product, "quantity": 1, "price": 449.0}]}],
        },
    }
