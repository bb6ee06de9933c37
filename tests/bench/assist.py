"""Tokens per proposal: prompt and scripted answer, by kind, over every task of a persona.

    .venv/bin/python -m tests.bench.assist FOLDER

FOLDER is one persona in the format of π-Bench. A token counts as four characters; nothing is sent or stored.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

from evaluation.assistance.answers import read_answer
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.prompts import build_prompt
from evaluation.protocol.answers import UnusableAnswerError
from evaluation.protocol.assistance import KINDS, Kind
from evaluation.scripted.assistance import propose, read_assistance_prompt
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from tests.bench.checks import read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    episode, texts = read(folder.parent, folder.name)
    print(f"{folder.name}: {len(episode.tasks)} tasks; tokens asked and answered, median and most")
    for kind in KINDS:
        measured = [row for task in episode.tasks if (row := _measure(kind, task, episode, texts))]
        if measured:
            asked, answered = [row[0] for row in measured], [row[1] for row in measured]
            usable = sum(row[2] for row in measured)
            print(
                f"{kind:10} n={len(measured):3}  asked {median(asked):6.0f} {max(asked):6}  "
                f"answered {median(answered):5.0f} {max(answered):5}  usable {usable}"
            )


def _measure(kind: Kind, task: TaskSpec, episode: EpisodeSpec, texts: dict[str, str]) -> tuple[int, int, bool] | None:
    material = Material(task, episode.persona, {file.path: texts.get(file.sha256, "") for file in task.assets})
    request = _request_for(kind, task)
    if request is None:
        return None
    prompt = build_prompt(request, material)
    given = read_assistance_prompt(prompt.user)
    assert given is not None
    answer = propose(given)
    try:
        read_answer(request, material, answer)
    except UnusableAnswerError:
        usable = False
    else:
        usable = True
    return (len(prompt.system) + len(prompt.user)) // 4, len(answer) // 4, usable


def _request_for(kind: Kind, task: TaskSpec) -> ProposalRequest | None:
    if kind in ("split", "rule"):
        longest = max(task.checklist, key=lambda item: len(item.criterion), default=None)
        return ProposalRequest(kind, "checklist", uid=longest.uid) if longest else None
    if kind == "checklist":
        text = task.reference_workflow or task.initial_request
        return ProposalRequest(kind, "checklist", reference="the reference workflow", reference_text=text)
    if kind == "translate":
        return ProposalRequest(kind, "task", language="German")
    return ProposalRequest(kind, "intents" if kind == "intents" else "initial_request") if task.intents else None


if __name__ == "__main__":
    main()
