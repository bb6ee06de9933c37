"""Criteria that a comparison of characters, a count or a look at the tool calls would settle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from studio.spec.text.clauses import quoted
from studio.spec.text.requirements import TOLERANCE

BESIDE = 50
"""Characters beside a count: with more of them, more than the count is asked for."""
SHORT, LONG, MANY = 75, 150, 3
"""Characters up to which a criterion with a value asks for little else; the more where it ends with the value, or where
so many values make it up."""
Kind = Literal["contains", "lacks", "exists", "count", "tool", "equals", "unchanged", "format"]

_SECTION = re.compile(
    r"\b(?:in|under|within|of|from|by|for|to|between|the|category|section|module|heading|called"
    r"|point|factor|file|basis for)\s+(?:the\s+)?(?:basis\s+for\s+)?$",
    re.IGNORECASE,
)
_PLACE_AFTER = re.compile(
    r"^[\"'”’\])]*\s*(?:section|module|category|heading|part|column|element|factor|analysis"
    r"|sub-?task|task|note|constraint"
    r"|is (?!not\b|used|given|mentioned|included|present|named|stated|shown|repeated|there\b))",
    re.IGNORECASE,
)
_FILE = r"[\w./-]+\.(?:md|txt|csv|tsv|json|ya?ml|pdf|docx?|xlsx?|pptx?|html?|py)\b"
_EXISTS = re.compile(
    rf"\b({_FILE})[”\"’'`]?\s+(?:exists?|(?:is|was|has been) (?:created|present|saved|written|produced|there"
    rf"|stored|delivered|in the))\b"
    rf"|\b(?:creates?|saves?|produces?)\s+(?:an?|the)?\s*(?:file\s+)?(?:named"
    rf"|called)?\s*[“\"‘'`]?({_FILE})"
    rf"|\bfiles\s+(?:exist|(?:are|were|have been)\s+(?:created|saved|written|produced))\b[^.;]{{0,40}}?({_FILE})"
    rf"|\bfile\s+(?:named|called)\s+[“\"‘'`]?({_FILE})[”\"’'`]?\s+(?:exists?|(?:is|was|has been)\s)"
    rf"|\b(?:saved|stored|written|delivered)\s+(?:as|to|in|into|under)\s+(?:the file\s+)?[“\"‘'`]?({_FILE})",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    rf"({_FILE})[”\"’'`]?\s+(?:is|are|remains?|stays?|was|were)\s+(?:left\s+)?"
    r"(?:unchanged|untouched|unmodified|unaltered|as before)\b"
    rf"|\b(?:exactly as|identical to|verbatim|word for word)\s+(?:in|from|to|with)?\s*[“\"‘'`]?({_FILE})",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"\b(?:in|as|is|valid)\s+(?:an?\s+)?(?:valid\s+)?(?P<format>JSON|CSV|TSV|YAML|XML|PDF|XLSX|HTML|DOCX)\b(?!\s+of\b)"
)
_LACKS = re.compile(
    r"\b(?:do(?:es)? not (?:contain|occur|include|use|appear|mention)"
    r"|(?:is|are) (?:not|never|nowhere) (?:used|mentioned|named|included|recommended|listed|contained)|(?:[Tt]he words?"
    r"|[Nn]o form of)\s.*\boccurs?|contains? no (?:word|mention))\b",
)
_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty"
_COUNT = re.compile(
    r"\b(?:exactly|at most|at least|no more than|not more than|fewer than|less than"
    r"|maximum(?: of)?|minimum(?: of)?|max\.?|up to|within)\s+"
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)\s+"
    r"(?:or fewer\s+|continuous\s+|separate\s+|distinct\s+|\w+\s+)?(?:words?|characters?"
    r"|paragraphs?|bullets?|bullet points?|posts?|headlines?|lines?|rows?|sentences?"
    r"|columns?|text blocks?|items|tweets?|slides|hours? long)\b"
    r"|\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:words?|characters?"
    r"|paragraphs?|lines|sentences)\s+or (?:fewer|less)\b"
    r"|\bof at most \d+ (?:words|characters)\b"
    rf"|\bexactly\s+(?:\d+|{_SMALL})\s+[a-z]+s\b"
    r"|\bbetween \d+ and \d+ (?:words?|characters?|lines|pages|sentences|paragraphs?|items|rows|slides)\b"
    rf"|\bthere (?:are|is) (?:exactly |only )?(?:\d+|{_SMALL}) [a-z]+\b",
    re.IGNORECASE,
)
_NUMBER = rf"(?:\d[\d,.]*|{_SMALL})"
_COUNTED = re.compile(
    r"\b(?:no|none|neither|not one)(?:\s(?:of\s)?[\w-]+){0,4}?\s(?:exceeds?|longer than"
    r"|(?:has|have|contains?|is|are|lasts?|costs?)\s+(?:longer|more|larger|higher|shorter|fewer)\s+than)"
    rf"\s+{_NUMBER}\s+[a-z]+"
    r"|\b(?:table|file|sheet|spreadsheet|csv|document|deck|list|plan|schedule)\b[^.;,]{0,25}"
    rf"\s(?:has|have|lists?|contains?|covers?|spans)\s+(?:at least\s+|at most\s+|exactly\s+|only\s+)?{_NUMBER}\s+[a-z]+"
    rf"|^{_NUMBER}\s+(?:[a-z]+\s)?[a-z]+s\s+(?:are|were)\s+(?:[a-z]{{3,}}ed|given|written|chosen|shown)"
    r"\b(?!\s+(?:as|with|in|by|and)\b)",
    re.IGNORECASE,
)
"""“No caption is longer than 150 characters”, “the table has six rows”."""
_EXACT = re.compile(
    r"\b(?:exactly|exact|verbatim|literal(?:ly)?|word for word|to the letter|case-sensitive)\b", re.IGNORECASE
)
_OBJECT = (
    r"(?:board|project|task|reminder|note|draft|event|alarm|playlist|cart|label|thread|e-?mail|message|SMS"
    r"|text message|order|song|invitation|appointment|booking|ticket|payment|transfer|contact|expense|folder"
    r"|calendar entry)s?"
)
_TOOL = re.compile(
    rf"\b{_OBJECT}\b(?:(?!\sand\s)[^.;]){{0,60}}?\b(?:is|are|was|were|has been|have been)\s+"
    r"(?:then\s+|successfully\s+|not\s+)?(?:removed|deleted|cleared|archived|created|sent|placed"
    r"|completed|cancelled|canceled|labelled|labeled|booked|added|forwarded|starred|paid|scheduled|set|due|posted|shared)\b"
    rf"|\b{_OBJECT}(?:\s+(?:called\s+|named\s+)?[“\"‘'][^”\"’'\n]{{2,60}}[”\"’'])?\s+exists?\b"
    rf"|\b(?:an?|the|one|two|three|no)\s+(?:[a-z]+\s)?{_OBJECT} exists?\b"
    r"|\b(?:calls?|uses?|invokes?)\s+(?:the\s+)?(?:\w+__\w+|\w+ tool)\b|\blogs? in(?:to)?\b"
    r"|\b(?:order|booking|purchase) was placed\b"
    rf"|\b{_OBJECT}\b[^.;]{{0,30}}?\s(?:has|have)\s+(?:the\s+)?(?:priority|label|colour|status)\s+[\w“\"‘']+"
    r"|\b(?:label|unread|read|archive)\b[^.;]*\btoggles?\b|\bcheckout includes\b",
    re.IGNORECASE,
)
EVERY = re.compile(r"\b(?:each|every|all|both|no|none|neither)\b", re.IGNORECASE)
"""What such a word opens takes more than one look."""
_OF_EACH = re.compile(r"Each of\b")
_BORDER = re.compile(r"\b(?:before|after|by|until|not|no|neither|unless|between|at (?:most|least))\b", re.IGNORECASE)
_SPEECH = re.compile(r"\b(?:confirms?|states?|says?|mentions?|tells?|reports?|explains?|note)\b", re.IGNORECASE)
_VALUE = re.compile(
    r"(?:\b[A-Z]{3}|[$€£¥])\s?\d[\d,.]*\d|\d[\d,.]*\s?(?:%|percent|per cent|euros?"
    r"|dollars?|pounds?|yuan|RMB|kg|mm|cm|km|ml|mg|doses|kcal|degrees|points|minutes|metres|meters|miles|litres|liters"
    r"|kWh|°C|people|guests)"
    r"|(?<!\w)\+?\d[\d ()-]{7,}\d\b"
    r"|\b\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?|\b\d{1,2} (?:January|February|March|April|May|June|July"
    r"|August|September|October|November|December)(?: \d{4})?"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December) \d{1,2}(?:, \d{4})?|\b(?:Article|clause|section|paragraph|item|§)\s?\d+(?:\.\d+)*|\b\d{5,}\b"
    r"|\b\d{1,3}(?:,\d{3})+\b|\b\d+\.\d+\s?[a-zA-Z°]+(?:/[a-z]+)?|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+",
)
_GIVEN = re.compile(
    r"\b(?:is|are|was)\s+(?:given|stated|shown|recorded|listed|reported|set|announced|booked|entered|priced)"
    r"\s+(?:as|at|to be|under|for)\s+(?:the\s+)?"
    rf"(?P<given>(?:[a-z]+\s)?[^\s.,;]*[\dA-Z][^\s;]*|(?:{_SMALL})\s[a-z]+)"
    r"|\b(?:is|are|number|extension|code|account|no\.?)"
    r"\s+(?P<number>[€$£¥]?\d[\d.,/-]*\d(?:\s?(?:%|[kcm]?m|k?g|ml|l|h|pt|kWh)(?!\w))?)"
)
"""“is given as C”, “extension 2200”: a value that can be looked for."""
_NAMED = re.compile(
    r"\b(?:is|are|as|to|at|by|named|called|addressed to|submitted to)\s+(?:the\s+)?"
    r"(?P<name>[A-Z][\w’'-]*(?:\s+(?:of\s+|the\s+|and\s+|&\s+)*[A-Z0-9][\w’'-]*)+)[.\s]*$"
)
"""A name of several words that the criterion ends with."""
_OF_A_WORK = re.compile(
    r"\s(?:of|in|to) (?:the )?[A-Z][\w’'-]*(?:\s(?:(?:of|the|and|in|on|for|concerning) )*[A-Z][\w’'-]*)*$"
)
"""“Article 12 of the Housing Act” ends with its number as good as “Article 12” does."""
_EXPLAINS = re.compile(
    r"\b(?:explains?|analy[sz]es?|argues?|rationale|reason(?:s|ing)?|why|how|connects?|summar\w+"
    r"|convincing|clear(?:ly)? (?:explain|argue)|appropriate|suitable|readable|scan-friendly"
    r"|because|so that|concise|tone|strategy|compelling|relevant|logical)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:states?|names?|gives?|identif(?:y|ies)|includes?|contains?|mentions?|uses?|utili[sz]es?"
    r"|features?|title|subject|is|are|be|recommends?|says?|announces?|confirms?|mandates?|starts?"
    r"|begins?|ends?|refers?|cites?|used|given|mentioned|submitted|has|have|words?|lists?|shows?|placed|reads?|appears?|bears?|signed|quotes?|figures?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Exact:
    """What an exact check would look at."""

    kind: Kind
    texts: tuple[str, ...]
    """What has to occur or be counted, verbatim from the criterion."""
    sure: bool
    """False: a person should look whether the wording is really fixed."""


@lru_cache(maxsize=4_000)
def exactness(criterion: str) -> Exact | None:
    """How this criterion could be checked without a judge; None: it takes reading."""
    criterion = criterion[:2_000]
    lenient = TOLERANCE.search(criterion) is not None and not _EXACT.search(criterion)
    if found := _EXISTS.search(criterion):
        return Exact("exists", (next(filter(None, found.groups())),), True)
    if found := _UNCHANGED.search(criterion):
        return Exact("unchanged", (next(filter(None, found.groups())),), True)
    strings = _wanted(criterion)
    if _LACKS.search(criterion) and not lenient and len(criterion) < 160:
        words = strings or _after(
            criterion, r"\b(?:word|words|name) ([\w-]+)", r"form of (?:the word )?(\w+)", r"contain (?:the )?([^,.;]+)"
        )
        if words:
            return Exact("lacks", words[:2], bool(strings) or "word" in criterion)
    if lenient:
        return None
    if found := _FORMAT.search(criterion):
        return Exact("format", (found["format"],), len(criterion) < SHORT)
    if found := _COUNT.search(criterion):
        return Exact("count", (found[0],), len(criterion) - len(found[0]) < BESIDE)
    if found := _COUNTED.search(criterion):
        return Exact("count", (found[0],), len(criterion) - len(found[0]) < BESIDE)
    found = _TOOL.search(criterion)
    if found and not _SPEECH.search(criterion[: found.start()]):
        return Exact("tool", (found[0],), True)
    if strings and _STATES.search(criterion) and not _EXPLAINS.search(criterion.replace(strings[0], "")):
        return Exact(
            "equals" if _EXACT.search(criterion) else "contains",
            strings[:3],
            len(criterion) < 260 and not _OF_EACH.match(criterion),
        )
    bare = _unquoted(criterion)
    values = tuple(match[0] for match in _VALUE.finditer(criterion))
    if not values and (given := _GIVEN.search(bare)):
        values = (given[given.lastgroup or 0].rstrip(".,"),)
    if not values and (ending := _NAMED.search(bare)):
        values = (ending["name"],)
    if values and _STATES.search(bare) and not _EXPLAINS.search(bare) and len(bare) < 330:
        if _BORDER.search(bare) or EVERY.match(bare):
            return None
        value, sentence = values[-1].rstrip("."), bare.rstrip(" .")
        ends = sentence.endswith(value) or _OF_A_WORK.sub("", sentence).endswith(value)
        brief = len(bare) < (LONG if ends else SHORT) or len(values) >= MANY
        return Exact("contains", values[:3], brief and not EVERY.search(bare))
    return None


def _wanted(criterion: str) -> tuple[str, ...]:
    """Quoted words that have to occur, not those that name a place."""
    found = []
    for span in quoted(criterion):
        before, after = criterion[: span.start - 1], criterion[span.end :]
        if not (_SECTION.search(before) or _PLACE_AFTER.match(after)) and len(span.text) < 120:
            found.append(span.text.rstrip(".,;"))
    return tuple(found)


def _unquoted(criterion: str) -> str:
    for span in reversed(quoted(criterion)):
        criterion = criterion[: span.start] + criterion[span.end :]
    return criterion


def _after(criterion: str, *patterns: str) -> tuple[str, ...]:
    for pattern in patterns:
        if found := re.search(pattern, criterion):
            return (found[1].strip(),)
    return ()


def propose(exact: Exact, path: str | None) -> str:
    """The check in words, for the person who decides. ``path``: the file meant; empty: the reply; None: unclear."""
    where = f"the file “{path}”" if path else "the reply" if path == "" else "the file concerned"
    text = "”, “".join(exact.texts)
    return {
        "contains": f"{where} contains “{text}”",
        "equals": f"{where} or the tool call holds exactly “{text}”",
        "lacks": f"{where} does not contain “{text}”",
        "exists": f"the file “{text}” exists",
        "count": f"a grader script counts “{text}” in {where}",
        "tool": f"a tool was called that shows “{text}”",
        "format": f"a grader script reads {where} as {text}",
        "unchanged": f"a grader script compares “{text}” with what was there",
    }[exact.kind]
