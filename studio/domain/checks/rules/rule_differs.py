import re
from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import file_mentions
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec
from studio.domain.text.clauses import quoted
from studio.domain.text.prose import is_negative
from studio.domain.text.requirements import requirements

WITHOUT_TEXT = ("tool_called", "record_exists", "record_gone", "nothing_else_changed")
NEGATIVE_KINDS = ("file_lacks", "reply_lacks")
NUMBER_AND_UNIT = re.compile(r"(\d[\d.,:]*\d|\d)\s?([^\W\d_]+|[%€$£])")


@rule("rule-differs", "warning")
def rule_differs(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The rule decides, and people read the criterion: after one of them was changed, they may ask for different
    things."""
    for position, item in enumerate(task.checklist, 1):
        if item.grader == "rule" and item.rule and item.criterion.strip() and (why := _difference(item, item.rule)):
            yield Flaw("checklist", why, "Change the rule or the criterion, or let a judge decide.", position)


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
