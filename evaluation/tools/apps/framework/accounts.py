"""Signing up, logging in and out, and one's own account: the same in every app."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework.app import App, Call
from evaluation.tools.apps.framework.errors import ConflictError, InvalidError, NotFoundError, UnauthorizedError
from evaluation.tools.apps.framework.paging import rank
from evaluation.tools.apps.framework.state import Account, AppState, Code, Token

TOKEN_MINUTES = 60
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[0-9]{3,15}")
Username = Annotated[str, Field(min_length=1, max_length=200, description="Your email address or phone number")]
Password = Annotated[str, Field(min_length=1, max_length=200, description="Your password in this app")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="As other people see it")]


PeopleQuery = Annotated[str, Field(max_length=200, description="Part of a name or an email address")]


def search_people(call: Call[Any], query: str) -> list[dict[str, Any]]:
    """Accounts of the app as first and last name and email address."""
    found = rank(query, call.state.accounts, lambda account: (account.name, account.username))
    return [
        {"first_name": person.first_name, "last_name": person.last_name, "email": person.username} for person in found
    ]


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

    who: dict[str, Any] = {app.signs_in_by: (Annotated[str, Field(description=f"Your {identity}")], ...)}

    def send_code(call: Call[AppState], username: str, purpose: str) -> dict[str, Any]:
        account = call.state.accounts.find(username)
        if account is None or not account.password:
            raise NotFoundError(f"There is no account for {username}.")
        number = call.state.codes.next_id()
        made = hashlib.sha256(f"{app.name}\n{username}\n{purpose}\n{number}".encode()).hexdigest()[:7]
        call.state.codes.put(Code(made, username, purpose, call.stamp_in(minutes=TOKEN_MINUTES)))
        subject = f"{title}: {purpose} code"
        text = f"Your {purpose} code is {made}. It expires in {TOKEN_MINUTES} minutes."
        sender = "10000" if by_phone else f"notifications@{app.name.replace('_', '')}.com"
        call.open_app("phone" if by_phone else "gmail").receive(sender, username, subject, text, call.stamp)
        return {"message": f"The code was sent to your {identity}."}

    def use_code(call: Call[AppState], code: str, username: str, purpose: str) -> None:
        known = call.state.codes.find(code)
        if known is None or (known.username, known.purpose) != (username, purpose) or known.expires_at <= call.stamp:
            raise UnauthorizedError(f"The {purpose} code is wrong or has expired.")
        call.state.codes.remove(code)

    sent = Annotated[str, Field(min_length=1, max_length=50, description="The code that was sent to you")]
    resetting = who | {"password_reset_code": (sent, ...), "new_password": (Password, ...)}

    @app.api(about=f"Have a code sent to your {identity}, for a new password.", takes=who, login=False)
    def send_password_reset_code(call: Call[AppState], **given: str) -> dict[str, Any]:
        return send_code(call, given[app.signs_in_by], "password reset")

    @app.api(about="Set a new password with the code that was sent to you.", takes=resetting, login=False)
    def reset_password(
        call: Call[AppState], *, password_reset_code: str, new_password: str, **given: str
    ) -> dict[str, Any]:
        username = given[app.signs_in_by]
        use_code(call, password_reset_code, username, "password reset")
        call.state.accounts.put(replace(call.state.accounts.get(username), password=new_password))
        return {"message": "Your password was changed."}

    @app.api(about=f"Have a code sent to your {identity}, to verify your account.", takes=who, login=False)
    def send_verification_code(call: Call[AppState], **given: str) -> dict[str, Any]:
        return send_code(call, given[app.signs_in_by], "verification")

    @app.api(
        about="Verify your account with the code that was sent to you.",
        takes=who | {"verification_code": (sent, ...)},
        login=False,
    )
    def verify_account(call: Call[AppState], *, verification_code: str, **given: str) -> dict[str, Any]:
        use_code(call, verification_code, given[app.signs_in_by], "verification")
        return {"message": f"Your {title} account is verified."}

    @app.api(about=f"Delete your {title} account. Nobody can log in to it any more.")
    def delete_account(call: Call[AppState]) -> dict[str, Any]:
        call.state.accounts.put(replace(call.account, password=""))
        for token in call.state.tokens.having("username", call.user):
            call.state.tokens.remove(token.access_token)
        return {"message": f"Your {title} account was deleted."}

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
