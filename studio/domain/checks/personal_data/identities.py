"""Numbers that states, banks and insurers give to one person each, told by their check digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stdnum import iban, luhn
from stdnum.cn import ric
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.us import ssn


class IdentityKind(NamedTuple):
    what: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]


def _kind(what: str, pattern: str, holds: Callable[[str], bool], flags: re.RegexFlag = re.NOFLAG) -> IdentityKind:
    return IdentityKind(what, re.compile(pattern, flags), holds)


def _various(digits: str) -> bool:
    """Not one of the evidently invented: 0000 0000, 1212 1212."""
    return len({letter for letter in digits if letter.isalnum()}) > 3


def _card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return digits[0] in "3456" and _various(digits) and luhn.is_valid(digits)


KINDS = (
    _kind(
        "a social security number",
        r"(?<![\d-])(?!078-05-1120|219-09-9999|123-45-6789)\d{3}-\d{2}-\d{4}(?![\d-])",
        ssn.is_valid,
    ),
    _kind(
        "a national insurance number",
        r"\b(?!BG|GB|NK|KN|TN|NT|ZZ|QQ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:\d{2} ?){3}[A-D]\b(?=[^\w]|$)",
        _various,
    ),
    _kind("a national identity number", r"(?<!\d)\d{17}[\dXx](?!\d)", ric.is_valid),
    _kind("a national identity number", r"\b(?:\d{8}|[XYZ]\d{7})-?[A-Z]\b", lambda text: _spanish(text)),
    _kind("a national identity number", r"\b[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]\b", codicefiscale.is_valid),
    _kind(
        "a social security number",
        r"(?<!\d)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?!\d)",
        nir.is_valid,
    ),
    _kind(
        "a health service number",
        r"(?i:\bNHS)(?: (?:no\.?|number|ID))?(?: is|:)? ?(?P<id>\d{3}[ -]?\d{3}[ -]?\d{4})\b",
        lambda text: _various(text) and nhs.is_valid(text),
    ),
    _kind("a bank account", r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b", iban.is_valid),
    _kind("a payment card", r"(?<![\d-])(?:\d[ -]?){13,18}\d(?![\d-])", _card),
    _kind(
        "an identity or tax number",
        r"\b(?:passport|driv(?:ing|er['’]?s) licen[cs]e|tax (?:ID|number|identification number)|social security"
        r"|national insurance|identity card|ID card|SSN|UTR|Steuer-?ID|personnummer|PESEL|BSN|CPF|Aadhaar)"
        r"(?: (?:no\.?|number|nr\.?|ID))?(?: is|:| )? ?(?P<id>[A-Z]{0,3}\d[\d -]{4,16}[\dA-Z])\b",
        _various,
        re.IGNORECASE,
    ),
)


def _spanish(text: str) -> bool:
    plain = text.replace("-", "")
    return dni.is_valid(plain) or nie.is_valid(plain)


def identities(text: str) -> Iterator[tuple[str, str]]:
    """Each number with what it is, the surest first."""
    for kind in KINDS:
        for found in kind.pattern.finditer(text):
            number = found["id"] if "id" in kind.pattern.groupindex else found[0]
            if kind.holds(number):
                yield number, kind.what
