"""Model of the results of a benchmark, for their JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from studio.dev.pibench_documents import Closed, Sha256

Share = Annotated[float, Field(ge=0, le=1)]
Scoring = Literal["compat", "strict"]


class ResultEstimate(Closed):
    mean: Share | None
    sd: float | None = Field(description="Standard deviation over runs, n - 1; null for a single run.")
    low: Share | None = Field(description="Lower end of the 95 % interval; null where it cannot be known.")
    high: Share | None
    n: int = Field(description="Scored sessions behind it.")


class ResultModel(Closed):
    name: str
    model: str
    effort: str = Field(description="Of reasoning; empty: the service's default.")
    learned: dict[str, Any] = Field(description="What the service refused by name, and was asked without.")
    params: dict[str, Any]


class ResultJudging(Closed):
    round: int
    purpose: str
    protocol: Literal["paper", "release"] = Field(description="What the judge saw.")
    judge: dict[str, Any]
    prompts: dict[str, Any] = Field(description="By name, with version and sha256.")
    samples: int
    rules: dict[Scoring, dict[str, str]] = Field(description="Credit rules.")


class ResultTask(Closed):
    persona: str
    task: str
    revision: int
    sha256: Sha256 = Field(description="Content hash of the revision's TaskSpec.")


class ResultPilot(Closed):
    number: int
    label: str = Field(description="The agent's name in the tables.")
    kind: str = Field(description="Of agent: a built-in one, an endpoint, a command, …")
    params: dict[str, Any] = Field(description="Of that kind of agent.")
    protocol: Literal["paper", "release"] = Field(description="What user and judges saw (docs/pibench.md).")
    agent_loop: int = Field(description="Version of the agent's loop.")
    mode: str = Field(description="What it ran: whole episodes, groups, one task, an ablation, changed tasks.")
    state: str
    scripted: bool = Field(description="A scripted model took part: never evidence.")
    drafts: bool = Field(description="Some of its tasks were not approved when it started.")
    runs: int
    limits: dict[str, float] = Field(description="Per session.")
    prompts: dict[str, Any] | None
    judging: ResultJudging
    started: str
    finished: str | None
    agent: ResultModel
    user_model: ResultModel
    judge: ResultModel
    tasks: list[ResultTask]


class ResultAgent(Closed):
    agent: str
    scoring: Scoring
    proc: ResultEstimate
    comp: ResultEstimate
    personas: dict[str, dict[Literal["proc", "comp"], ResultEstimate]]
    scripted: bool
    runs: int
    sessions: int
    scored: int
    failed: int = Field(description="By the agent: 0 in strict, left out in compat.")
    missing: int = Field(description="Without a score for reasons of our own.")
    blocked: int = Field(description="Their user could not go on: a defect of the task is suspected.")
    turns: float
    tokens: int
    cost: float = Field(description="US dollars.")
    unpriced: int = Field(description="Calls of unknown cost.")


class ResultModelAnswers(Closed):
    agent: str
    answered_by: list[dict[str, str]] = Field(
        description="What answered, as the services say: model, fingerprint, provider, quantisation."
    )
    calls: int = Field(description="Answered.")
    untold: int = Field(description="Answered calls of which the service did not tell what they used.")
    prompt_tokens: int | None = Field(description="Of the others, as all tokens. Null: no service told.")
    cached_tokens: int | None
    cache_written_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cut: int = Field(description="Answers cut off at the limit of length.")
    filtered: int = Field(description="Requests or answers that the service's filter held back.")
    refused: int = Field(description="By the model: its answer.")
    empty: int = Field(description="Answers with neither words nor tool calls.")
    empty_turns: int = Field(description="Turns in which the agent said nothing, though it was asked again.")
    too_long: int = Field(description="Requests beyond the model's context.")
    invalid_calls: int = Field(description="Tool calls whose arguments are no JSON object.")


class ResultStatuses(Closed):
    agent: str
    completed: int
    inferred: int
    provided: int


class ResultCategory(Closed):
    category: str
    name: str
    agent: str
    scoring: Scoring
    tasks: int
    proc: ResultEstimate
    comp: ResultEstimate


class ResultSession(Closed):
    session: int
    pilot: int
    run: int
    agent: str
    persona: str
    task: str
    outcome: Literal["finished", "failed", "missing"]
    blocked: bool = Field(description="Its user could not go on: a defect of the task is suspected.")
    setup: bool = Field(description="A setup task is not scored on its own.")
    group: str | None
    weight: int | None
    proc: dict[Scoring, Share | None]
    comp: dict[Scoring, Share | None]
    intents: int
    covered: int
    statuses: dict[str, int]
    turns: int
    tokens: int
    cost: float
    category: str
    task_type: str
    trigger: str
    difficulty: str
    scope: str
    tools: list[str]
    """Apps whose tools the task names."""
    tag: list[str]


class ResultsOrigin(Closed):
    schema_: Literal["pi-bench-studio/results/1"] = Field(alias="schema")
    studio: str = Field(description="Version of the studio.")
    benchmark: str
    terms: list[str] = Field(description="Protocol and version of the agent's loop; one entry where they are ranked.")
    scorings: list[Scoring] = Field(description="In which all pilots are scored.")
    pilots: list[ResultPilot]
    intervals: str = Field(description="How the 95 % intervals are computed.")


class ResultsDocument(ResultsOrigin):
    leaderboard: list[ResultAgent]
    models: list[ResultModelAnswers]
    statuses: list[ResultStatuses]
    categories: list[ResultCategory]
    breakdowns: dict[str, list[dict[str, Any]]]
    sessions: list[ResultSession]


class FigureColumn(Closed):
    key: str
    heading: str
    unit: Literal["text", "percent", "points", "number", "count", "probability"] = Field(
        description="Percent and points are shares between -1 and 1."
    )


class FigureValues(Closed):
    name: str
    title: str
    columns: list[FigureColumn]
    rows: list[dict[str, Any]] = Field(
        description="Values by column; an interval stands under `<key>_low` and `<key>_high`."
    )
    facts: dict[str, Any] = {}


class FigureDocument(ResultsOrigin):
    scoring: Scoring
    figure: FigureValues
