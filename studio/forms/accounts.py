"""Forms for signing in and up, accounts, invitations and tokens."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import SignupForm
from django import forms
from django.contrib.auth.forms import AuthenticationForm

from studio.access.invitations import sends_mail
from studio.access.people import is_taken
from studio.models import ApiToken, Invitation, Role, User

EMAIL_HELP = "For a forgotten password, and notifications if you want them."
NO_EMAIL_HELP = "So that others can reach you. This studio sends no email itself."


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "Incorrect username or password. Both are case-sensitive.",
        "inactive": "This account is disabled. Ask an owner of your benchmark.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Username or email"


class InvitedSignUpForm(SignupForm):
    display_name = forms.CharField(
        label="Name", max_length=120, help_text="Shown next to your reviews and comments.", required=False
    )
    field_order = ("display_name", "username", "email", "password1")

    def __init__(self, *args: Any, invitation: Invitation, **kwargs: Any) -> None:
        self.invitation = invitation
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        self.fields["username"].help_text = "Letters, digits and . + - _. You sign in with it."
        self.fields["password1"].help_text = "At least 8 characters, and not a common one."
        email = self.fields["email"]
        email.label, email.help_text = "Email", EMAIL_HELP if sends_mail() else NO_EMAIL_HELP
        if invitation.email:
            email.initial = invitation.email
        if invitation.mailed:
            email.disabled, email.help_text = True, "Your invitation went there. You can change it later."

    def clean_email(self) -> str:
        email: str = super().clean_email()
        if is_taken(email):
            raise get_adapter().validation_error("email_taken")
        return email

    def save(self, request: Any) -> User:
        user: User = super().save(request)
        user.display_name = self.cleaned_data["display_name"]
        user.save(update_fields=["display_name"])
        return user


class AccountForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["display_name", "letter_keys"]
        labels = {"display_name": "Name", "letter_keys": "Single-key shortcuts, such as j and k"}
        help_texts = {
            "display_name": "Shown next to your reviews and comments.",
            "letter_keys": "Turn them off if you trigger them by accident or dictate text. "
            "Ctrl K, Enter and Esc keep working.",
        }


class InvitationForm(forms.Form):
    email = forms.EmailField(required=False)
    role = forms.ChoiceField(choices=Role.choices, initial=Role.AUTHOR)
    days = forms.TypedChoiceField(label="Valid for", coerce=int, initial=7)

    def __init__(self, *args: Any, valid_days: tuple[int, ...], mails: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = self.fields["days"]
        assert isinstance(days, forms.TypedChoiceField)
        days.choices = [(number, "1 day" if number == 1 else f"{number} days") for number in valid_days]
        self.fields["email"].help_text = (
            "We send the link there. Leave blank to get a link that you pass on yourself."
            if mails
            else "This studio sends no email: you get a link to pass on yourself."
        )


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What uses it, such as “nightly export”.")
    scope = forms.ChoiceField(label="May", choices=ApiToken.Scope.choices, initial=ApiToken.Scope.READ)
    days = forms.TypedChoiceField(label="Expires after", coerce=int, initial=90)

    def __init__(self, *args: Any, valid_days: tuple[int, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = self.fields["days"]
        assert isinstance(days, forms.TypedChoiceField)
        days.choices = [(number, f"{number} days") for number in valid_days]
