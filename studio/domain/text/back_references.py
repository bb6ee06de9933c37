"""Phrases that refer back to earlier sessions (“as agreed”), and names and facts in a text."""

from __future__ import annotations

import re

from studio.domain.caching import cached
from studio.domain.text.clauses import Span, quoted, sentences
from studio.domain.text.word_classes import FUNCTION

_BACK_REFERENCE = re.compile(
    r"\b(?:previous(?:ly)?|earlier (?:session|today|this week|work|version|research|analysis|draft"
    r"|conversation|agreed|one)|"
    r"last (?:time|session)|as (?:before|agreed|discussed|last time|we (?:agreed|discussed|did))"
    r"|same (?:as|way|format|style|rules?) (?:as|we|you|last)"
    r"|we(?:'ve| have)? (?:just |already )?(?:agreed|aligned|discussed|decided|established|settled"
    r"|prepared|updated|made|set up|defined|wrote|drew up|collected)"
    r"|I(?:'ve| have)? (?:just |already |recently )(?:bought|wrote|made|told|moved|sent|shared"
    r"|gave|mentioned|updated|finished|ordered|set)"
    r"|you(?:'ve| have)? (?:just |already )?(?:made|wrote|prepared|found|drafted|collected"
    r"|summarised|summarized|built|know|remember)"
    r"|(?:our|my) (?:usual|known|existing) [\w-]+|(?:our|the|my) (?:recent|established|agreed"
    r"|aligned|finali[sz]ed|earlier) [\w-]+"
    r"|(?:based on|according to|following|in line with|per|using) (?:the |our |my |those "
    r"|these )?(?:[\w-]+ ){0,3}(?:preferences|guidelines|rules|rulebook|conventions|methodology)"
    r"|(?:in|with|using|based on) (?:our|my|those) (?:[\w-]+ ){0,2}(?:template|format|style|standards?)"
    r"|you (?:set|chose|picked|suggested|proposed|booked|compared|sent|created|wrote up|put together)"
    r"|(?:we|I) (?:settled|agreed|decided|chose|picked|fixed) (?:on\b|upon\b|the\b|that\b|it\b|to\b)"
    r"|what (?:we|[a-z]+ [a-z]+(?: [a-z]+)?) (?:decided|agreed|settled|chose)"
    r"|(?:did not|didn't|has not|hasn't) (?:answer|reply|respond)|wrote back"
    r"|those (?:two|three|four|five|six|seven|eight|ten|same)|the (?:ones?|other) (?:from|of|you|we)"
    r"|the way (?:I|we) (?:like|want|prefer|do|did|agreed)"
    r"|(?:from|of|since) (?:yesterday|last (?:week|month|time)|the other day"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
    r"|(?:findings|results|outcome|conclusions?|decisions?|minutes) (?:of|from) (?:the|our|my)"
    r"|that late night|a while back|back then|remember(?:ed)? (?:the|that|my|our|from)|once again|new tool I)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:[A-Z][\w’'&-]*|[A-Z]+\d[\w-]*)(?:\s+(?:of|in|the|for|and|&)?\s*(?:[A-Z][\w’'&-]*|\d+[\w-]*))+"
)
_FACT = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w|\b\d[\d,.]{3,}\d\b|\b\d{4,}\b")


@cached
def back_references(text: str) -> tuple[tuple[Span, Span], ...]:
    return tuple(
        (Span(match[0], sentence.start + match.start(), sentence.start + match.end()), sentence)
        for sentence in sentences(text[:20_000])
        for match in _BACK_REFERENCE.finditer(sentence.text)
    )


@cached
def named_facts(text: str) -> tuple[Span, ...]:
    """Names of several words, quotations, e-mail addresses and long numbers: what an agent cannot guess."""
    text = text[:20_000]
    spans = [span for span in quoted(text) if 6 <= len(span.text) <= 90]
    spans += [Span(match[0], match.start(), match.end()) for match in _FACT.finditer(text)]
    spans += [span for match in _NAME.finditer(text) if (span := _name(match))]
    return tuple(spans)


def _name(match: re.Match[str]) -> Span | None:
    """None if fewer than two capitalized words are left after leading function words."""
    start, name = match.start(), match[0]
    while (first := name.split(maxsplit=1)) and first[0].casefold() in FUNCTION:
        rest = first[1] if len(first) > 1 else ""
        start, name = match.end() - len(rest), rest
    capitals = sum(word[0].isupper() for word in name.split())
    return Span(name, start, match.end()) if capitals >= 2 else None
