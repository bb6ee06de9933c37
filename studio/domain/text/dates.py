"""Calendar days named in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from studio.domain.caching import cached
from studio.domain.text.clauses import Span

MONTHS = "January February March April May June July August September October November December".lower().split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?P<weekday>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday),?\s+(?:the\s+)?)?"
_PATTERNS = (
    re.compile(
        rf"\b{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>(?:19|20)\d\d))?\b"
    ),
    re.compile(rf"\b{_WEEKDAY}{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"),
    re.compile(r"(?<!\d)(?P<weekday>(?!))?(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"),
)

_DIGIT = re.compile(r"\d")
_MONTHS_BEGIN = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""One of these is in every match of the first two patterns; looking for them costs a tenth of trying the patterns."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day as written; ``year`` is 0 and ``weekday`` −1 if the text does not name them."""

    span: Span
    day: int
    month: int
    year: int
    weekday: int

    def falls_on(self, year: int) -> int | None:
        """Its weekday in that year (Monday is 0); None if the day does not exist."""
        try:
            return date(year, self.month, self.day).weekday()
        except ValueError:
            return None


@cached
def find_days(text: str) -> tuple[Day, ...]:
    days: list[Day] = []
    if not _DIGIT.search(text):
        return ()
    for pattern in _PATTERNS if any(name in text for name in _MONTHS_BEGIN) else _PATTERNS[-1:]:
        for match in pattern.finditer(text[:40_000]):
            parts = match.groupdict()
            name = parts["month"].lower()
            month = int(name) if name.isdigit() else 1 + next(n for n, m in enumerate(MONTHS) if m.startswith(name[:3]))
            day = int(parts["day"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                weekday = WEEKDAYS.index(parts["weekday"].lower()) if parts["weekday"] else -1
                days.append(
                    Day(Span(match[0], match.start(), match.end()), day, month, int(parts["year"] or 0), weekday)
                )
    return tuple(sorted(days, key=lambda day: day.span.start))
