"""What the models of agents did, call by call: who answered, how answers ended, and what was cached or thought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from evaluation.models import ModelCall, Turn
from evaluation.models.calls import COUNTED

ENDINGS = ("cut", "filtered", "refused", "empty", "too_long")
"""Of calls, as ``ModelCall.ending``; others are answers as any."""


@dataclass(frozen=True)
class ModelAnswers:
    answered_by: Sequence[Mapping[str, str]] = ()
    """What answered, as the services say: model, fingerprint, provider, quantisation."""
    calls: int = 0
    """Answered."""
    untold: int = 0
    """Answered calls of which the service did not tell what they used."""
    prompt_tokens: int | None = None
    """Of the others, as all tokens; None: no service told."""
    cached_tokens: int | None = None
    cache_written_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cut: int = 0
    """Cut off at the limit of length."""
    filtered: int = 0
    """Held back by the service's filter, the request or the answer."""
    refused: int = 0
    """By the model: its answer."""
    empty: int = 0
    """Neither words nor tool calls, perhaps thoughts."""
    empty_turns: int = 0
    """Turns in which the agent said nothing."""
    too_long: int = 0
    """Requests beyond the model's context."""
    invalid_calls: int = 0
    """Tool calls whose arguments are no JSON object."""

    @property
    def cached_share(self) -> float | None:
        return _share(self.cached_tokens, self.prompt_tokens)

    @property
    def reasoning_share(self) -> float | None:
        return _share(self.reasoning_tokens, self.completion_tokens)

    @property
    def names(self) -> list[str]:
        return sorted(map(name_of, self.answered_by))


def name_of(who: Mapping[str, str]) -> str:
    return " · ".join(who[part] for part in ("model", "fingerprint", "provider", "quantisation") if who.get(part))


def model_answers(sessions: Iterable[int]) -> ModelAnswers:
    """By the agents' models in ``sessions``, as they ran."""
    sessions = list(sessions)
    rows = ModelCall.objects.filter(session__in=sessions, purpose="agent").order_by()
    answered = rows.filter(answered=True)
    who = answered.exclude(answered_by={}).values_list("answered_by", flat=True).distinct()
    return ModelAnswers(
        sorted(who, key=str),
        calls=answered.count(),
        untold=answered.filter(Q(prompt_tokens=None) | Q(completion_tokens=None)).count(),
        **answered.aggregate(**{name: Sum(name) for name in COUNTED}),
        **rows.aggregate(**{ending: Count("pk", Q(ending=ending)) for ending in ENDINGS}),
        empty_turns=Turn.objects.filter(session__in=sessions, empty=True).count(),
        invalid_calls=answered.aggregate(all=Coalesce(Sum("invalid_calls"), 0))["all"],
    )


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole
