import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.task import TaskSpec

NATIONAL_ID = re.compile(r"(?<!\d)\d{6}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\d)")
SOCIAL_SECURITY = re.compile(
    r"(?<![\d-])(?!000|666|9|078-05-1120|219-09-9999|123-45-6789)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"
)
INSURANCE = re.compile(
    r"\b(?!BG|GB|NK|KN|TN|NT|ZZ|QQ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:\d{2} ?){3}[A-D]\b(?=[^\w]|$)"
)
HEALTH = re.compile(r"\bNHS(?: (?:no\.?|number))?:? ?(?P<digits>\d{3}[ -]?\d{3}[ -]?\d{4})\b", re.IGNORECASE)
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
CARD = re.compile(r"(?<![\d-])(?:\d[ -]?){13,18}\d(?![\d-])")
KEYS = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}\b|\b(?:ghp|gho|ghs|ghu|glpat|xox[abps])[-_][A-Za-z0-9_-]{16,}\b"
    r"|\bgithub_pat_\w{20,}\b|\bAKIA[A-Z0-9]{16}\b|\bAIza[\w-]{35}\b|\bey[JI][\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
    r"|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
)
TOKEN = re.compile(
    r"\b(?:api[-_ ]?key|secret|access[-_ ]?token|auth[-_ ]?token|bearer|client[-_ ]?secret)\b"
    r"[\"']?\s*(?:is|[:=])?\s*[\"'`]?(?P<token>[A-Za-z0-9+/_=-]{20,})",
    re.IGNORECASE,
)
RANDOM = 3.6
"""Bits a letter from which on a string is drawn and not a word: names of things stay below."""
LONGEST = 40_000


@rule("personal-data", "warning")
def personal_data(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Numbers that identify a person, an account or a key are invented visibly, or left out."""
    for field, item, text in written(task):
        for found, what in _found(text[:LONGEST]):
            yield Flaw(
                field,
                f"This looks like {what}.",
                "Put an evidently invented one in its place, or leave it out.",
                item,
                words=found,
            )
            break
    for position, file in enumerate(task.assets, 1):
        for _, what in _found(scene.texts.get(file.sha256, "")[:LONGEST]):
            yield Flaw(
                "assets",
                f"“{file.path}” has what looks like {what}.",
                "Put an evidently invented one in its place, or leave it out.",
                position,
                words=file.path,
            )
            break


@lru_cache(maxsize=4_000)
def _found(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(_find(text))


def _find(text: str) -> Iterator[tuple[str, str]]:
    if found := KEYS.search(text):
        yield found[0], "an access key"
    for found in TOKEN.finditer(text):
        if _entropy(found["token"]) >= RANDOM and any(letter.isdigit() for letter in found["token"]):
            yield found["token"], "an access key"
    for pattern, what in ((SOCIAL_SECURITY, "a social security number"), (INSURANCE, "a national insurance number")):
        if found := pattern.search(text):
            yield found[0], what
    for found in NATIONAL_ID.finditer(text):
        if _national(found[0]):
            yield found[0], "a national identity number"
    for found in HEALTH.finditer(text):
        if _health(re.sub(r"\D", "", found["digits"])):
            yield found["digits"], "a health service number"
    for found in IBAN.finditer(text):
        if _iban(found[0].replace(" ", "")):
            yield found[0], "a bank account"
    for found in CARD.finditer(text):
        if _luhn(re.sub(r"\D", "", found[0])):
            yield found[0], "a payment card"


def _entropy(text: str) -> float:
    """Bits a letter (Shannon)."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _health(digits: str) -> bool:
    """Modulus 11, as the NHS Data Dictionary has it."""
    check = 11 - sum(int(digit) * weight for digit, weight in zip(digits, range(10, 1, -1), strict=False)) % 11
    return len(set(digits)) > 2 and check != 10 and check % 11 == int(digits[9])


def _luhn(digits: str) -> bool:
    if len(set(digits)) < 4 or digits[0] not in "3456":
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _national(text: str) -> bool:
    """Its last character checks the others (GB 11643): a number made up by hand rarely passes."""
    total = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17].upper()


def _iban(text: str) -> bool:
    return int("".join(str(int(letter, 36)) for letter in text[4:] + text[:4])) % 97 == 1
