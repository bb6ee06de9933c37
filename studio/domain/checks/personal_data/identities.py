"""Personal identity, account and card numbers, recognized by their check digits."""

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
    label: str
    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool]


def _identity_kind(
    label: str, pattern: str, is_valid: Callable[[str], bool], flags: re.RegexFlag = re.NOFLAG
) -> IdentityKind:
    return IdentityKind(label, re.compile(pattern, flags), is_valid)


def _has_variety(digits: str) -> bool:
    """Excludes obviously invented numbers, such as 0000 0000 or 1212 1212."""
    return len({letter for letter in digits if letter.isalnum()}) > 3


def _is_payment_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return digits[0] in "3456" and _has_variety(digits) and luhn.is_valid(digits)


KINDS = (
    _identity_kind(
        "a social security number",
        r"(?<![\d-])(?!078-05-1120|219-09-9999|123-45-6789)\d{3}-\d{2}-\d{4}(?![\d-])",
        ssn.is_valid,
    ),
    _identity_kind(
        "a national insurance number",
        r"\b(?!BG|GB|NK|KN|TN|NT|ZZ|QQ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:\d{2} ?){3}[A-D]\b(?=[^\w]|$)",
        _has_variety,
    ),
    _identity_kind("a national identity number", r"(?<!\d)\d{17}[\dXx](?!\d)", ric.is_valid),
    _identity_kind("a national identity number", r"\b(?:\d{8}|[XYZ]\d{7})-?[A-Z]\b", lambda text: _is_spanish(text)),
    _identity_kind(
        "a national identity number", r"\b[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]\b", codicefiscale.is_valid
    ),
    _identity_kind(
        "a social security number",
        r"(?<!\d)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?!\d)",
        nir.is_valid,
    ),
    _identity_kind(
        "a health service number",
        r"(?i:\bNHS)(?: (?:no\.?|number|ID))?(?: is|:)? ?(?P<id>\d{3}[ -]?\d{3}[ -]?\d{4})\b",
        lambda text: _has_variety(text) and nhs.is_valid(text),
    ),
    _identity_kind("a bank account", r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b", iban.is_valid),
    _identity_kind("a payment card", r"(?<![\d-])(?:\d[ -]?){13,18}\d(?![\d-])", _is_payment_card),
    _identity_kind(
        "an identity or tax number",
        r"\b(?:passport|driv(?:ing|er['’]?s) licen[cs]e|tax (?:ID|number|identification number)|social security"
        r"|national insurance|identity card|ID card|SSN|UTR|Steuer-?ID|personnummer|PESEL|BSN|CPF|Aadhaar)"
        r"(?: (?:no\.?|number|nr\.?|ID))?(?: is|:| )? ?(?P<id>[A-Z]{0,3}\d[\d -]{4,16}[\dA-Z])\b",
        _has_variety,
        re.IGNORECASE,
    ),
)


def _is_spanish(text: str) -> bool:
    plain = text.replace("-", "")
    return dni.is_valid(plain) or nie.is_valid(plain)


_ANY_KIND = re.compile(r"\d(?:[\d -]{4}[\dA-Za-z]|[\dA-Z -]{5})")
"""Is in every number that one of KINDS finds."""


def identities(text: str) -> Iterator[tuple[str, str]]:
    if not _ANY_KIND.search(text):
        return
    for kind in KINDS:
        for match in kind.pattern.finditer(text):
            number = match["id"] if "id" in kind.pattern.groupindex else match[0]
            if kind.is_valid(number):
                yield number, kind.label
