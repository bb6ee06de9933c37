"""Reads criteria that an exact check decides as a whole.

Each word of a criterion has a part in a rule or is left over. A rule is offered only if no word is left over and the
parts stand in an order that says what the rule decides, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from studio.domain.checks.quotes import quote
from studio.domain.checks.sources import FILE_NAME
from studio.domain.task import ExactCheck, RuleKind, TaskSpec
from studio.domain.text.clauses import Span, quoted

PARTS = {
    word: part
    for part, words in {
        "f": "file document",
        "r": "reply answer response",
        "w": "agent assistant",
        "c": "contain contains include includes mention mentions state states say says name names cite cites give gives"
        " show shows",
        "p": "appear appears occur occurs contained included mentioned stated cited given shown",
        "e": "exist exists there present",
        "m": "create creates created save saves saved write writes written store stores stored produce produces"
        " produced deliver delivers delivered",
        "d": "read edit change",
        "n": "not never doesn't don't isn't wasn't",
        "k": "called named",
        "u": "calls uses used invokes invoked",
        "o": "tool",
        "t": "text phrase words",
        "i": "in as on for",
        "-": "the a an is are was were be been has have must should shall does do to",
    }.items()
    for word in words.split()
}
"""What part a word can have; ``-`` and ``i`` only join others. Beside them: F a file, Q a quoted text, T a tool, s a
word of the file's name (“the minutes” of minutes.md), ? anything else."""
JOINING = "-i"
FILE = "(?:f?k?F|f|s+)"
REPLY = "w?r"
SHAPES: dict[RuleKind, str] = {
    "file_exists": "f?k?F[em]|ef?k?F|wmf?k?F|s+mif?k?F",
    "file_contains": f"{FILE}ct?Q|t?Q[pk]i{FILE}",
    "file_lacks": f"{FILE}nct?Q|t?Qn[pk]i{FILE}",
    "reply_contains": f"(?:{REPLY}|w)ct?Q|t?Q[pk]i{REPLY}",
    "reply_lacks": f"{REPLY}nct?Q|t?Qn[pk]i{REPLY}",
    "tool_called": "w[uk]o?To?|o?T[uk]|w[uk]o?To?i?[md]?f?F",
}
"""Orders of parts that say just what a rule decides."""
FILE_TOOLS = ("write_file", "edit_file", "read_file")
TEXT_FILES = (".md", ".txt", ".csv", ".tsv", ".json", ".yaml", ".yml")
"""In others a text does not stand as it is read."""
_TOKEN = re.compile(
    rf"{FILE_NAME.pattern}|[A-Za-z]\w*_\w+|\d+(?:[.,:]\d+)*|[^\W_]+(?:['’-][^\W_]+)*|[^\s\w]", re.IGNORECASE
)
_TOOL = re.compile(r"[A-Za-z]\w*_\w+")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_MARKS = "“”\"‘’'`"
_BLANK = re.compile(r"…|\.\.\.|[<\[{].*[>\]}]")
"""A quoted text that stands for others."""


@dataclass(frozen=True)
class Token:
    text: str
    part: str


@dataclass(frozen=True)
class Reading:
    """A criterion as a rule."""

    rule: ExactCheck | None
    """None: no rule decides all of it."""
    covered: tuple[str, ...]
    """What a rule could decide, neighbouring words together."""
    left_over: tuple[str, ...]
    """Words that a rule would lose."""


def read_criterion(criterion: str, task: TaskSpec, tools: tuple[str, ...] = ()) -> Reading:
    """``tools`` are those the task can call."""
    tokens = tuple(_tokens(criterion[:2_000], task, tools))
    shape = "".join(token.part for token in tokens if token.part != "-")
    kind = next((kind for kind, pattern in SHAPES.items() if re.fullmatch(pattern, shape)), None)
    rule = _rule(kind, tokens, task, tools) if kind else None
    return Reading(rule, tuple(_runs(tokens, left_over=False)), tuple(_runs(tokens, left_over=True)))


