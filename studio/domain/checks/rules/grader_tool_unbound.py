from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("grader-tool-unbound", "warning")
def grader_tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script looks for calls of tools that the agent has. Names without “__” are the workspace's own."""
    script = script_of(task, context)
    if script is None:
        return
    bound = {bare_tool_name(tool) for tool in (task.tools or context.episode.persona.tools)}
    reported: set[str] = set()
    for test in script.reading.tools:
        names = dict.fromkeys(bare_tool_name(name) for name in test.any_of)
        missing = [name for name in names if "__" in name and name not in bound]
        if len(missing) < len(names) or reported.issuperset(missing):
            continue
        reported.update(missing)
        many = len(missing) > 1
        yield Flaw(
            "grader_script",
            f"“{script.name}” waits for {' or '.join(f'“{name}”' for name in missing)} (line {test.line}), "
            f"which the agent of this task does not have.",
            f"Add {'one of them' if many else 'it'} to the tools, or correct the name in the script.",
            passage=missing[0],
        )
