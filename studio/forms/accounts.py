from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm

from studio.models import User


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "Incorrect username or password. Both are case-sensitive.",
        "inactive": "This account is disabled. Ask an owner of your benchmark.",
    }


class PasswordForm(PasswordChangeForm):
    pass


class AccountForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["display_name", "email", "letter_keys"]
        labels = {"letter_keys": "Single-key shortcuts, such as j and k"}
        help_texts = {
            "display_name": "Shown next to your reviews and comments.",
            "letter_keys": "Turn them off if you trigger them by accident or dictate text. "
            "Ctrl K, Enter and Esc keep working.",
        }
