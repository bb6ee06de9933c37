"""Forms of auditors and adjudicators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict

from annotations.judgments import MAX_COMMENT_LENGTH, HandedIn
from annotations.models import Cause
from annotations.packets import BROKEN, DECISION, NO, NOT_SHOWN, UNSURE, YES, PacketContent, Question
from studio.domain.options import OptionsError
from studio.forms.options import RuledForm

ANSWERS = {
    "completed": ("Completed", "1"),
    "inferred": ("Inferred", "2"),
    "provided": ("Provided", "3"),
    YES: ("Yes", "y"),
    NO: ("No", "n"),
    UNSURE: ("Unsure", "u"),
    NOT_SHOWN: ("Not enough shown", "m"),
    BROKEN: ("Broken", "b"),
}
"""How each reads, and the key that gives it."""
AUDITORS_CAUSES = [(value, label) for value, label in Cause.choices if value != Cause.AUDITOR_ERROR]
CONFIDENCES = [("", "Not said"), ("1", "Low"), ("2", "Medium"), ("3", "High")]


class JudgmentForm(RuledForm):
    """``number`` makes sending the form twice harmless."""

    answer = forms.ChoiceField(
        choices=[*((name, ANSWERS[name][0]) for name in (YES, NO, UNSURE, NOT_SHOWN, BROKEN)), ("skipped", "Skip")],
        error_messages={"required": "Answer yes, no or unsure.", "invalid_choice": "Answer yes, no or unsure."},
    )
    number = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    evidence = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    """One passage per line."""
    comment = forms.CharField(required=False, max_length=MAX_COMMENT_LENGTH, widget=forms.Textarea)
    confidence = forms.TypedChoiceField(
        required=False, label="How sure are you?", choices=CONFIDENCES, coerce=int, empty_value=None
    )
    cause = forms.ChoiceField(required=False, label="What makes it hard?", choices=[("", "Not said"), *AUDITORS_CAUSES])
    milliseconds = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)

    def answers(self) -> dict[str, str]:
        return {DECISION: self.cleaned_data["answer"]}

    def handed_in(self) -> HandedIn:
        data = self.cleaned_data
        return HandedIn(
            None if data["answer"] == "skipped" else self.answers(),
            evidence=data["evidence"].splitlines(),
            comment=data["comment"],
            confidence=data["confidence"],
            cause=data["cause"],
            milliseconds=data["milliseconds"],
        )


class QuestionsForm(RuledForm):
    """The answers to a session's questions, each in the field ``answers.KEY``."""

    questions: tuple[Question, ...]

    def reject(self, error: OptionsError) -> None:
        if error.field in {f"answers.{row.key}" for row in self.questions}:
            self.errors.setdefault(error.field, self.error_class([error.message]))
        else:
            super().reject(error)

    def answers(self) -> dict[str, str]:
        """What was entered, valid or not."""
        return answers_in(self.data)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each question with its choices, the chosen one and what is wrong with it."""
        chosen = self.answers() if self.is_bound else self.initial.get("answers", {})
        for question in self.questions:
            name = f"answers.{question.key}"
            yield {
                "question": question,
                "name": name,
                "chosen": chosen.get(question.key),
                "choices": [(choice, *ANSWERS[choice]) for choice in self.choices_of(question)],
                "errors": self.errors.get(name, ()) if self.is_bound else (),
            }

    def choices_of(self, question: Question) -> tuple[str, ...]:
        return question.decisive


class SessionJudgmentForm(QuestionsForm, JudgmentForm):
    answer = forms.ChoiceField(choices=[("answered", "Save"), ("skipped", "Skip")])

    def __init__(self, content: PacketContent, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.content, self.questions = content, content.questions

    def choices_of(self, question: Question) -> tuple[str, ...]:
        return self.content.offered(question.choices)


class AdjudicationForm(RuledForm):
    decision = forms.ChoiceField(
        choices=[(name, ANSWERS[name][0]) for name in (YES, NO, NOT_SHOWN, BROKEN)],
        error_messages={"required": "Decide yes or no.", "invalid_choice": "Decide yes or no."},
    )
    reason = forms.CharField(
        max_length=MAX_COMMENT_LENGTH,
        widget=forms.Textarea,
        error_messages={"required": "Give your reason in one sentence; the auditors will see it."},
    )
    cause = forms.ChoiceField(
        required=False,
        label="What was the cause?",
        choices=[("", "Not said"), *Cause.choices],
        help_text="An unclear criterion or missing evidence becomes a comment for the task's author: on the questions "
        "you check, or on all. A clear record is used to test judges; what auditors overlooked is shown to them.",
    )
    request_changes = forms.BooleanField(
        required=False, label="Send the task back to its author for this", help_text="With your reason."
    )

    def answers(self) -> dict[str, str]:
        return {DECISION: self.cleaned_data["decision"]}


class SessionAdjudicationForm(QuestionsForm, AdjudicationForm):
    decision = None  # type: ignore[assignment]  # each question has its own
    about = forms.MultipleChoiceField(required=False, error_messages={"invalid_choice": "Choose from these questions."})
    """Questions that the cause is about."""

    def __init__(self, content: PacketContent, given: Mapping[str, Sequence[str]], *args: Any, **kwargs: Any) -> None:
        """``given``: what the auditors answered, by question without a majority."""
        super().__init__(*args, **kwargs)
        self.content, self.given = content, given
        self.questions = tuple(row for row in content.questions if row.key in given)
        cast(forms.MultipleChoiceField, self.fields["about"]).choices = [(key, key) for key in given]

    def choices_of(self, question: Question) -> tuple[str, ...]:
        return self.content.offered(question.final)

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in super().rows():
            counts = Counter(self.given[row["question"].key])
            about = self.is_bound and row["question"].key in cast(QueryDict, self.data).getlist("about")
            yield row | {"given": [f"{count} {answer}" for answer, count in sorted(counts.items())], "about": about}


def answers_in(data: Mapping[str, Any]) -> dict[str, str]:
    return {name.removeprefix("answers."): str(data[name]) for name in data if name.startswith("answers.")}


def known_answers(content: PacketContent, data: Mapping[str, Any]) -> dict[str, str]:
    """Of those in ``data``, which may be incomplete, the ones that the questions allow."""
    entered = answers_in(data)
    return {row.key: entered[row.key] for row in content.questions if entered.get(row.key) in row.choices}
