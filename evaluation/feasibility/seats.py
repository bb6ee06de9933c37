"""What a probe's session begins with, and what is done in its seat where no model is asked. Pure.

Nothing here reads a checklist: candidates are made without sight of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evaluation.protocol.given import GivenTurn
from evaluation.protocol.modes import earlier_needed
from evaluation.workspaces.manifests import Manifest, Read, stage_files
from studio.domain.episode import EpisodeSpec
from studio.domain.opening_message import opening_message
from studio.domain.task import TaskSpec

MAX_PASTED = 20_000
"""Characters: no judge sees more of a reply."""
QUESTIONS = """\
Before I begin, please tell me:
1. What exactly should the result contain, and what should it leave out?
2. Which file, format, structure and length do you want, and where should it be kept?
3. Who will read it, in which language, and in which tone?
4. Which names, dates, amounts and sources should I use, and which rules apply?
5. Should anything be sent, changed, deleted, booked or paid, and to whom should it go?
6. What did we agree on earlier that I should follow here?
7. What should I do where something is missing or does not fit together?
8. By when do you need it, and what should happen afterwards?"""


def task_told(name: str, task: TaskSpec, episode: EpisodeSpec) -> TaskSpec:
    """The task as a probe of this kind opens it: all that its session says is in the request, and no intent is left to
    find."""
    told = _own(task) if name == "told" else _built_on(task, episode) if name == "built-on" else ""
    request = "\n\n".join(filter(None, (task.initial_request, told)))
    return task.model_copy(update={"initial_request": request, "intents": ()})


def files_before(task: TaskSpec, episode: EpisodeSpec, solutions: Mapping[str, GivenTurn]) -> Manifest:
    """What the tasks that it builds on leave: their own files, and those of their reference ``solutions``, by task."""
    files: Manifest = {}
    for earlier in earlier_needed(task, episode):
        files = stage_files(files, episode.persona, earlier)
        if earlier.task_id in solutions:
            files = {**files, **solutions[earlier.task_id].files}
    return files


def given_turn(
    name: str, task: TaskSpec, episode: EpisodeSpec, solutions: Mapping[str, GivenTurn], read: Read
) -> GivenTurn | None:
    """None where nothing can be given: there is no reference solution."""
    if name == "reference":
        return solutions.get(task.task_id)
    if name == "other":
        return _of_another(task, episode, solutions)
    if name == "repeats":
        return GivenTurn(opening_message(task))
    if name == "pastes":
        return GivenTurn(_pasted(task, read))
    return GivenTurn({"nothing": "", "done": "Done.", "asks": QUESTIONS}[name])


def _own(task: TaskSpec) -> str:
    return _list("What I want of it:", (intent.content for intent in task.intents))


def _built_on(task: TaskSpec, episode: EpisodeSpec) -> str:
    parts = []
    for earlier in earlier_needed(task, episode):
        wanted = _list("What I wanted of it:", (intent.content for intent in earlier.intents))
        parts.append("\n\n".join(filter(None, (f"Earlier I asked you:\n\n{earlier.initial_request}", wanted))))
    return "\n\n".join(parts)


def _list(head: str, texts: Iterable[str]) -> str:
    rows = [f"- {text}" for text in texts]
    return "\n".join((head, *rows)) if rows else ""


def _pasted(task: TaskSpec, read: Read) -> str:
    contents = read([asset.sha256 for asset in task.assets])
    texts = [f"{asset.path}\n\n{contents[asset.sha256].decode('utf-8', 'replace')}" for asset in task.assets]
    return "\n\n".join(texts)[:MAX_PASTED]


def _of_another(task: TaskSpec, episode: EpisodeSpec, solutions: Mapping[str, GivenTurn]) -> GivenTurn:
    """The next task's that is solved, without its calls; else what the next one wants, said to be done."""
    others = _others(task, (*episode.tasks, *episode.unplaced))
    solved = next((solutions[other.task_id] for other in others if other.task_id in solutions), None)
    if solved is not None:
        return GivenTurn(solved.reply, files=solved.files)
    other = others[0]
    done = _list("All of it is done:", (intent.content for intent in other.intents))
    return GivenTurn("\n\n".join(filter(None, (other.initial_request, done))))


def _others(task: TaskSpec, tasks: Sequence[TaskSpec]) -> list[TaskSpec]:
    """Those after it first, then from the beginning; those that it builds on, or that build on it, last."""
    at = next((place for place, other in enumerate(tasks) if other.task_id == task.task_id), 0)
    needs = {need.task_id for need in task.depends_on}
    others = [*tasks[at + 1 :], *tasks[:at]]
    near = [
        other.task_id in needs or any(need.task_id == task.task_id for need in other.depends_on) for other in others
    ]
    return [other for _, other in sorted(zip(near, others, strict=True), key=lambda pair: pair[0])]