def words_lost(criterion: str, rule: ExactCheck, task: TaskSpec, tools: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Words of the criterion that stand nowhere in somebody's rule, neighbours together; none if it was read so."""
    if read_criterion(criterion, task, tools).rule == rule:
        return ()
    values = (rule.path, rule.text, rule.tool, *map(str, rule.arguments.values()))
    held = {word.casefold() for value in values for word in _WORD.findall(value)}
    negative = rule.kind in ("file_lacks", "reply_lacks")

    def is_lost(token: Token) -> bool:
        if token.part == "n":
            return not negative
        words = _WORD.findall(token.text.casefold())
        return token.part in "?FQTs" and not (words and held.issuperset(words))

    tokens = (
        Token(token.text, "?" if is_lost(token) else "-" if token.part in JOINING else "F")
        for token in _tokens(criterion[:2_000], task, tools)
    )
    return tuple(_runs(tuple(tokens), left_over=True))


def _tokens(criterion: str, task: TaskSpec, tools: tuple[str, ...]) -> Iterator[Token]:
    own_words = _words_of_file(criterion, task)
    position = 0
    for span in (*quoted(criterion), Span("", len(criterion), len(criterion))):
        for match in _TOKEN.finditer(criterion, position, span.start):
            text = match[0]
            after = criterion[match.end() :].strip()
            if text not in _MARKS and not (text == "." and not after) and not (text == ":" and after[:1] in _MARKS):
                yield Token(text, _part(text, own_words, tools))
        if span.text:
            yield Token(span.text, _part_of_quote(span.text, tools))
        position = span.end


def _words_of_file(criterion: str, task: TaskSpec) -> frozenset[str]:
    path = _path(criterion, task)
    return frozenset(re.findall(r"[^\W\d_]+", PurePosixPath(path).stem.casefold())) if path else frozenset()


def _part(text: str, own_words: frozenset[str], tools: tuple[str, ...]) -> str:
    if FILE_NAME.fullmatch(text):
        return "F"
    if _TOOL.fullmatch(text):
        return "T" if _known_tool(text, tools) else "?"
    word = text.casefold().replace("’", "'").removesuffix("'s")
    part = PARTS.get(word, "?")
    if word in own_words:
        return "s" if part == "?" else "?"  # “the answer” may be the reply or answer.md
    return part


def _part_of_quote(text: str, tools: tuple[str, ...]) -> str:
    if FILE_NAME.fullmatch(text):
        return "F"
    if _TOOL.fullmatch(text) and _known_tool(text, tools):
        return "T"
    capitals = text.isupper() and not any(letter.isdigit() for letter in text)  # which a rule does not tell from others
    return "?" if capitals or _BLANK.search(text) else "Q"


def _known_tool(name: str, tools: tuple[str, ...]) -> str | None:
    """Its full name; the workspace's own tools have no “__”."""
    named = [tool for tool in tools if name in (tool, tool.rpartition("__")[2])]
    return named[0] if len(named) == 1 else name if not named and "__" not in name else None


def _rule(kind: RuleKind, tokens: tuple[Token, ...], task: TaskSpec, tools: tuple[str, ...]) -> ExactCheck | None:
    parts = {token.part: token.text for token in tokens}
    text = parts.get("Q", "")
    if kind == "tool_called":
        tool = _known_tool(parts["T"], tools) or ""
        if "F" in parts and tool not in FILE_TOOLS:
            return None
        return ExactCheck(kind=kind, tool=tool, arguments={"path": parts["F"]} if "F" in parts else {})
    if kind in ("reply_contains", "reply_lacks"):
        in_mail = "w" not in parts and parts.get("r") != "answer" and any("mail" in tool for tool in tools)
        return None if task.tool_evidence or in_mail else ExactCheck(kind=kind, text=text)
    path = _path(parts.get("F", ""), task)
    was_there = path in {file.path for file in task.assets} and "m" in parts
    if not path or was_there or (text and not path.casefold().endswith(TEXT_FILES)):
        return None
    return ExactCheck(kind=kind, path=path, text=text)


def _path(text: str, task: TaskSpec) -> str | None:
    """The file that a text names, or else the only one that is judged; None if there is none or several."""
    named = {match[0] for match in FILE_NAME.finditer(text)}
    judged = {*task.files_read, *task.expected_paths}
    known = {*judged, *(file.path for file in task.assets)}
    paths = {path for path in known if path in named or path.rpartition("/")[2] in named} or named or judged
    return next(iter(paths)) if len(paths) == 1 else None


def _runs(tokens: tuple[Token, ...], *, left_over: bool) -> Iterator[str]:
    """Neighbouring words that are left over, or of which a rule could be made; words that only join belong to what
    follows."""
    run: list[Token] = []
    joining: list[Token] = []
    for token in (*tokens, Token("", "?" if not left_over else "F")):
        if token.part in JOINING:
            joining.append(token)
        elif (token.part == "?") == left_over:
            run += [*joining, token]
            joining = []
        else:
            if any(each.part in "?FQT" for each in run):
                yield " ".join(each.text for each in run)
            run, joining = [], []


def describe_rule(rule: ExactCheck) -> str:
    return {
        "file_exists": f"the file “{rule.path}” exists",
        "file_contains": f"“{rule.path}” contains {quote(rule.text)}",
        "file_lacks": f"“{rule.path}” does not contain {quote(rule.text)}",
        "reply_contains": f"the last reply contains {quote(rule.text)}",
        "reply_lacks": f"the last reply does not contain {quote(rule.text)}",
        "tool_called": f"the tool “{rule.tool}” was called" + _with_arguments(rule),
        "record_exists": f"a record of {rule.app}.{rule.table} is there at the end" + _with_arguments(rule),
        "record_gone": f"a record of {rule.app}.{rule.table} is gone at the end" + _with_arguments(rule),
        "nothing_else_changed": f"nothing else was changed in {rule.app or 'the apps'}",
    }[rule.kind]


def _with_arguments(rule: ExactCheck) -> str:
    exactly = (f" with {name} “{value}”" for name, value in rule.arguments.items())
    within = (f" with “{text}” in {name}" for name, text in rule.containing.items())
    return "".join((*exactly, *within))
