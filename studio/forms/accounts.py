from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm

from studio.models import User


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "Name and password do not fit together. Both are case-sensitive.",
        "inactive": "This account is closed. Ask an owner of your benchmark.",
    }


class PasswordForm(PasswordChangeForm):
    pass


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["display_name", "email", "letter_keys"]
        labels = {"letter_keys": "Use keys of one letter, such as j and k"}
        help_texts = {
            "display_name": "What others see beside your reviews and comments.",
            "letter_keys": "Switch them off if they act when you did not mean it, or if you write by voice. "
            "Ctrl K, Enter and Esc keep working.",
        }
