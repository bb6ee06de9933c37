"""Forms of auditors and adjudicators."""

from __future__ import annotations

from django import forms

from annotations.judgments import MAX_COMMENT_LENGTH


class JudgmentForm(forms.Form):
    """``number`` makes sending the form twice harmless."""

    answer = forms.ChoiceField(
        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure"), ("skipped", "Skip")],
        error_messages={"required": "Answer yes, no or unsure.", "invalid_choice": "Answer yes, no or unsure."},
    )
    number = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    evidence = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    """One passage per line."""
    comment = forms.CharField(required=False, max_length=MAX_COMMENT_LENGTH, widget=forms.Textarea)
    milliseconds = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)

    def passages(self) -> list[str]:
        return [line for line in self.cleaned_data["evidence"].splitlines() if line.strip()]


class AdjudicationForm(forms.Form):
    decision = forms.ChoiceField(
        choices=[("yes", "Yes"), ("no", "No")],
        error_messages={"required": "Decide yes or no.", "invalid_choice": "Decide yes or no."},
    )
    reason = forms.CharField(
        max_length=MAX_COMMENT_LENGTH,
        widget=forms.Textarea,
        error_messages={"required": "Give your reason in one sentence; the auditors will see it."},
    )
