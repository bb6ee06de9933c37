"""What an adjudication teaches goes where it helps: to the task's author, to the judge's regression set, to an auditor.

Audits know nothing of tasks: ``AUDIT_FEEDBACK`` in the settings names the function that comments on one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.module_loading import import_string

from annotations.models import Cause
from studio.models import User

FOR_AUTHORS = frozenset({Cause.CRITERION_AMBIGUOUS.value, Cause.EVIDENCE_NOT_VISIBLE.value})
"""Causes that the task's author can fix."""
NO_TEST = FOR_AUTHORS | {Cause.OUT_OF_SCOPE.value}
"""Causes for which a question says nothing of a judge."""


class FeedbackError(Exception):
    """It cannot be given now; the message says why."""


@dataclass(frozen=True)
class Feedback:
    source: str
    """Of the packet."""
    keys: Sequence[str]
    """Of the questions it is about."""
    cause: str
    text: str
    by: User
    request_changes: bool


def send(feedback: Feedback) -> None:
    """Comment on the task and, if wished, return it to its author. Raises FeedbackError."""
    deliver: Callable[[Feedback], None] = import_string(settings.AUDIT_FEEDBACK)
    deliver(feedback)
