"""For each rule that reads prose: the smallest task that breaks it, and a similar one that does not."""

from tests.studio.domain.checks.cases.case import Case, build
from tests.studio.domain.checks.cases.checklist import CHECKLIST_CASES
from tests.studio.domain.checks.cases.episodes import EPISODES_CASES
from tests.studio.domain.checks.cases.files import FILES_CASES
from tests.studio.domain.checks.cases.intents import INTENTS_CASES
from tests.studio.domain.checks.cases.requests import REQUESTS_CASES
from tests.studio.domain.checks.cases.texts import TEXTS_CASES

CASES: tuple[Case, ...] = (
    *REQUESTS_CASES,
    *INTENTS_CASES,
    *CHECKLIST_CASES,
    *EPISODES_CASES,
    *FILES_CASES,
    *TEXTS_CASES,
)

__all__ = ["CASES", "Case", "build"]
