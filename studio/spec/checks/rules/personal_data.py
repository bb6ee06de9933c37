import re
from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.task import TaskSpec

NATIONAL_ID = re.compile(r"(?<!\d)\d{6}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\d)")
SOCIAL_SECURITY = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
CARD = re.compile(r"(?<![\d-])(?:\d[ -]?){13,18}\d(?![\d-])")
KEY = re.compile(r"\b(?:sk|pk|ghp|gho|xox[bap]|AKIA)[-_A-Za-z0-9]{16,}\b")


@rule("personal-data", "warning")
def personal_data(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Numbers that identify a person, an account or a key are invented visibly, or left out."""
    for field, item, text in written(task):
        for found, what in _found(text):
            yield Flaw(
                field,
                f"This looks like {what}.",
                "Put an evidently invented one in its place, or leave it out.",
                item,
                words=found,
            )
            break


def _found(text: str) -> Iterator[tuple[str, str]]:
    for pattern, what in (
        (KEY, "an access key"),
        (NATIONAL_ID, "a national identity number"),
        (SOCIAL_SECURITY, "a social security number"),
    ):
        found = pattern.search(text)
        if found and (pattern is not NATIONAL_ID or _national(found[0])):
            yield found[0], what
    for found in IBAN.finditer(text):
        if _iban(found[0].replace(" ", "")):
            yield found[0], "a bank account"
    for found in CARD.finditer(text):
        if _luhn(re.sub(r"\D", "", found[0])):
            yield found[0], "a payment card"


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
