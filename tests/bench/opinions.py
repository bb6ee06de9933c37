"""Second opinions for the bench of the checks, from a model that the environment names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from evaluation.llm import Budget, Endpoint, ModelClient
from evaluation.llm.policy import ANYWHERE
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import batches, messages_for, questions_of, read_opinions, schema_for
from studio.domain.episode import EpisodeSpec

MAX_TOKENS = 2_000_000


class SecondOpinions:
    """``STUDIO_BENCH_URL`` is the address, ``STUDIO_BENCH_KEY_ENV`` the variable of the key, if there is one."""

    def __init__(self, model: str) -> None:
        url = os.environ.get("STUDIO_BENCH_URL", "")
        if not url:
            raise SystemExit("Name the model's address in STUDIO_BENCH_URL.")
        endpoint = Endpoint(model, url, model, key_env=os.environ.get("STUDIO_BENCH_KEY_ENV", ""), policy=ANYWHERE)
        self.client = ModelClient(endpoint, budget=Budget(max_tokens=MAX_TOKENS))
        self.known: dict[str, Opinion] = {}

    def about(self, episodes: Iterable[EpisodeSpec]) -> dict[str, Opinion]:
        questions = [question for episode in episodes for question in questions_of(episode)]
        for batch in batches(question for question in questions if question.key not in self.known):
            parse = partial(read_opinions, batch)
            self.known |= self.client.ask_json(messages_for(batch), "opinions", schema_for(batch), parse)[0]
        return self.known
