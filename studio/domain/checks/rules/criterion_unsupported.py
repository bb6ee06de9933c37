import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.facts import facts
from studio.domain.checks.limits import limits
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_texts, file_mentions, opening_text, profile_text
from studio.domain.task import TaskSpec

HARD = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w|\b\d{5,}\b|(?<![\d-])\d{3,}[- ]\d{3,}[- ]?\d*\b")
BETWEEN = re.compile(
    r"\bbetween (?P<low>\d[\d,]*) and \d[\d,]* (?:words?|characters?|pages?|slides?|sentences?|lines?)\b", re.I
)
AMOUNT = re.compile(
    r"(?:\b(?:RMB|EUR|USD|GBP|CHF|CNY)|[€£$¥]) ?(?P<sum>\d[\d,]*(?:\.\d+)?)(?! ?(?:million|thousand|billion|k\b))"
)
TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".json")
REFERENCE_DIGITS = 7
"""A number with at least so many digits is a reference; a shorter one may be computed from a table."""
ELSEWHERE = re.compile(r"\b(?:internet|web|online|search|look up|research|current|latest|news|browse)\b", re.IGNORECASE)


@rule("criterion-unsupported", "hint", across_tasks=True)
def criterion_unsupported(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A number, limit, sum or address that a criterion demands must be known from request, intents, files or earlier
    sessions. Silent if the agent may learn it from tools, the web or a file that cannot be read here."""
    wanted = [(n, value) for n, item in enumerate(task.checklist, 1) for value in _demanded_values(item.criterion)]
    if not wanted:
        return
    earlier = context.earlier(task)
    files = [file for other in (*earlier, task) for file in other.assets]
    evidence_tools = task.tool_evidence or task.tools
    if (
        evidence_tools
        or ELSEWHERE.search(task.initial_request)
        or any(file.sha256 not in context.texts for file in files)
    ):
        return
    sources = [opening_text(task), profile_text(context.episode.persona)]
    sources += [intent.content for intent in task.intents]
    established = context.once(established_texts)
    sources += [established[other.task_id] for other in earlier]
    sources += [context.texts[file.sha256] for file in files]
    paths = [*(file.path for file in files), *(match[0] for match in file_mentions(task.initial_request))]
    may_be_computed = any(path.casefold().endswith(TABLES) for path in paths)
    readable = [_normalized(source) for source in sources]
    for position, value in wanted:
        plain = _normalized(value)
        if any(plain in source for source in readable) or (
            may_be_computed and (AMOUNT.search(value) or (value.isdigit() and len(value) < REFERENCE_DIGITS))
        ):
            continue
        numbers = _numbers(value)
        if any(not numbers.isdisjoint(_numbers(source)) for source in sources):
            continue
        yield Flaw(
            "checklist",
            f"Nothing the agent can know has {quote(value)}.",
            "State it in an intent, a file or an earlier task, or accept other wording.",
            position,
            passage=value,
        )


@cached(1_000_000)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(fact.value for fact in facts(text[:40_000]) if fact.kind == "number")


@cached(300_000)
def _demanded_values(criterion: str) -> tuple[str, ...]:
    criterion = criterion[:2_000]
    values = [match[0] for match in HARD.finditer(criterion)]
    values += [limit.span.text for limit in limits(criterion) if any(map(str.isdigit, limit.span.text))]
    values += [match[0] for pattern in (BETWEEN, AMOUNT) for match in pattern.finditer(criterion)]
    return tuple(dict.fromkeys(values))


@cached(4_000_000)
def _normalized(text: str) -> str:
    text = re.sub(r"(?<=\d)[,'’ ](?=\d{3}\b)", "", text.casefold())
    return " ".join(re.sub(r"[^\w@.]+", " ", text).split()).strip(" .")
