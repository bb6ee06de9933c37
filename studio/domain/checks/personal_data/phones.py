"""Telephone numbers that are valid in a numbering plan and not reserved for fiction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import phonenumbers

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
