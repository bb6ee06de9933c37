import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.checks.sources import established_text
from studio.domain.task import TaskSpec
from studio.domain.text.dates import WEEKDAYS, find_days

YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")


@rule("date-weekday", "warning")
def date_weekday(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A date with the wrong weekday can be read, and judged, in two ways."""
    years = {int(year) for year in YEAR.findall(established_text(task))}
    for field, item, text in authored_texts(task):
        for day in find_days(text):
            year = day.year or (years.copy().pop() if len(years) == 1 else 0)
            if day.weekday < 0 or not year:
                continue
            real = day.falls_on(year)
            if real is None or real == day.weekday:
                continue
            yield Flaw(
                field,
                f"“{day.span.text}” is a {WEEKDAYS[real].capitalize()} in {year}.",
                "Correct the day or the date.",
                item,
                passage=day.span.text,
                severity="warning" if day.year else "hint",
            )
