from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.checks.sources import told
from studio.spec.task import TaskSpec
from studio.spec.text.coverage import anywhere, coverage
from studio.spec.text.words import Word, content


@rule("title-elsewhere", "hint")
def title_elsewhere(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A title none of whose words occurs in its task was left over from another one, or says nothing."""
    title = content(task.title)
    if len(title) < 2 or len(content(task.initial_request[:5_000])) < 5:
        return
    if anywhere(task.title, f"{task.initial_request[:5_000]}\n{task.description}") > 0.35:
        return
    rest = told(task).removeprefix(task.title)[:20_000]
    if coverage(task.title, f"{rest}\n{task.description}").near > 0.35:
        return
    tasks = (*scene.episode.tasks, *scene.episode.unplaced)
    others = [other for other in tasks if other.task_id != task.task_id]
    other = next((each for each in others if _fits(title, told(each)[:20_000])), None)
    yield Flaw(
        "title",
        f"The title fits “{other.task_id}” better than this task." if other else "The title has no word of its task.",
        "Say in a few words what the user wants here.",
        words=task.title,
        other=other.task_id if other else "",
        severity="warning" if other else "hint",
    )


def _fits(title: tuple[Word, ...], text: str) -> bool:
    keys = {word.key for word in content(text)}
    return all(word.key in keys for word in title)
