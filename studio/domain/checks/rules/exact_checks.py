import re
from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, join_with_and, quote
from studio.domain.checks.rule import CheckContext, Flaw, in_rows, rule
from studio.domain.checks.rule_proposals import Reading, describe_rule, read_criterion
from studio.domain.checks.sources import file_mentions, is_unbound
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.fixes import Fix, SetValue
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec
from studio.domain.text.clauses import quoted
from studio.domain.text.exactness import ExactForm, describe_check, exactness
from studio.domain.text.prose import is_negative
from studio.domain.text.requirements import requirements

REQUIRED_FIELDS = {
    "file_exists": ("path",),
    "file_contains": ("path", "text"),
    "file_lacks": ("path", "text"),
    "reply_contains": ("text",),
    "reply_lacks": ("text",),
    "tool_called": ("tool",),
    "record_exists": ("table",),
    "record_gone": ("table",),
    "nothing_else_changed": (),
}
PHRASES = {"path": "a file", "text": "the text to look for", "tool": "a tool", "table": "the kind of record"}


@rule("rule-incomplete", "error")
@in_rows("checklist")
def rule_incomplete(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check says what it looks at."""
    if item.grader != "rule":
        return
    if item.rule is None:
        yield Flaw("The item is graded by a rule but has none.", "Choose what to check, or let a judge grade it.")
        return
    if item.rule.kind in ("record_exists", "record_gone") and not (item.rule.arguments or item.rule.containing):
        fix = "Say at least one field, such as “title = Plan”."
        yield Flaw("Any record would meet the rule.", fix, about="fields")
    for name in REQUIRED_FIELDS[item.rule.kind]:
        if not getattr(item.rule, name).strip():
            message, fix = f"The rule does not name {PHRASES[name]}.", f"Name {PHRASES[name]}."
            yield Flaw(message, fix, about=name)


@rule("rule-tool-unbound", "warning")
@in_rows("checklist", "Add it to the persona's tools, or correct the name.")
def rule_tool_unbound(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check expects a tool that the agent cannot call. Names without “__” are the workspace's own."""
    if item.rule and is_unbound(tool := item.rule.tool, context):
        passage = tool if tool in item.criterion else ""
        yield Flaw(f"The persona has no tool “{tool}”: this check can never be met.", passage=passage)


WITHOUT_TEXT = ("tool_called", "record_exists", "record_gone", "nothing_else_changed")
NEGATIVE_KINDS = ("file_lacks", "reply_lacks")
NUMBER_AND_UNIT = re.compile(r"(\d[\d.,:]*\d|\d)\s?([^\W\d_]+|[%€$£])")


@rule("rule-differs", "warning")
@in_rows("checklist", "Change the rule or the criterion, or let a judge decide.")
def rule_differs(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The rule decides, and people read the criterion: after one of them was changed, they may ask for different
    things."""
    if item.grader == "rule" and item.rule and item.criterion.strip() and (why := _difference(item, item.rule)):
        yield Flaw(why)


def _difference(item: ChecklistItem, rule: ExactCheck) -> str:
    if rule.kind in WITHOUT_TEXT:  # what another kind of rule looked for may still stand in it
        rule = rule.model_copy(update={"path": "", "text": ""})
    criterion = item.criterion[:2_000]
    files = [match[0].rpartition("/")[2] for match in file_mentions(criterion)]
    if rule.path and files and rule.path.rpartition("/")[2] not in files:
        return f"The rule looks at {quote(rule.path, SHORT)}, the criterion speaks of {quote(files[0], SHORT)}."
    if rule.text and _plain(rule.text) not in _plain(criterion):
        texts = [span.text for span in quoted(criterion) if span.text.rpartition("/")[2] not in files]
        texts = texts or _other_amounts(criterion, rule.text)
        if texts:
            return f"The rule looks for {quote(rule.text, SHORT)}, the criterion says {quote(texts[0], SHORT)}."
    if rule.text and is_negative(_outside(criterion, rule.text)) != (rule.kind in NEGATIVE_KINDS):
        wants = "must not occur" if rule.kind in NEGATIVE_KINDS else "must occur"
        return f"By the rule, {quote(rule.text, SHORT)} {wants}; the criterion says the opposite."
    if requirements(criterion).sure > 1:
        return "The criterion asks for several things, and the rule decides one of them."
    return ""


def _other_amounts(criterion: str, text: str) -> list[str]:
    """“15 euros”, if the text is “14 euros”."""
    own = NUMBER_AND_UNIT.fullmatch(text.strip())
    if own is None:
        return []
    amounts = [match for match in NUMBER_AND_UNIT.finditer(criterion) if match[2].casefold() == own[2].casefold()]
    return [match[0] for match in amounts] if all(match[1] != own[1] for match in amounts) else []


def _outside(criterion: str, text: str) -> str:
    return re.sub(re.escape(text), " ", criterion, flags=re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def _make_rule(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    if finding.proposal is None:
        return None
    decided = f"Item {finding.item} is decided by an exact check: {describe_rule(finding.proposal)}."
    edit = SetValue(field="checklist", item=finding.item, part="rule", value=finding.proposal.to_json())
    return Fix(label="Make it a rule", effect=f"{decided} No word of it is lost.", edits=(edit,))


@rule("criterion-should-be-rule", "warning", one_click=_make_rule)
@in_rows("checklist")
def criterion_should_be_rule(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check decides the same way every time, at no cost (paper, Table 11). A rule is offered only if it
    decides the whole criterion."""
    if item.grader == "rule":
        return
    reading = read_criterion(item.criterion, task, task.tools or context.episode.persona.tools)
    exact = exactness(item.criterion)
    if reading.rule:
        fix = f"Make it a rule: {describe_rule(reading.rule)}."
    elif exact:
        fix = _instead(item, exact, reading)
    else:
        return
    is_bundle = reading.rule is None and requirements(item.criterion).several
    text = exact.texts[0] if exact else reading.covered[0]
    yield Flaw(
        "An exact check could decide part of this."
        if is_bundle or (exact and reading.rule is None and exact.kind in DECIDED_BY_RULES)
        else "An exact check could decide this; a judge is asked instead.",
        fix,
        passage=text if text in item.criterion else "",
        proposal=reading.rule,
        severity="hint" if is_bundle or (exact and not exact.sure) else "warning",
    )


DECIDED_BY_RULES = ("contains", "equals", "lacks", "exists")


def _instead(item: ChecklistItem, exact: ExactForm, reading: Reading) -> str:
    """What to do where no rule decides the whole criterion."""
    if requirements(item.criterion).several:
        return "Split it first: a rule decides one requirement."
    if exact.kind == "tool":
        return "If a tool call decides it, name the tool: “calls …”."
    if exact.kind not in DECIDED_BY_RULES:
        return f"Let a grader script decide it: {describe_check(exact)}."
    if not reading.left_over:
        return "Keep the judge: no rule says just this."
    lost = join_with_and(quote(words) for words in reading.left_over)
    decides = f"decide {join_with_and(quote(words) for words in reading.covered)} and " if reading.covered else ""
    return f"A rule would {decides}lose {lost}. Keep the judge, or take out of the criterion what does not matter."
