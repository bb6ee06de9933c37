import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, ReadableScript, in_field, in_script, rule, script_of
from studio.domain.graders.histories import RECIPIENT, drafts, sends
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("grader-missing", "warning")
@in_field("grader_script", "Upload it, choose another script, or select none.")
def grader_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The checks of a missing script stay ungraded."""
    path = task.grader_script
    if path and context.episode.persona.script(path) is None:
        yield Flaw(f"The grader script “{path.strip()}” is not among the persona's files.", passage=path)


@rule("grader-unreferenced", "warning", across_tasks=True)
@in_field("grader_script", "Choose it as this task's grader script, or remove it from the persona.")
def grader_unreferenced(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A script that no task names grades nothing. Reported at the task whose id it contains, otherwise at the first."""
    persona = context.episode.persona
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    named = {script.path for other in tasks if (script := persona.script(other.grader_script)) is not None}
    for path in (script.path for script in persona.scripts if script.path not in named):
        if task is next((other for other in tasks if other.task_id in path), tasks[0]):
            passage = path if path in task.grader_script else ""
            yield Flaw(f"No task names the grader script “{path}”.", passage=passage)


@rule("grader-syntax", "error")
@in_script("Open the script and fix it.")
def grader_syntax(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A grader script is valid Python and defines ``score``."""
    reading = script.reading
    if reading.problem:
        where, fix = f"“{script.name}”", ""
        if reading.line:
            where, fix = f"line {reading.line} of {where}", "Open the script and fix that line."
        excerpt = f": {quote(reading.line_text)}" if reading.line_text else ""
        yield Flaw(f"Python cannot read {where}{excerpt} ({reading.problem}).", fix, passage=reading.line_text)
    elif not reading.scores:
        message = f"“{script.name}” defines no function “score”, so it grades nothing."
        yield Flaw(message, "Define score(tools_history), which returns every key with 0 or 1.")


NAMED = re.compile(r"\[tools\]\s+([^\s,;]+)")


@rule("grader-no-keys", "error")
@in_script("Have the script return each of its checks with 0 when nothing was done: score([]).")
def grader_no_keys(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Given no calls, a grader script returns all its keys: the task is scored by them."""
    report = script.report
    if report and report.keys is None and script.reading.scores and not script.reading.problem:
        yield Flaw(f"“{script.name}” does not report what it checks: {report.problem.rstrip('.')}.")


@rule("grader-key-unknown", "warning")
@in_field("checklist")
def grader_key_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A key that an item names as “[tools] key” is one the task's script returns, and it is not scored twice."""
    named = mentioned_keys(task)
    script = script_of(task, context) if named else None
    keys = script.report.keys if script and script.report else None
    if script and keys is None:
        return
    for position, key, text in named:
        criterion = task.checklist[position - 1].criterion
        if key not in (keys or ()):
            given = f"the script has {', '.join(keys)}" if keys else "the task has no script that has any"
            message = f"No grader script of this task has a check “{key}”: {given}."
            fix = "Correct the name, or make the script return it."
        elif text == criterion and text.strip() == f"[tools] {key}":
            message = f"The script scores “{key}” already, with weight 1: this item counts it twice."
            fix = "Remove the item."
        else:
            continue
        yield Flaw(message, fix, item=position, passage=key if key in criterion else "")


def mentioned_keys(task: TaskSpec) -> list[tuple[int, str, str]]:
    return [
        (position, match[1].strip("“”\"'`."), text)
        for position, item in enumerate(task.checklist, 1)
        for text in (item.criterion, *item.evidence)
        for match in NAMED.finditer(text)
    ]


@rule("grader-key-always", "warning")
@in_script("Make the script check what the agent has to do, or remove the key.")
def grader_key_always(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """No key is earned whatever the agent does: by no calls, and in every other history tried."""
    if report := script.report:
        for key in report.always:
            yield Flaw(f"“{key}” is earned by doing nothing, and in each of {report.tried} trial runs.", passage=key)


@rule("grader-key-never", "hint")
@in_script("Run the script on an example that should earn it, and see which line is not reached.")
def grader_key_never(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Every key can be earned. Silent about scripts that parse text or fail on a history, because the histories are too
    simple to earn their keys."""
    report = script.report
    if report is None or report.failed or script.reading.parses:
        return
    for key in report.never:
        message = f"None of {report.tried} trial runs, made of the script's own words and tools, earned “{key}”."
        yield Flaw(message, passage=key)


SENT = re.compile(r"(?:^|[_\W])(?:sent|sends?|emailed|mailed|notified|recipients?|messaged|texted)(?:[_\W]|$)", re.I)


@rule("grader-accepts-draft", "warning")
@in_script()
def grader_accepts_draft(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A draft, or a message to the wrong person, must not pass for a message that was sent."""
    reading, report = script.reading, script.report
    drafted = {key for key in report.by_draft if SENT.search(key)} if report else set()
    for key in sorted(drafted):
        fix = "Count only the tools that send; a draft counts once it is sent."
        yield Flaw(f"“{key}” is earned by a draft that is never sent.", fix, passage=key)
    strangers = [key for key in report.by_anyone if SENT.search(key) and key not in drafted] if report else []
    for key in strangers:
        fix = "Check the recipient, for sent drafts too."
        yield Flaw(f"“{key}” is earned by a message to anyone.", fix, passage=key)
    sending = [tool for tool in reading.tool_names if sends(tool) and not drafts(tool)]
    if sending and not (drafted or strangers or any(RECIPIENT.search(name) for name in reading.arguments)):
        message = f"“{script.name}” looks at messages sent with “{sending[0]}” and never at who gets them."
        yield Flaw(message, "Check that the recipient is the intended one.", passage=sending[0])


@rule("grader-tool-unbound", "warning")
@in_script()
def grader_tool_unbound(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script looks for calls of tools that the agent has. Names without “__” are the workspace's own."""
    bound = {bare_tool_name(tool) for tool in (task.tools or context.episode.persona.tools)}
    reported: set[str] = set()
    for test in script.reading.tools:
        names = dict.fromkeys(bare_tool_name(name) for name in test.any_of)
        missing = [name for name in names if "__" in name and name not in bound]
        if len(missing) < len(names) or reported.issuperset(missing):
            continue
        reported.update(missing)
        either = " or ".join(f"“{name}”" for name in missing)
        message = f"“{script.name}” waits for {either} (line {test.line}), which the agent of this task does not have."
        which = "one of them" if len(missing) > 1 else "it"
        yield Flaw(message, f"Add {which} to the tools, or correct the name in the script.", passage=missing[0])
