from collections.abc import Collection, Iterator

from studio.domain.checks.disagreement import find_disagreement
from studio.domain.checks.facts import facts
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import opening_text
from studio.domain.evidence_map import script_keys
from studio.domain.task import TaskSpec
from studio.domain.text.prose import without_data

PROSE = (".md", ".txt", ".eml", ".html")
"""Only files of sentences: two rows of a table differ without contradicting each other."""
LONGEST = 20_000


@rule("contradiction", "warning")
def contradiction(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two values for one thing in request, intents, checklist, files or script descriptions: an agent that follows one
    fails by the other."""
    request = without_data(opening_text(task)[:LONGEST])
    intents = [intent.content[:2_000] for intent in task.intents]
    files = [
        (f"“{file.path}”", without_data(text[:LONGEST]))
        for file in task.assets
        if file.path.casefold().endswith(PROSE) and (text := context.texts.get(file.sha256))
    ]
    before = [("The request", request), *files]
    for position, text in enumerate(intents, 1):
        yield from _flaws("intents", position, text, before)
    agreed = {(fact.kind, fact.value) for text in intents for fact in facts(text)}
    before += [(f"Intent {position}", text) for position, text in enumerate(intents, 1)]
    for position, item in enumerate(task.checklist, 1):
        text = item.criterion[:2_000]
        if not _agrees(text, agreed):
            yield from _flaws("checklist", position, text, before)
    for key in script_keys(task):
        if not _agrees(key.about[:2_000], agreed):
            for flaw in _flaws("grader_script", None, key.about[:2_000], before):
                yield Flaw(flaw.field, f"What the script checks as “{key.name}”: {flaw.message}", flaw.fix)


def _agrees(text: str, agreed: Collection[tuple[str, str]]) -> bool:
    """Whether all facts of the text are in an intent, where a contradiction is reported already."""
    text_facts = facts(text)
    return bool(text_facts) and all((fact.kind, fact.value) in agreed for fact in text_facts)


def _flaws(field: str, position: int | None, text: str, others: list[tuple[str, str]]) -> Iterator[Flaw]:
    for name, other in others:
        if conflict := find_disagreement(text, other, of_a_file=name.startswith("“")):
            yield Flaw(
                field,
                f"{name} says something else: {quote(conflict.theirs)}.",
                "Make the two consistent.",
                position,
                passage=conflict.mine,
            )
            return
