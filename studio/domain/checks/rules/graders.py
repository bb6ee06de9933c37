import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.graders.histories import RECIPIENT, drafts, sends
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("grader-missing", "warning")
def grader_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The checks of a missing script stay ungraded."""
    if task.grader_script and context.episode.persona.script(task.grader_script) is None:
        yield Flaw(
            "grader_script",
            f"The grader script “{task.grader_script.strip()}” is not among the persona's files.",
            "Upload it, choose another script, or select none.",
            passage=task.grader_script,
        )


@rule("grader-unreferenced", "warning", across_tasks=True)
def grader_unreferenced(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A script that no task names grades nothing. Reported at the task whose id it contains, otherwise at the first."""
    persona = context.episode.persona
    if not persona.scripts:
        return
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    named = {script.path for other in tasks if (script := persona.script(other.grader_script)) is not None}
    for script in persona.scripts:
        if script.path in named:
            continue
        owner = next((other for other in tasks if other.task_id in script.path), tasks[0])
        if owner.task_id == task.task_id:
            yield Flaw(
                "grader_script",
                f"No task names the grader script “{script.path}”.",
                "Choose it as this task's grader script, or remove it from the persona.",
                passage=script.path if script.path in task.grader_script else "",
            )


@rule("grader-syntax", "error")
def grader_syntax(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A grader script is valid Python and defines ``score``."""
    script = script_of(task, context)
    if script is None:
        return
    reading = script.reading
    if reading.problem:
        where = f"line {reading.line} of “{script.name}”" if reading.line else f"“{script.name}”"
        excerpt = f": {quote(reading.line_text)}" if reading.line_text else ""
        yield Flaw(
            "grader_script",
            f"Python cannot read {where}{excerpt} ({reading.problem}).",
            "Open the script and fix that line." if reading.line else "Open the script and fix it.",
            passage=reading.line_text,
        )
    elif not reading.scores:
        yield Flaw(
            "grader_script",
            f"“{script.name}” defines no function “score”, so it grades nothing.",
            "Define score(tools_history), which returns every key with 0 or 1.",
        )


NAMED = re.compile(r"\[tools\]\s+([^\s,;]+)")


@rule("grader-no-keys", "error")
def grader_no_keys(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Given no calls, a grader script returns all its keys: the task is scored by them."""
    script = script_of(task, context)
    if script is None or script.report is None or script.reading.problem or not script.reading.scores:
        return
    if script.report.keys is None:
        yield Flaw(
            "grader_script",
            f"“{script.name}” does not report what it checks: {script.report.problem.rstrip('.')}.",
            "Have the script return each of its checks with 0 when nothing was done: score([]).",
        )


@rule("grader-key-unknown", "warning")
def grader_key_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A key that an item names as “[tools] key” is one the task's script returns, and it is not scored twice."""
    named = mentioned_keys(task)
    if not named:
        return
    script = script_of(task, context)
    keys = script.report.keys if script and script.report else None
    if script and keys is None:
        return
    for position, key, text in named:
        passage = key if key in task.checklist[position - 1].criterion else ""
        if key not in (keys or ()):
            given = f"the script has {', '.join(keys)}" if keys else "the task has no script that has any"
            yield Flaw(
                "checklist",
                f"No grader script of this task has a check “{key}”: {given}.",
                "Correct the name, or make the script return it.",
                position,
                passage=passage,
            )
        elif text == task.checklist[position - 1].criterion and text.strip() == f"[tools] {key}":
            yield Flaw(
                "checklist",
                f"The script scores “{key}” already, with weight 1: this item counts it twice.",
                "Remove the item.",
                position,
                passage=passage,
            )


def mentioned_keys(task: TaskSpec) -> list[tuple[int, str, str]]:
    return [
        (position, match[1].strip("“”\"'`."), text)
        for position, item in enumerate(task.checklist, 1)
        for text in (item.criterion, *item.evidence)
        for match in NAMED.finditer(text)
    ]


@rule("grader-key-always", "warning")
def grader_key_always(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """No key is earned whatever the agent does: by no calls, and in every other history tried."""
    script = script_of(task, context)
    if script is None or script.report is None:
        return
    for key in script.report.always:
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by doing nothing, and in each of {script.report.tried} trial runs.",
            "Make the script check what the agent has to do, or remove the key.",
            passage=key,
        )


@rule("grader-key-never", "hint")
def grader_key_never(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Every key can be earned. Silent about scripts that parse text or fail on a history, because the histories are too
    simple to earn their keys."""
    script = script_of(task, context)
    if script is None or script.report is None or script.report.failed or script.reading.parses:
        return
    for key in script.report.never:
        yield Flaw(
            "grader_script",
            f"None of {script.report.tried} trial runs, made of the script's own words and tools, earned “{key}”.",
            "Run the script on an example that should earn it, and see which line is not reached.",
            passage=key,
        )


SENT = re.compile(r"(?:^|[_\W])(?:sent|sends?|emailed|mailed|notified|recipients?|messaged|texted)(?:[_\W]|$)", re.I)


@rule("grader-accepts-draft", "warning")
def grader_accepts_draft(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A draft, or a message to the wrong person, must not pass for a message that was sent."""
    script = script_of(task, context)
    if script is None:
        return
    reading, report = script.reading, script.report
    drafted = {key for key in report.by_draft if SENT.search(key)} if report else set()
    for key in sorted(drafted):
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by a draft that is never sent.",
            "Count only the tools that send; a draft counts once it is sent.",
            passage=key,
        )
    strangers = [key for key in report.by_anyone if SENT.search(key) and key not in drafted] if report else []
    for key in strangers:
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by a message to anyone.",
            "Check the recipient, for sent drafts too.",
            passage=key,
        )
    if drafted or strangers:
        return
    sending = [tool for tool in reading.tool_names if sends(tool) and not drafts(tool)]
    if sending and not any(RECIPIENT.search(name) for name in reading.arguments):
        yield Flaw(
            "grader_script",
            f"“{script.name}” looks at messages sent with “{sending[0]}” and never at who gets them.",
            "Check that the recipient is the intended one.",
            passage=sending[0],
        )


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
