"""Recognizes criteria that can be decided by comparing text, counting, or inspecting tool calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from studio.domain.caching import cached
from studio.domain.text.clauses import quoted
from studio.domain.text.requirements import TOLERANCE

PART_NAME_BEFORE = re.compile(
    r"\b(?:in|under|within|of|from|by|for|to|between|the|category|section|module|heading|called"
    r"|point|factor|file|basis for)\s+(?:the\s+)?(?:basis\s+for\s+)?$",
    re.IGNORECASE,
)
HAS_PART = re.compile(
    r"\b(?:has|have|contains?|includes?|there is) (?:an?|the) (?:\w+ )?(?:section|module|heading|chapter|column|sheet"
    r"|tab|slide|category|table|page|row) (?:called |named |titled |entitled |headed )?$",
    re.IGNORECASE,
)
"""The existence of a named part can be looked up; its content requires a judge."""
PART_NAME_AFTER = re.compile(
    r"^[\"'”’\])]*\s*(?:section|module|category|heading|part|column|element|factor|analysis"
    r"|sub-?task|task|note|constraint"
    r"|is (?!not\b|used|given|mentioned|included|present|named|stated|shown|repeated|there\b))",
    re.IGNORECASE,
)
FILE = r"[\w./-]+\.(?:md|txt|csv|tsv|json|ya?ml|pdf|docx?|xlsx?|pptx?|html?|py)\b"
EXISTS = re.compile(
    rf"\b({FILE})[”\"’'`]?\s+(?:exists?|(?:is|was|has been) (?:created|present|saved|written|produced|there"
    rf"|stored|delivered|in the))\b"
    rf"|\b(?:creates?|saves?|produces?)\s+(?:an?|the)?\s*(?:file\s+)?(?:named"
    rf"|called)?\s*[“\"‘'`]?({FILE})"
    rf"|\bfiles\s+(?:exist|(?:are|were|have been)\s+(?:created|saved|written|produced))\b[^.;]{{0,40}}?({FILE})"
    rf"|\bfile\s+(?:named|called)\s+[“\"‘'`]?({FILE})[”\"’'`]?\s+(?:exists?|(?:is|was|has been)\s)"
    rf"|\b(?:saved|stored|written|delivered)\s+(?:as|to|in|into|under)\s+(?:the file\s+)?[“\"‘'`]?({FILE})",
    re.IGNORECASE,
)
UNCHANGED = re.compile(
    rf"({FILE})[”\"’'`]?\s+(?:is|are|remains?|stays?|was|were)\s+(?:left\s+)?"
    r"(?:unchanged|untouched|unmodified|unaltered|as before)\b"
    rf"|\b(?:exactly as|identical to|verbatim|word for word)\s+(?:in|from|to|with)?\s*[“\"‘'`]?({FILE})"
    r"|\b((?:is|are|remains?|stays?)"
    r" (?:unchanged|untouched|unmodified|unaltered|identical to the (?:original|template)))\b",
    re.IGNORECASE,
)
RUNS = re.compile(
    r"\b(?:(?:compiles?|parses?|runs?|builds?|opens?|validates?|loads?) without (?:any )?"
    r"(?:errors?|warnings?|exceptions?)"
    r"|(?:all|the) (?:unit )?tests pass)\b",
    re.IGNORECASE,
)
FORMAT = re.compile(
    r"\b(?:in|as|is|valid)\s+(?:an?\s+)?(?:valid\s+)?(?P<format>JSON|CSV|TSV|YAML|XML|PDF|XLSX|HTML|DOCX)\b(?!\s+of\b)"
)
LACKS = re.compile(
    r"\b(?:do(?:es)? not (?:contain|occur|include|use|appear|mention)"
    r"|(?:is|are) (?:not|never|nowhere) (?:used|mentioned|named|included|recommended|listed|contained)|(?:[Tt]he words?"
    r"|[Nn]o form of)\s.*\boccurs?|contains? no (?:word|mention))\b",
)
NUMBER_WORD = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty"
COUNT = re.compile(
    r"\b(?:exactly|at most|at least|no more than|not more than|fewer than|less than"
    r"|maximum(?: of)?|minimum(?: of)?|max\.?|up to|within)\s+"
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)\s+"
    r"(?:or fewer\s+|continuous\s+|separate\s+|distinct\s+|\w+\s+)?(?:words?|characters?"
    r"|paragraphs?|bullets?|bullet points?|posts?|headlines?|lines?|rows?|sentences?"
    r"|columns?|text blocks?|items|tweets?|slides|entries|records|files|questions|sections|headings|hashtags|tracks"
    r"|songs|references|citations|hours? long)\b"
    r"|\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:words?|characters?"
    r"|paragraphs?|lines|sentences)\s+or (?:fewer|less)\b"
    r"|\bof at most \d+ (?:words|characters)\b"
    rf"|\bexactly\s+(?:\d+|{NUMBER_WORD})\s+[a-z]+s\b"
    r"|\bbetween \d+ and \d+ (?:words?|characters?|lines|pages|sentences|paragraphs?|items|rows|slides|entries"
    r"|minutes|seconds|hours)\b"
    rf"|\bthere (?:are|is) (?:exactly |only )?(?:\d+|{NUMBER_WORD}) [a-z]+\b",
    re.IGNORECASE,
)
NUMBER = rf"(?:\d[\d,.]*|{NUMBER_WORD})"
COUNTED = re.compile(
    r"\bno [\w-]+ (?:appears?|occurs?|is (?:used|listed|named)) more than (?:once|twice|\w+ times)\b"
    rf"|\b(?:adds? up|sums? up|sums?|amounts?) to (?:exactly )?{NUMBER}\b"
    rf"|^(?:at least|at most|exactly|only|no more than) {NUMBER}\s[^.;]{{0,40}}"
    r"\s(?:is|are) (?:[a-z]{3,}ed|given|shown)\b"
    r"|\b(?:no|none|neither|not one)(?:\s(?:of\s)?[\w-]+){0,4}?\s(?:exceeds?|longer than"
    r"|(?:has|have|contains?|is|are|lasts?|costs?)\s+(?:longer|more|larger|higher|shorter|fewer)\s+than)"
    rf"\s+{NUMBER}\s+[a-z]+"
    r"|\b(?:table|file|sheet|spreadsheet|csv|document|deck|list|plan|schedule)\b[^.;,]{0,25}"
    rf"\s(?:has|have|lists?|contains?|covers?|spans)\s+(?:at least\s+|at most\s+|exactly\s+|only\s+)?{NUMBER}\s+[a-z]+"
    rf"|^{NUMBER}\s+(?:[a-z]+\s)?[a-z]+s\s+(?:are|were)\s+(?:[a-z]{{3,}}ed|given|written|chosen|shown)"
    r"\b(?!\s+(?:as|with|in|by|and)\b)",
    re.IGNORECASE,
)
"""“No caption is longer than 150 characters”, “the table has six rows”."""
EXACT = re.compile(
    r"\b(?:exactly|exact|verbatim|literal(?:ly)?|word for word|to the letter|case-sensitive)\b", re.IGNORECASE
)
OBJECT = (
    r"(?:board|project|task|reminder|note|draft|event|alarm|playlist|cart|label|thread|e-?mail|message|SMS"
    r"|text message|order|song|invitation|appointment|booking|ticket|payment|transfer|contact|expense|folder"
    r"|calendar entry)s?"
)
TOOL = re.compile(
    rf"\b{OBJECT}\b(?:(?!\sand\s)(?:[^.;]|\.(?=\d))){{0,60}}?\b(?:is|are|was|were|has been|have been)\s+"
    r"(?:then\s+|successfully\s+|not\s+)?(?:removed|deleted|cleared|archived|created|sent|placed"
    r"|completed|cancelled|canceled|labelled|labeled|booked|added|forwarded|starred|paid|scheduled|set|due|posted|shared)\b"
    rf"|\b{OBJECT}(?:\s+(?:called\s+|named\s+)?[“\"‘'][^”\"’'\n]{{2,60}}[”\"’'])?\s+exists?\b"
    rf"|\b(?:an?|the|one|two|three|no)\s+(?:[a-z]+\s)?{OBJECT} exists?\b"
    r"|\b(?:calls?|uses?|invokes?)\s+(?:the\s+)?(?:\w+__\w+|\w+ tool)\b"
    r"|\b(?:order|booking|purchase) was placed\b|\b(?:is|are) (?:on|in) the (?:wish list|cart|calendar|trash|archive)\b"
    rf"|\bno {OBJECT} (?:contains?|includes?)\b"
    rf"|\b{OBJECT}\b[^.;]{{0,30}}?\s(?:has|have)\s+(?:the\s+)?(?:priority|label|colour|status)\s+[\w“\"‘']+"
    r"|\b(?:label|unread|read|archive)\b[^.;]*\btoggles?\b|\bcheckout includes\b",
    re.IGNORECASE,
)
EVERY = re.compile(r"\b(?:each|every|all|both|no|none|neither)\b", re.IGNORECASE)
"""Quantifiers, which require more than one lookup."""
OF_EACH = re.compile(r"Each of\b")
BORDER = re.compile(r"\b(?:before|after|by|until|not|no|neither|unless|between|at (?:most|least))\b", re.IGNORECASE)
SPEECH = re.compile(r"\b(?:confirms?|states?|says?|mentions?|tells?|reports?|explains?|note)\b", re.IGNORECASE)
VALUE = re.compile(
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
GIVEN = re.compile(
    r"\b(?:is|are|was)\s+(?:given|stated|shown|recorded|listed|reported|set|announced|booked|entered|priced)"
    r"\s+(?:as|at|to be|under|for)\s+(?:the\s+)?"
    rf"(?P<given>(?:[a-z]+\s)?[^\s.,;]*[\dA-Z][^\s;]*|(?:{NUMBER_WORD})\s[a-z]+)"
    r"|\b(?:is|are|number|extension|code|account|no\.?)"
    r"\s+(?P<number>[€$£¥]?\d[\d.,/-]*\d(?:\s?(?:%|[kcm]?m|k?g|ml|l|h|pt|kWh)(?!\w))?)"
)
"""“is given as C”, “extension 2200”: a value to search for."""
NAMED = re.compile(
    r"\b(?:is|are|as|to|at|by|named|called|addressed to|submitted to)\s+(?:the\s+)?"
    r"(?P<name>[A-Z][\w’'-]*(?:\s+(?:of\s+|the\s+|and\s+|&\s+)*[A-Z0-9][\w’'-]*)+)[.\s]*$"
)
"""A name of several words at the end of the criterion."""
OF_A_WORK = re.compile(
    r"\s(?:of|in|to) (?:the )?[A-Z][\w’'-]*(?:\s(?:(?:of|the|and|in|on|for|concerning) )*[A-Z][\w’'-]*)*$"
)
"""Lets “Article 12 of the Housing Act” count as ending with its number."""
EXPLAINS = re.compile(
    r"\b(?:explains?|analy[sz]es?|argues?|rationale|reason(?:s|ing)?|why|how|connects?|summar\w+"
    r"|convincing|clear(?:ly)? (?:explain|argue)|appropriate|suitable|readable|scan-friendly"
    r"|because|so that|concise|tone|strategy|compelling|relevant|logical)\b",
    re.IGNORECASE,
)
STATES = re.compile(
    r"\b(?:states?|names?|gives?|identif(?:y|ies)|includes?|contains?|mentions?|uses?|utili[sz]es?"
    r"|features?|title|subject|is|are|be|recommends?|says?|announces?|confirms?|mandates?|starts?"
    r"|begins?|ends?|refers?|cites?|used|given|mentioned|submitted|has|have|words?|lists?|shows?|placed|reads?|appears?|bears?|signed|quotes?|figures?)\b",
    re.IGNORECASE,
)


MAX_BESIDE_COUNT = 50
"""Characters beside a count above which the criterion asks for more than the count."""
SHORT, LONG, MANY = 75, 150, 3
"""A criterion with a value asks for little else if it has at most SHORT characters, or LONG if it ends with the value
or has at least MANY values."""
ExactKind = Literal["contains", "lacks", "exists", "count", "tool", "equals", "unchanged", "format", "runs"]


@dataclass(frozen=True, slots=True)
class ExactForm:
    kind: ExactKind
    texts: tuple[str, ...]
    """What must occur or be counted, verbatim from the criterion."""
    sure: bool
    """False: a person should confirm that the wording is fixed."""


@cached
def exactness(criterion: str) -> ExactForm | None:
    """How this criterion could be checked without a judge; None if it needs one."""
    criterion = criterion[:2_000]
    lenient = TOLERANCE.search(criterion) is not None and not EXACT.search(criterion)
    if match := EXISTS.search(criterion):
        return ExactForm("exists", (next(filter(None, match.groups())),), True)
    if match := UNCHANGED.search(criterion):
        return ExactForm("unchanged", (next(filter(None, match.groups())),), True)
    quotes = _required_quotes(criterion)
    if LACKS.search(criterion) and not lenient and len(criterion) < 160:
        terms = quotes or _first_match(
            criterion, r"\b(?:word|words|name) ([\w-]+)", r"form of (?:the word )?(\w+)", r"contain (?:the )?([^,.;]+)"
        )
        if terms:
            return ExactForm("lacks", terms[:2], bool(quotes) or "word" in criterion)
    if lenient:
        return None
    if match := RUNS.search(criterion):
        return ExactForm("runs", (match[0],), len(criterion) < LONG)
    if match := FORMAT.search(criterion):
        return ExactForm("format", (match["format"],), len(criterion) < SHORT)
    if match := COUNT.search(criterion):
        return ExactForm("count", (match[0],), len(criterion) - len(match[0]) < MAX_BESIDE_COUNT)
    if match := COUNTED.search(criterion):
        return ExactForm("count", (match[0],), len(criterion) - len(match[0]) < MAX_BESIDE_COUNT)
    match = TOOL.search(criterion)
    if match and not SPEECH.search(criterion[: match.start()]):
        return ExactForm("tool", (match[0],), True)
    if quotes and STATES.search(criterion) and not EXPLAINS.search(criterion.replace(quotes[0], "")):
        return ExactForm(
            "equals" if EXACT.search(criterion) else "contains",
            quotes[:3],
            len(criterion) < 260 and not OF_EACH.match(criterion),
        )
    bare = _unquoted(criterion)
    values = tuple(match[0] for match in VALUE.finditer(criterion))
    if not values and (given := GIVEN.search(bare)):
        values = (given[given.lastgroup or 0].rstrip(".,"),)
    if not values and (ending := NAMED.search(bare)):
        values = (ending["name"],)
    if values and STATES.search(bare) and not EXPLAINS.search(bare) and len(bare) < 330:
        if BORDER.search(bare) or EVERY.match(bare):
            return None
        value, sentence = values[-1].rstrip("."), bare.rstrip(" .")
        ends = sentence.endswith(value) or OF_A_WORK.sub("", sentence).endswith(value)
        brief = len(bare) < (LONG if ends else SHORT) or len(values) >= MANY
        return ExactForm("contains", values[:3], brief and not EVERY.search(bare))
    return None


def _required_quotes(criterion: str) -> tuple[str, ...]:
    quotes = []
    for span in quoted(criterion):
        before, after = criterion[: span.start - 1], criterion[span.end :]
        if (
            not ((PART_NAME_BEFORE.search(before) and not HAS_PART.search(before)) or PART_NAME_AFTER.match(after))
            and len(span.text) < 120
        ):
            quotes.append(span.text.rstrip(".,;"))
    return tuple(quotes)


def _unquoted(criterion: str) -> str:
    for span in reversed(quoted(criterion)):
        criterion = criterion[: span.start] + criterion[span.end :]
    return criterion


def _first_match(criterion: str, *patterns: str) -> tuple[str, ...]:
    for pattern in patterns:
        if match := re.search(pattern, criterion):
            return (match[1].strip(),)
    return ()


def describe_check(exact: ExactForm) -> str:
    """What a grader script would do."""
    text = exact.texts[0]
    return {
        "count": f"it counts “{text}”",
        "format": f"it reads the file as {text}",
        "runs": f"it tries whether the result “{text}”",
        "unchanged": f"it compares “{text}” with what was there",
    }[exact.kind]
