import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.words import content_words

SHORTEST = 3
"""Letters; what is shorter is a mark, not a word."""
ASKS = re.compile(
    r"\b(?:please|must|should|needs?|wants?|requires?|include|ensure|sure|could|can|would|let|only|exactly|at least"
    r"|do not|don't|never|always|create|write|draft|send|make|prepare|add|put|give|tell|find|book|set|keep|use)\b|[?:]",
    re.IGNORECASE,
)
FIX = "Ask for it in an intent, the request or a file, or accept other wording."


@rule("grader-word-unasked", "warning")
def grader_word_unasked(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script requires no word that nothing asks for: not the request, an intent, the checklist, a file, the
    profile or an earlier session. Where it accepts one of several, one of them is enough. A hint where the word is
    only mentioned, while the others required with it are asked for. Silent where the task has a file that cannot be
    read here."""
    script = script_of(task, context)
    if script is None or not script.reading.demands or any(file.sha256 not in context.texts for file in task.assets):
        return
    anywhere, here = _Words(_readable(task, context)), _Words(_asked(task, context))
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for demand in script.reading.demands:
        if all(_says_something(word) for word in demand.any_of):
            groups[demand.line].append(demand.any_of)
    seen = set()
    for line, group in groups.items():
        asked = [words for words in group if any(map(here.has, words))]
        for words in group:
            if words in seen or words in asked:
                continue
            wanted = f"“{script.name}” requires {' or '.join(quote(word) for word in words[:3])} (line {line})"
            if not any(map(anywhere.has, words)):
                seen.add(words)
                message = f"{wanted}, which nothing in the task or before it asks for."
                yield Flaw("grader_script", message, FIX, words=words[0])
            elif len(words) == 1 and len(group) > 2 and len(asked) == len(group) - 1:
                seen.add(words)
                message = (
                    f"{wanted}, which is mentioned but not asked for, as the other words are that it requires there."
                )
                yield Flaw("grader_script", message, FIX, words=words[0], severity="hint")


def _says_something(words: str) -> bool:
    return sum(letter.isalnum() for letter in words) >= SHORTEST and any(letter.isalpha() for letter in words)


def _asked(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """What the task asks for: of its request, the sentences that ask."""
    yield from (sentence for sentence in re.split(r"(?<=[.!?\n])\s+", task.initial_request) if ASKS.search(sentence))
    yield from (intent.content for intent in task.intents)
    yield from (item.criterion for item in task.checklist)
    yield from (*task.expected_paths, *task.files_read, str(task.trigger.payload))
    for file in task.assets:
        yield from (file.path, context.texts.get(file.sha256, ""))


def _readable(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """What an agent of the task could have read."""
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


class _Words:
    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.text = " ".join("\n".join(texts).casefold().split())
        self.keys = {word.key for text in texts for word in content_words(text)}

    def has(self, words: str) -> bool:
        if " ".join(words.casefold().split()) in self.text:
            return True
        wanted = [word for word in content_words(words) if word.kind != "file"]
        return bool(wanted) and all(word.key in self.keys or word.text.casefold() in self.text for word in wanted)
