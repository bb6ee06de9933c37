import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

VOCABULARY = re.compile(
    r"\b(?:benchmark task|hidden intents?|ground truth|test case|evaluation (?:run|metric|criteria)|graded by"
    r"|make sure (?:that )?(?:all )?edge cases|edge cases (?:in the data(?:set)?|are handled)"
    r"|LLM judge|judge model|simulated user|task_id|rehearsal pass|initial_input|system prompt|success criteria"
    r"|(?:the|an) (?:AI )?agent (?:should|must|will|needs)|(?:the|a|our|your) (?:auto-?)?graders?"
    r"|rubrics? (?:wants?|requires?|says?|asks?|needs?|checks?|expects?|items?|scores?)"
    r"|(?:be|being|stay|act|should|must|please|can you|could you) (?:\w+ )?pro-?active(?:ly)?"
    r"|pro-?actively (?:ask|infer|identify|suggest|flag|include|mention|check|offer|complete|clarify|point|add))\b",
    re.IGNORECASE,
)


@rule("request-benchmark-words", "warning", across_tasks=True)
def request_benchmark_words(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A person who asks for help knows nothing of tests; benchmark vocabulary and ids give the game away (paper, Table
    9)."""
    if passage := _vocabulary(task.initial_request):
        yield _flaw(passage, "Nobody talks to an assistant like this at work")
    ids = {task.task_id, task.environment_id, *(other.task_id for other in context.earlier(task))}
    for name in sorted(ids, key=len, reverse=True):
        if len(name) > 5 and "_" in name and name in task.initial_request:
            yield _flaw(name, "The request contains an internal id")
            break


@cached(300_000)
def _vocabulary(request: str) -> str:
    match = VOCABULARY.search(request)
    return match[0] if match else ""


def _flaw(passage: str, why: str) -> Flaw:
    return Flaw("initial_request", f"{why}: “{passage}”.", "Rephrase it as the persona would say it.", passage=passage)
