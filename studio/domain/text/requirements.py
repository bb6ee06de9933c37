"""How many requirements a sentence makes, and where the next one begins."""

from __future__ import annotations

import re
from dataclasses import dataclass

from studio.domain.caching import cached
from studio.domain.text.clauses import Span, quoted, sentences
from studio.domain.text.words import content_words

TOLERANCE = re.compile(
    r"\(?(?:or\s+)?(?:substantially\s+|any\s+)?(?:similar|equivalent|comparable)\s+(?:wording"
    r"|phrasing|formulation|text|meaning|"
    r"reference|structure|terms?)[^.;)]*[.;)]*|\((?:or|e\.g\.|such as|for example|i\.e\."
    r"|accepting)[^)]*\)|,?\s+or\s+equivalent\b",
    re.IGNORECASE,
)
"""Wording that makes a judgment lenient, or explains it. It adds no requirement."""
_ASIDE = re.compile(
    r",?\s+(?:such as|e\.g\.,?|for example|for instance|including|rather than|instead of)\s[^.;]*", re.IGNORECASE
)
_VERB = (
    r"(?:(?:is|are|was|were|be|has|have|does|do|must|should|can|may|will|cannot|states?|gives?"
    r"|says?|names?|mentions?|includes?|contains?"
    r"|lists?|identif(?:y|ies)|explains?|describes?|shows?|presents?|provides?|confirms?|asks?"
    r"|requests?|ensures?|keeps?|uses?"
    r"|makes?|sends?|creates?|removes?|deletes?|reports?|returns?|adds?|avoids?|ends?|begins?"
    r"|starts?|stays?|remains?|bears?"
    r"|signs?|pays?|accrues?|covers?|notes?|recommends?|writes?|saves?|marks?|flags?|cites?"
    r"|compares?|calculates?|assigns?"
    r"|forbids?|fits?|organi[sz]es?|issued?|took|did|wrong|demand|require|concludes?|guarantees?"
    r"|links?|summari[sz]es?)\b)"
)
_SECOND_VERB = re.compile(
    rf",?\s+(?:and|but)\s+(?:also\s+|then\s+|that\s+|it\s+|they\s+|explicitly\s+|clearly\s+|immediately\s+)*{_VERB}",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(rf",\s+(?:and|but|while)\s+(?:[^\s,;]+\s+){{1,6}}?{_VERB}", re.IGNORECASE)
_ANY_VERB = re.compile(
    r",?\s+(?:and|but)\s+(?:also\s+|then\s+|it\s+|they\s+)?(?!(?:is|was|has|this|its|his|always|as|thus)\b)[a-z]{3,}(?<!s)s\s+"
    r"(?=(?:the|an?|its?|their|his|her|them|that|to|how|why|whether|when|which|what|whom?|each|all|every|any|no|both|one|two"
    r"|three|other|another|[a-z]+ing|up|out|\d+|[A-Z]\w*|[“\"'])(?:\b|(?<=\W)))"
)
"""“… and wishes them well”: the next word distinguishes a verb from a plural."""
_AND_TO = re.compile(r",?\s+and\s+(?:to\s+(?!the\b|an?\b)[a-z]+|how|why|whether|when|what|whom?|which|where)\s")
_NEW_SUBJECT = re.compile(
    rf",?\s+and\s+(?:the|an?|its|their|each|neither|none|no|it|they|all)\s+(?:[^\s,;.]+\s+){{0,5}}?(?:{_VERB}|exceeds?\b)"
)
_WHILE = re.compile(r",?\s+while\s+[a-z]+ing\s|\s+and\s+(?:free|independent|consistent|compliant|in line)\s")
_TWO_VALUES = re.compile(
    r"(?<!between )(?:\d[\d,.]*\d|\d)\s?(?P<one>[^\W\d]+|%)[^;.]{0,40}?\sand\s+(?:[a-z]+\s){0,3}?"
    r"(?:[A-Z]{3}\s|[€$£¥])?\d[\d,.]*\s?(?P<two>[^\W\d]+|%)?"
)
_STATED = (
    r"(?:states?|gives?|lists?|includes?|contains?|names?|mentions?|covers?|identif(?:y|ies)|describes?|shows?|has|have"
    r"|reports?|provides?|confirms?|presents?|records?|explains?|with)"
)
_ASKS = re.compile(
    rf"\b(?:{_STATED}|list|identify|record|covering|state|give|name|cover|include|present|show|report|mention|provide"
    r"|uses)\b",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"\b(?:because|why|how|whether|if|that(?!\s+(?:includes?|lists?|gives?|shows?))|since|when|is|are)\b"
)
_TWO_OBJECTS = re.compile(
    rf"\b{_STATED}\s+(?!(?:that|how|why|whether|both)\b)[^.,;:]{{1,60}}?"
    r"\sand\s+(?=(?:the(?!\s(?:hours?|time)\b)|an?|its|their|his|her|how|why|whom?|when|where|whether|what|which)\s)",
    re.IGNORECASE,
)
"""“… gives the time and the place”: two things, each with an article."""
_ONE_OBJECT = re.compile(r"\b(?:between|compar\w+|differ\w+|from|either)\b", re.IGNORECASE)
"""“… gives the difference between the offer and the bill”: one thing."""
_TWO_NUMBERS = re.compile(
    r"\d[\w.,%]*(?:\s[A-Za-z]+){0,3}\s+and\s+(?:the\s+)?(?:[A-Za-z]+\s){1,3}(?:as|at|to|is)\s+(?=\d)"
)
_TWO_DONE = re.compile(
    r"\b(?:is|are|was|were|been|be)\s+(?:[^\s.,;]+\s+){1,8}?and\s+(?:then\s+|also\s+)?(?=(?:[a-z]{3,}ed|written|sent|given|shown"
    r"|told|made|put|set)(?:[.;,]|$|\s(?:in|by|to|with|as|for|on|at|an?|the|that|who|how|why)\b))"
)
"""“… is told the date and offered a refund”."""
_AND_THAT = re.compile(r",?\s+and\s+(?:that|explicitly|clearly)\s", re.IGNORECASE)
_BOTH = re.compile(r"\bboth\b[^.;]*?\sand\s|\s(?:AND|as well as|along with|together with|plus)\s")
_WITH = re.compile(r",\s+(?:with|at|in|for|on)\s+(?:an?|the)\s+[^.,;]*\d", re.IGNORECASE)
_JOINTS = (_SECOND_VERB, _SECOND_CLAUSE, _ANY_VERB, _AND_TO, _NEW_SUBJECT, _WHILE)
_JOINED = (_TWO_OBJECTS, _TWO_NUMBERS, _TWO_DONE)
"""Patterns that end where the second requirement begins."""
_LIST = re.compile(r"(?:^|(?<=[,;.:]))([^,;.:]+(?:,\s+[^,;.:]+){1,8},?)\s+and\s+[^,;.]+")
_FILE = re.compile(r"(?<![\w/.])[\w-][\w./-]*\.[A-Za-z]{2,5}(?![\w/])")
"""A full stop in a file name ends nothing."""
_BRACKETS = re.compile(r"\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Requirements:
    """An estimate. ``sure`` counts independent requirements, ``listed`` the things one requirement enumerates."""

    sure: int
    listed: int
    enumerated: bool
    """The listed things are what the criterion asks to be stated."""
    parts: tuple[str, ...]
    """The individual requirements, verbatim, as far as they can be separated."""
    second: Span | None

    @property
    def several(self) -> bool:
        return self.sure > 1 or self.listed > 2


@cached
def requirements(text: str) -> Requirements:
    text = text[:2_000]
    bare = _without_asides_and_quotes(text)
    starts = _further_starts(bare)
    list_match = _LIST.search(_BRACKETS.sub(_blank, bare))
    two_values = next((match for match in _TWO_VALUES.finditer(bare) if match["one"] != match["two"]), None)
    listed = _count_items(list_match[1]) if list_match else 3 if two_values else 0
    enumerated = list_match is not None and listed > 2 and _asks_for(bare, list_match)
    parts: tuple[str, ...] = ()
    if list_match and (enumerated or not starts):
        listing = text[list_match.start() : list_match.end()]
        parts = _items(listing, bare=text[: list_match.start()].endswith(":"))
    elif starts:
        borders = zip([0, *starts], [*starts, len(text)], strict=True)
        parts = tuple(part for start, end in borders if (part := _trimmed(text[start:end])))
    second = _second_requirement(text, starts, list_match or two_values)
    return Requirements(1 + len(starts), listed, enumerated, parts, second)


def _without_asides_and_quotes(text: str) -> str:
    """Positions are preserved."""
    bare = _ASIDE.sub(_blank, TOLERANCE.sub(_blank, text))
    for span in quoted(text):
        bare = bare[: span.start] + "x" * (span.end - span.start) + bare[span.end :]
    return _FILE.sub(lambda match: "x" * len(match[0]), bare)


def _further_starts(bare: str) -> list[int]:
    """Where each requirement but the first begins."""
    spans = [span for span in sentences(bare) if len(content_words(span.text)) >= 2]
    starts = [span.start for span in spans[1:]]
    for span in spans:
        lead = re.match(r"(?:In|On|At|For|After|Before|When|If|Although|Even though|Because)\b[^,;]*,", span.text)
        begin = span.start + (lead.end() if lead else 0)
        starts += [match.end() for match in re.finditer(r";\s+", bare[: span.end]) if match.start() > begin]
        for pattern in (*_JOINTS, _AND_THAT, _BOTH, _WITH):
            starts += [match.start() for match in pattern.finditer(bare, begin, span.end)]
        if " and " in span.text:
            joined = (match for pattern in _JOINED for match in pattern.finditer(bare, begin, span.end))
            starts += [_and(bare, match) for match in joined if not _ONE_OBJECT.search(match[0])]
    joints = sorted(set(starts))
    return [start for index, start in enumerate(joints) if not index or start - joints[index - 1] > 12]


def _count_items(listing: str) -> int:
    return listing.count(",") + (not listing.rstrip().endswith(",")) + 1


def _second_requirement(text: str, starts: list[int], match: re.Match[str] | None) -> Span | None:
    if starts:
        rest = text[starts[0] :]
        end = next((span.end for span in sentences(rest)), len(rest))
        second = rest[:end].strip(" ,;")
        start = text.index(second, starts[0])
        return Span(second, start, start + len(second)) if second else None
    second = match[0].strip() if match else ""
    return Span(second, match.start(), match.end()) if match and second in text else None


def _asks_for(text: str, list_match: re.Match[str]) -> bool:
    """Whether the list is what must be stated, rather than part of a reason, a fact or a name."""
    first = re.split(r"[,:]", list_match[0], maxsplit=1)[0]
    before = text[: list_match.start()] if text[list_match.start() - 1 : list_match.start()] == ":" else ""
    opening = before + first
    return _ASKS.search(opening) is not None and _REASONS.search(opening) is None


def _items(listing: str, *, bare: bool) -> tuple[str, ...]:
    """``bare``: the list alone, as after a colon; otherwise its first item is preceded by a verb."""
    first, *others = re.split(r",\s*(?:and\s+)?|\s+and\s+", listing)
    verb = None if bare else _ASKS.search(first)
    items = [first[verb.end() :] if verb else first, *others]
    return tuple(item for each in items if (item := _trimmed(each)))


def _trimmed(part: str) -> str:
    part = TOLERANCE.sub(" ", part).strip(" ,;.:")
    return re.sub(r"^(?:(?:and|but|plus|while|also|that)\s+)+", "", part, flags=re.IGNORECASE).strip()


def _and(text: str, match: re.Match[str]) -> int:
    return text.rindex(" and", match.start(), match.end())


def _blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())
