from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.checks.sources import behind, told
from studio.spec.task import TaskSpec
from studio.spec.text.dates import Day, days

NEAR = 7
"""Days of the month that may lie between two mentions of one affair."""


@rule("dates-disagree", "warning")
def dates_disagree(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """An affair that goes over two sessions does not change its year in between."""
    for name in sorted(behind(task, scene)):
        other = scene.episode.task(name)
        there = [each for each in days(told(other)) if each.year] if other else []
        if flaw := next(_differing(task, name, there), None):
            yield flaw


def _differing(task: TaskSpec, name: str, there: list[Day]) -> Iterator[Flaw]:
    for field, item, text in written(task):
        for here in days(text):
            same = [each for each in there if each.month == here.month and abs(each.day - here.day) <= NEAR]
            if here.year and same and all(abs(each.year - here.year) == 1 for each in same):
                yield Flaw(
                    field,
                    f"“{here.span.text}” lies in {here.year}; “{name}” dates the same days {same[0].year}.",
                    "Use one year for both.",
                    item,
                    words=here.span.text,
                    other=name,
                )
