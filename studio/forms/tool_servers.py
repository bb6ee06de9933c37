"""How a tool server is reached, as people enter it."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms

from studio.domain.tool_servers import MAX_CHARACTERS, MAX_SECONDS, ServerText
from studio.forms.fields import WholeNumberField


class ToolServerForm(forms.Form):
    name = forms.CharField(
        max_length=20,
        help_text="Small letters, digits and underscores. The assistant’s tools are called mcp_, this name, _ and the "
        "tool’s own name.",
        widget=forms.TextInput(attrs={"class": "mono", "placeholder": "weather"}),
    )
    address = forms.CharField(
        required=False,
        max_length=500,
        help_text="Of a server that runs elsewhere and speaks streamable HTTP.",
        widget=forms.TextInput(attrs={"class": "mono", "placeholder": "https://tools.example.org/mcp"}),
    )
    headers = forms.CharField(
        required=False,
        help_text="One on a line. Keys stay in the environment of the studio: name the variable, as in "
        "Authorization: Bearer ${WEATHER_KEY}.",
        widget=forms.Textarea(attrs={"class": "mono", "rows": 2, "spellcheck": "false"}),
    )
    command = forms.CharField(
        required=False,
        max_length=2_000,
        help_text="Instead of an address: a program that runs in the sandbox, without network, for each session. Files "
        "of the persona’s folder mcp/NAME, which come by import, stand in /run/program.",
        widget=forms.TextInput(attrs={"class": "mono", "placeholder": "python3 /run/program/server.py"}),
    )
    environment = forms.CharField(
        required=False,
        label="Variables of the command",
        help_text="Names only, with spaces between them.",
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
    )
    seconds = WholeNumberField(min_value=1, max_value=MAX_SECONDS, initial=60, label="Seconds a call may take")
    characters = WholeNumberField(
        min_value=1, max_value=MAX_CHARACTERS, initial=MAX_CHARACTERS, label="Characters of a result that are read"
    )

    def clean_headers(self) -> dict[str, str]:
        headers = {}
        for line in filter(str.strip, self.cleaned_data["headers"].splitlines()):
            name, colon, value = line.partition(":")
            if not colon:
                raise forms.ValidationError("Write each header as Name: value.")
            headers[name.strip()] = value.strip()
        return headers

    def clean_command(self) -> list[str]:
        try:
            return shlex.split(self.cleaned_data["command"])
        except ValueError:
            raise forms.ValidationError("A quotation mark is missing.") from None

    def text(self) -> ServerText:
        names = self.cleaned_data["environment"].replace(",", " ").split()
        return ServerText(**self.cleaned_data | {"environment": names})


def values_of(server: ServerText) -> dict[str, Any]:
    return server.model_dump() | {
        "headers": "\n".join(f"{name}: {value}" for name, value in server.headers.items()),
        "command": shlex.join(server.command),
        "environment": " ".join(server.environment),
        "seconds": int(server.seconds),
    }
