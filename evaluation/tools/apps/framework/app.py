"""The declaration of an app and of its APIs: one function each, whose signature and docstring are the tool."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from pydantic import Field, ValidationError, create_model

from evaluation.tools.apps.framework.errors import AppError, InvalidError, NotFoundError, UnauthorizedError
from evaluation.tools.apps.framework.paging import Page, PageIndex, PageLimit, paginate
from evaluation.tools.apps.framework.state import Account, AppState, Change
from evaluation.tools.apps.framework.tables import Key, Record, Table, without_empty
from evaluation.tools.tool import Arguments
from studio.domain.app_data import SignsInBy

State = TypeVar("State", bound=AppState)
Function = TypeVar("Function", bound=Callable[..., Any])
Parameters = Mapping[str, tuple[Any, Any]]
"""Name → annotation and default; ... where there is none."""
STAMP = "%Y-%m-%dT%H:%M:%S"
ACCESS_TOKEN = Annotated[str, Field(min_length=1, max_length=200)]
"""Without a description: each app's login says once what it is."""


@dataclass
class Call(Generic[State]):
    """What an API knows besides its arguments."""

    state: State
    now: datetime
    account: Account = field(default_factory=lambda: Account(""))
    """Who is logged in; APIs with ``login=False`` have nobody."""
    access_token: str = ""
    open_app: Callable[[str], AppState] = field(default=lambda app: AppState(), repr=False)
    """The state of another app, which the call may change too."""

    def beside(self, app: str, access_token: str) -> Call[Any]:
        """The call of a person who is logged in to another app as well. Raises UnauthorizedError."""
        state = self.open_app(app)
        return Call(state, self.now, account_of(state, self.now, access_token), access_token)

    @property
    def stamp(self) -> str:
        return self.now.strftime(STAMP)

    @property
    def user(self) -> str:
        return self.account.username

    def own(self, table: Table[Record], key: Key) -> Record:
        """Raises NotFoundError, also for a record that is somebody else's."""
        record = table.find(key)
        if record is None or getattr(record, "owner", None) != self.user:
            raise NotFoundError(f"You have no {table.noun} with {table.key} {key}.")
        return record

    def stamp_in(self, **parts: float) -> str:
        return (self.now + timedelta(**parts)).strftime(STAMP)


@dataclass(frozen=True)
class Api(Generic[State]):
    name: str
    """``<app>__<api>``"""
    description: str
    function: Callable[..., Any]
    login: bool
    parameters: Callable[[], Parameters]
    brief: Callable[[Any, dict[str, Any]], dict[str, Any]] = lambda state, item: without_empty(item)
    """What a brief list says of one of its items."""

    @cached_property
    def arguments(self) -> type[Arguments]:
        """Made when first asked for: those of every API take a third of a second, which each process would spend."""
        token: dict[str, Any] = {"access_token": (ACCESS_TOKEN, ...)} if self.login else {}
        fields: dict[str, Any] = {**self.parameters(), **token}
        model: type[Arguments] = create_model(self.name, __base__=Arguments, **fields)
        return model

    def run(self, states: Callable[[str], AppState], now: datetime, arguments: Arguments) -> tuple[Any, list[Change]]:
        """The response and what it changed in ``states``. Raises AppError; then nothing has changed."""
        values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        changes: dict[str, list[Change]] = {}
        with ExitStack() as opened:

            def open_app(app: str) -> AppState:
                state = states(app)
                if app not in changes:
                    changes[app] = opened.enter_context(state.transaction())
                return state

            call = Call(open_app(self.name.partition("__")[0]), now, open_app=open_app)
            if self.login:
                call.access_token = values.pop("access_token")
                call.account = account_of(call.state, now, call.access_token)
            response = self.function(call, **values)
        return response, [change for each in changes.values() for change in each]

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        """Raises InvalidError."""
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
                for problem in error.errors()[:5]
            )
            raise InvalidError(f"Validation error. {problems}") from None


class App(Generic[State]):
    def __init__(self, name: str, state: type[State], title: str, about: str) -> None:
        """``about``: what an assistant can do with the app, in plain words."""
        self.name = name
        self.state_type = state
        self.title = title
        self.about = about
        self.signs_in_by: SignsInBy = "email"
        self.apis: dict[str, Api[State]] = {}
        self.aliases: dict[str, Api[State]] = {}
        """By other names that tasks may bind them by."""

    @cached_property
    def shown(self) -> Mapping[str, Table[Any]]:
        """The tables that people need to see, without their records."""
        return self.state_type().shown

    @property
    def example(self) -> dict[str, Any]:
        """A persona's data to start from: ``<app>.json`` beside the module of its state."""
        beside = Path(inspect.getfile(self.state_type)).with_name(f"{self.name}.json")
        example: dict[str, Any] = json.loads(beside.read_bytes())
        return example

    def new_state(self, data: Mapping[str, Any]) -> State:
        """Raises AppDataError."""
        state = self.state_type()
        state.load(data)
        return state

    def api(
        self,
        name: str = "",
        about: str = "",
        takes: Parameters | None = None,
        *,
        login: bool = True,
        page: int = 0,
        alias: str = "",
        **how: Any,
    ) -> Callable[[Function], Function]:
        """Declare a function as an API. Its first parameter is the Call; the others are the tool's arguments, unless
        these are what it ``takes``. Without ``name`` and ``about``, its own name and docstring are the API's.

        ``page``: it gives a list, of which callers get so many at a time if they do not say otherwise. ``how``: further
        fields of ``Api``."""

        def declare(function: Function) -> Function:
            full = f"{self.name}__{name or function.__name__}"
            text = about or inspect.cleandoc(function.__doc__ or "")
            parameters = partial(parameters_of, function) if takes is None else partial(dict, takes)
            called: Callable[..., Any] = partial(_page_of, function) if page else function
            offered = partial(_with_page, parameters, page) if page else parameters
            self.apis[full] = Api(full, text, called, login, offered, **how)
            if alias:
                self.aliases[f"{self.name}__{alias}"] = self.apis[full]
            return function

        return declare


def account_of(state: AppState, now: datetime, access_token: str) -> Account:
    """Raises UnauthorizedError."""
    token = state.tokens.find(access_token)
    if token is None:
        raise UnauthorizedError("You are not logged in: the access_token is not valid. Log in to get one.")
    if token.expires_at <= now.strftime(STAMP):
        raise UnauthorizedError("The access_token has expired. Log in again.")
    return state.accounts.get(token.username)


def _page_of(function: Callable[..., Any], call: Call[Any], *, page_index: int, page_limit: int, **given: Any) -> Page:
    return paginate(function(call, **given), page_index, page_limit)


def _with_page(parameters: Callable[[], Parameters], size: int) -> Parameters:
    return {**parameters(), "page_index": (PageIndex, 0), "page_limit": (PageLimit, size)}


def parameters_of(function: Callable[..., Any]) -> Parameters:
    hints = get_type_hints(function, include_extras=True)
    return {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]
    }


def error_response(error: AppError) -> dict[str, Any]:
    return {"message": str(error), "status": error.status}
