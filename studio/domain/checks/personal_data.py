"""Detects real-looking personal numbers by their check digits, access keys, and telephone numbers that are valid in a
numbering plan and not reserved for fiction."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import phonenumbers
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


KEYS = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,200}\b"
    r"|\b(?:ghp|gho|ghs|ghu|glpat|xox[abps])[-_][A-Za-z0-9_-]{16,200}\b"
    r"|\bgithub_pat_\w{20,200}\b|\bAKIA[A-Z0-9]{16}\b|\bAIza[\w-]{35}\b"
    r"|\bey[JI][\w-]{10,2000}\.[\w-]{10,2000}\.[\w-]{5,2000}"
    r"|-----BEGIN (?:[A-Z]{1,20} ){0,5}PRIVATE KEY-----"
)
TOKEN = re.compile(
    r"\b(?:api[-_ ]?key|secret|access[-_ ]?token|auth[-_ ]?token|bearer|client[-_ ]?secret)\b"
    r"[\"']?\s*(?:is|[:=])?\s*[\"'`]?(?P<token>[A-Za-z0-9+/_=-]{20,500})",
    re.IGNORECASE,
)
MIN_ENTROPY = 3.6
"""Bits per character above which a string counts as random; names are below."""


_ANY_KEY = re.compile(r"[\w+/=-]{13}|-----BEGIN ")
"""Is in everything that KEYS and TOKEN find."""


def keys(text: str) -> Iterator[str]:
    if not _ANY_KEY.search(text):
        return
    if match := KEYS.search(text):
        yield match[0]
    for match in TOKEN.finditer(text):
        if _entropy(match["token"]) >= MIN_ENTROPY and any(letter.isdigit() for letter in match["token"]):
            yield match["token"]


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


INTERNATIONAL = re.compile(r"(?<![\w+])\+\d[\d ()./-]{6,18}\d(?!\d)")
NATIONAL = re.compile(
    r"\b(?:phone|telephone|tel\.?|mobile|cell(?:phone)?|call|ring|text|sms|fax|whatsapp|dial|hotline"
    r"|reach (?:me|him|her|us|them))(?:(?!\d)[^\n]){0,60}?"
    r"(?<![\w./+-])(?P<number>\(?0?\d{2,5}\)?[ /.-]?\d{3,4}[ .-]?\d{3,5})(?![\w-]|[.,/]\d)",
    re.IGNORECASE,
)
COUNTRIES = ("US", "GB", "DE", "FR", "IE", "AU", "NL", "ES", "IT", "CH", "AT", "IN", "CN")
"""Countries tried for numbers without a country code."""
FICTIONAL = re.compile(
    r"\+1\d{3}555\d{4}"
    r"|\+44(?:1632960|2079460|(?:113|114|115|116|117|118|121|131|141|151|161)4960|1914980|2896496|2920180)\d{3}"
    r"|\+44(?:7700900|8081570|3069990|909879)\d{3,4}"
    r"|\+49(?:3023125|6990009|4066969|2214710|8999998)\d{3}|\+491522(?:8817386|8895456)|\+4917139200\d\d"
    r"|\+33(?:19900|26191|35301|46571|53649|63998)\d{4}|\+35320 ?91\d{5}"
    r"|\+61(?:[2378](?:5550|7010)\d{4}|491570\d{3}|49157\d{4})"
)
"""Ranges reserved for fiction by NANPA (555), Ofcom, Bundesnetzagentur, ARCEP, ComReg and ACMA."""
MAX_NUMBERS = 20
"""Maximum numbers checked per text."""


def phones(text: str) -> Iterator[str]:
    yield from (match[0] for match in islice(INTERNATIONAL.finditer(text), MAX_NUMBERS) if _is_real(match[0], None))
    national = [match["number"] for match in islice(NATIONAL.finditer(text), MAX_NUMBERS)]
    yield from (number for number in national if not _is_trivial(number) and _is_real_somewhere(number))


def _is_real_somewhere(number: str) -> bool:
    return any(_is_real(number, country) for country in COUNTRIES) and not any(
        _is_fictional(number, country) for country in COUNTRIES
    )


def _is_trivial(number: str) -> bool:
    """A date, or ascending or repeated digits: 20270311, 1234567890."""
    digits = re.sub(r"\D", "", number)
    return (
        bool(re.fullmatch(r"(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d", digits))
        or digits in "01234567890"
        or len(set(digits)) < 4
    )


def _is_real(number: str, country: str | None) -> bool:
    parsed = _parse(number, country)
    return parsed is not None and phonenumbers.is_valid_number(parsed) and not _is_fictional(number, country)


def _is_fictional(number: str, country: str | None) -> bool:
    parsed = _parse(number, country)
    if parsed is None:
        return False
    return FICTIONAL.fullmatch(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)) is not None


def _parse(number: str, country: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(number, country)
    except phonenumbers.NumberParseException:
        return None
