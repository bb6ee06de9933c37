from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import created_file_names, prerequisite_ids
from studio.domain.task import TaskSpec


@rule("asset-overwrites", "warning", across_tasks=True)
def asset_overwrites(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Assets are copied over the episode's workspace, so a later file replaces an earlier one. A hint if the session
    itself rewrites what an unrelated earlier task is judged by."""
    earlier = context.earlier(task)
    for position, file in enumerate(task.assets, 1):
        for other in earlier:
            if any(file.path == asset.path and file.sha256 != asset.sha256 for asset in other.assets):
                message = f"“{file.path}” replaces the file of the same name that “{other.task_id}” brought."
            elif file.path in _written_paths(other):
                message = f"“{file.path}” replaces what the agent writes in “{other.task_id}”."
            else:
                continue
            yield Flaw(
                "assets", message, "Rename one of the two, unless this is intended.", position, file.path, other.task_id
            )
            break
    known = prerequisite_ids(task, context)
    for field in ("expected_artifacts", "files_read"):
        for position, path in enumerate(task.expected_paths if field == "expected_artifacts" else task.files_read, 1):
            if field == "files_read" and path in task.expected_paths:
                continue
            for other in earlier:
                if (
                    other.task_id not in known
                    and path in other.files_read
                    and path in _written_paths(other) & _written_paths(task)
                ):
                    message = f"“{path}” is also what “{other.task_id}” is judged by: the later task overwrites it."
                    yield Flaw(field, message, "Rename one of the two.", position, path, other.task_id, severity="hint")
                    break


def _written_paths(task: TaskSpec) -> set[str]:
    given = {file.path for file in task.assets}
    return {*task.expected_paths, *created_file_names(task.initial_request), *(set(task.files_read) - given)}
