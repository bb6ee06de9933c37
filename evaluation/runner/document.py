"""``run.json``: what was run, as results and the bundles made of them say it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from evaluation.llm import Endpoint
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.versions import ProtocolName, Terms
from evaluation.protocol.voice import UserStyle
from studio.domain.archive import why_unsafe

MAX_RUNS = 20


def _time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _address(text: str) -> str:
    urlsplit(text)
    return text


def _folder(name: str) -> str:
    if why := why_unsafe(name):
        raise ValueError(why)
    return name


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class PackNamed(_Part):
    name: str
    version: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class PromptUsed(_Part):
    version: str
    sha256: str


class AgentUsed(_Part):
    kind: str
    params: dict[str, str]

    def named(self, model: str) -> str:
        """As tables name it."""
        return model if self.kind == "react" and not self.params else f"{model} · {self.kind}"


class ModelUsed(_Part):
    """Never a key, only the name of the variable that holds it."""

    name: str = Field(min_length=1)
    base_url: Annotated[str, AfterValidator(_address)]
    model: str
    api: str
    dialect: str
    effort: str
    params: dict[str, Any]
    key_env: str
    prices: dict[str, str | None]
    scripted: bool

    @classmethod
    def of(cls, endpoint: Endpoint) -> ModelUsed:
        known = {name: getattr(endpoint, name) for name in cls.model_fields}
        prices = {name: None if each is None else str(each) for name, each in asdict(endpoint.prices).items()}
        return cls(**known | {"prices": prices})


class ModelsUsed(_Part):
    agent: ModelUsed
    user_model: ModelUsed
    judge: ModelUsed


class PlannedSession(_Part):
    persona: str
    run: int = Field(ge=1, le=MAX_RUNS)
    chain: int = Field(ge=1, le=100_000)
    """Sessions of one chain share a workspace, and run in order."""
    position: int = Field(ge=1, le=100_000)
    """In the episode, from 1."""
    task: str
    folder: Annotated[str, AfterValidator(_folder)]
    """Below the results."""

    @property
    def name(self) -> str:
        return f"{self.persona} · {self.task} · run {self.run}"


class RunDocument(_Part):
    results_version: Literal[1] = 1
    pibench: str
    started: Annotated[str, AfterValidator(_time)]
    pack: PackNamed
    protocol: ProtocolName
    agent_loop: int = Field(ge=1)
    prompts: dict[str, PromptUsed]
    user_style: UserStyle
    mode: Literal[PilotMode.EPISODE, PilotMode.GROUPS]
    runs: int = Field(ge=1, le=MAX_RUNS)
    agent: AgentUsed
    models: ModelsUsed
    scripted: bool
    agent_judges_itself: bool
    limits: dict[str, int | float]
    budgets: dict[str, dict[str, int | float]]
    splits: dict[str, int]
    """How many tasks of each run."""
    sessions: tuple[PlannedSession, ...] = Field(min_length=1)

    @property
    def terms(self) -> Terms:
        return Terms(self.protocol, self.agent_loop)
