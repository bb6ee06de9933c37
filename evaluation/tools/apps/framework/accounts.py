"""Signing up, logging in and out, and one's own account: the same in every app."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework.app import App, Call
from evaluation.tools.apps.framework.errors import ConflictError, InvalidError, UnauthorizedError
from evaluation.tools.apps.framework.paging import Page, paginate
from evaluation.tools.apps.framework.state import Account, AppState, Token
from evaluation.tools.apps.framework.text import rank

TOKEN_MINUTES = 60
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[0-9]{3,15}")
Username = Annotated[
    str, Field(min_length=1, max_length=200, description="Your email address; in the phone app your phone number")
]
Password = Annotated[str, Field(min_length=1, max_length=200, description="Your password in this app")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="As other people see it")]


PeopleQuery = Annotated[str, Field(max_length=200, description="Part of a name or an email address")]


def search_people(call: Call[Any], query: str, page_index: int, page_limit: int) -> Page:
    """Accounts of the app as first and last name and email address."""
    found = rank(query, call.state.accounts, lambda account: (account.name, account.username))
    people = [
        {"first_name": person.first_name, "last_name": person.last_name, "email": person.username} for person in found
    ]
    return paginate(people, page_index, page_limit)


def add_account_apis(app: App[Any], *, by_phone: bool = False) -> None:
    title = app.title
    app.signs_in_by = "phone_number" if by_phone else "email"
    identity = "phone number" if by_phone else "email address"

    @app.api(
        about=f"Log in to {title} with your {identity}. The response holds the access_token that other calls need.",
        login=False,
    )
    def login(call: Call[AppState], username: Username, password: Password) -> dict[str, Any]:
        account = call.state.accounts.find(username.strip())
        if account is None or not account.password or account.password != password:
            raise UnauthorizedError("Wrong username or password.")
        for old in [old for old in call.state.tokens if old.expires_at <= call.stamp]:
            call.state.tokens.remove(old.access_token)
        number = call.state.tokens.next_id()
        digest = hashlib.sha256(f"{app.name}\n{account.username}\n{number}".encode()).hexdigest()
        token = Token(f"{app.name}-{digest[:20]}", account.username, call.stamp_in(minutes=TOKEN_MINUTES))
        call.state.tokens.put(token)
        return {"access_token": token.access_token, "token_type": "Bearer", "expires_at": token.expires_at}

    @app.api(about=f"Log out of {title}.")
    def logout(call: Call[AppState]) -> dict[str, Any]:
        call.state.tokens.remove(call.access_token)
        return {"message": f"You are logged out of {title}."}

    @app.api(about=f"Create an account in {title}.", login=False)
    def signup(
        call: Call[AppState], username: Username, password: Password, first_name: Name, last_name: Name
    ) -> dict[str, Any]:
        if not (_PHONE if by_phone else _EMAIL).fullmatch(username):
            raise InvalidError(f"{username!r} is not a valid {identity}.")
        if username in call.state.accounts:
            raise ConflictError(f"There is already an account for {username}.")
        contact = {"phone_number": username} if by_phone else {"email": username}
        call.state.accounts.put(Account(username, password, first_name, last_name, registered_at=call.stamp, **contact))
        return {"message": f"Your {title} account was created. You can log in."}

    @app.api(about=f"Show your own {title} account.")
    def show_account(call: Call[AppState]) -> dict[str, Any]:
        return {**profile_of(call.account), "registered_at": call.account.registered_at}

    @app.api(about=f"Show your public profile in {title}, or another person's.")
    def show_profile(
        call: Call[AppState], username: Annotated[str | None, Field(description="Yours if left out")] = None
    ) -> dict[str, Any]:
        return profile_of(call.account if username is None else call.state.accounts.get(username))

    @app.api(about=f"Change the name of your {title} account.")
    def update_account_name(call: Call[AppState], first_name: Name, last_name: Name) -> dict[str, Any]:
        call.state.accounts.put(replace(call.account, first_name=first_name, last_name=last_name))
        return {"message": "Your name was changed."}


def profile_of(account: Account) -> dict[str, Any]:
    contact = {key: value for key, value in (("email", account.email), ("phone_number", account.phone_number)) if value}
    return {
        "username": account.username,
        "first_name": account.first_name,
        "last_name": account.last_name,
        **contact,
    }
