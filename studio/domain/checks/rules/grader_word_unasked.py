import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.words import content_words

MIN_CHARACTERS = 3
"""Minimum characters; shorter text is a symbol, not a word."""
ASKS = re.compile(
    r"\b(?:please|must|should|needs?|wants?|requires?|include|ensure|sure|could|can|would|let|only|exactly|at least"
    r"|do not|don't|never|always|create|write|draft|send|make|prepare|add|put|give|tell|find|book|set|keep|use)\b|[?:]",
    re.IGNORECASE,
)
FIX = "Ask for it in an intent, the request or a file, or accept other wording."


@rule("grader-word-unasked", "warning", across_tasks=True)
def grader_word_unasked(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script requires only text that something asks for; of alternatives, one is enough. A hint if the text is
    mentioned but, unlike the others required with it, not asked for. Silent if a file of the task cannot be read here.
    """
    script = script_of(task, context)
    if script is None or not script.reading.demands or any(file.sha256 not in context.texts for file in task.assets):
        return
    known_vocabulary, asked_vocabulary = (
        _Vocabulary(_readable_texts(task, context)),
        _Vocabulary(_asking_texts(task, context)),
    )
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for demand in script.reading.demands:
        if all(_is_word(word) for word in demand.any_of):
            groups[demand.line].append(demand.any_of)
    seen = set()
    for line, group in groups.items():
        asked = [texts for texts in group if any(map(asked_vocabulary.has, texts))]
        for texts in group:
            if texts in seen or texts in asked:
                continue
            wanted = f"“{script.name}” requires {' or '.join(quote(text) for text in texts[:3])} (line {line})"
            if not any(map(known_vocabulary.has, texts)):
                seen.add(texts)
                message = f"{wanted}, which nothing in the task or before it asks for."
                yield Flaw("grader_script", message, FIX, passage=texts[0])
            elif len(texts) == 1 and len(group) > 2 and len(asked) == len(group) - 1:
                seen.add(texts)
                message = (
                    f"{wanted}, which is mentioned but not asked for, as the other words are that it requires there."
                )
                yield Flaw("grader_script", message, FIX, passage=texts[0], severity="hint")


def _is_word(text: str) -> bool:
    return sum(letter.isalnum() for letter in text) >= MIN_CHARACTERS and any(letter.isalpha() for letter in text)


def _asking_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """Of the request, only the sentences that ask for something."""
    yield from (sentence for sentence in re.split(r"(?<=[.!?\n])\s+", task.initial_request) if ASKS.search(sentence))
    yield from (intent.content for intent in task.intents)
    yield from (item.criterion for item in task.checklist)
    yield from (*task.expected_paths, *task.files_read, str(task.trigger.payload))
    for file in task.assets:
        yield from (file.path, context.texts.get(file.sha256, ""))


def _readable_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    persona = context.episode.persona
    for other in (task, *context.earlier(task)):
        yield from (
            established_text(other),
            visible_text(other, context),
            *(file.path for file in other.assets),
            *other.tools,
        )
    yield from (persona.role_text, persona.occupation, persona.routines, persona.working_style)
    yield from (str(persona.preferences), str(persona.long_term_goals))


class _Vocabulary:
    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.text = " ".join("\n".join(texts).casefold().split())
        self.keys = {word.key for text in texts for word in content_words(text)}

    def has(self, text: str) -> bool:
        if " ".join(text.casefold().split()) in self.text:
            return True
        wanted = [word for word in content_words(text) if word.kind != "file"]
        return bool(wanted) and all(word.key in self.keys or word.text.casefold() in self.text for word in wanted)
