from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("skill-unknown", "error")
def skill_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only skills of its persona."""
    known = {skill.name for skill in context.episode.persona.skills}
    for position, skill in enumerate(task.skills, 1):
        if skill not in known:
            yield Flaw(
                "skills",
                f"The persona has no skill “{skill}”.",
                "Add it to the persona's skills, or choose another one.",
                position,
                passage=skill,
            )
