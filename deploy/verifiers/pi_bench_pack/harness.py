"""The engine plays the episode; only the model under test is asked through verifiers."""

from __future__ import annotations

import os

import verifiers.v1 as vf

from pi_bench_pack.playing import KEY, REPORT, EpisodeData, play


class PackHarnessConfig(vf.HarnessConfig):
    user: str = ""
    """The model that plays the user, as `pibench run --user` names it."""
    judge: str = ""
    """Likewise, the judge."""
    keys: str = "OPENAI_API_KEY"
    """Variables that hold the keys of user and judge, with commas between."""
    kind: str = "react"
    """Of agent."""


class PackHarness(vf.Harness[PackHarnessConfig]):
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False  # tools run in the engine's own sandbox

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        episode = EpisodeData.model_validate(data.model_dump())
        seats = ["--model", f"litellm:{ctx.model}@{endpoint}", "--agent", self.config.kind]
        seats += ["--user", self.config.user, "--judge", self.config.judge]
        keys = {name: os.environ[name] for name in self.config.keys.split(",") if name in os.environ}
        trace.info[REPORT] = None
        done, trace.info[REPORT] = await play(
            episode, runtime, seats, {**self.config.resolved_env, **keys, KEY: secret}
        )
        return done
