"""A spending limit, shared by clients and threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from decimal import Decimal

from evaluation.llm.errors import BudgetExceededError
from evaluation.protocol.participants import Tokens


@dataclass
class Budget:
    """Limits on calls, tokens and cost; 0 is no limit.

    Checked before a call is sent, so the last call may exceed it. Replayed calls count too, so that a resumed session
    stops at the same point. Tokens that a service does not tell are estimated; a cost that cannot be told stops a
    budget that limits costs.
    """

    max_calls: int = 0
    max_tokens: int = 0
    max_cost: Decimal = Decimal(0)
    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    without_cost: int = 0
    """Calls whose cost is unknown."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def check(self) -> None:
        if self.max_calls and self.calls >= self.max_calls:
            raise BudgetExceededError(f"The limit of {self.max_calls} model calls is reached.")
        if self.max_tokens and self.tokens.total >= self.max_tokens:
            raise BudgetExceededError(f"The limit of {self.max_tokens} tokens is reached.")
        if self.max_cost and self.without_cost:
            raise BudgetExceededError(
                "What the model costs is unknown, so that its limit on cost cannot be kept. Enter its prices."
            )
        if self.max_cost and self.cost >= self.max_cost:
            raise BudgetExceededError(f"The cost limit of {self.max_cost} is reached.")

    def spend(self, tokens: Tokens, cost: Decimal | None) -> None:
        """``tokens``: as told or estimated."""
        with self._lock:
            self.calls += 1
            self.tokens += tokens
            self.cost += cost or 0
            self.without_cost += cost is None
