"""Forms of a page, as a browser would send them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser


def joined(html: str) -> str:
    """HTML without the line breaks within its tags."""
    return re.sub(r"<[^<>]+>", lambda tag: " ".join(tag[0].split()).replace(" >", ">"), html)


@dataclass
class Form:
    action: str
    id: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    def data(self, **changes: str) -> dict[str, list[str]]:
        """For Django's test client."""
        sent: dict[str, list[str]] = {}
        for name, value in self.fields:
            sent.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\n", "\r\n"))
        return sent | {name: [value] for name, value in changes.items()}


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.open: Form | None = None
        self.template = 0
        self.textarea: str | None = None
        self.text = ""
        self.select: str | None = None
        self.options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "template":
            self.template += 1
        if tag == "form":
            self.open = Form(given.get("action", ""), given.get("id", ""))
            self.forms.append(self.open)
        if self.template or self.open is None:
            return
        name = given.get("name", "")
        if tag == "input" and name and given.get("type") not in ("file", "submit"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self.open.fields.append((name, given.get("value", "on" if given.get("type") == "checkbox" else "")))
        elif tag == "textarea":
            self.textarea, self.text = name, ""
        elif tag == "select":
            self.select, self.options = name, []
        elif tag == "option" and self.select is not None:
            self.options.append((given.get("value", ""), "selected" in given))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self.textarea is not None:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self.template -= 1
        elif tag == "form":
            self.open = None
        elif tag == "textarea" and self.textarea is not None:
            if self.open is not None and not self.template:
                self.open.fields.append((self.textarea, self.text.removeprefix("\n")))
            self.textarea = None
        elif tag == "select" and self.select is not None:
            if self.open is not None and self.options:
                chosen = next((value for value, selected in self.options if selected), self.options[0][0])
                self.open.fields.append((self.select, chosen))
            self.select = None


def forms_of(html: str) -> list[Form]:
    parser = _Forms()
    parser.feed(html)
    return parser.forms


def form_of(html: str, id: str) -> Form:
    return next(form for form in forms_of(html) if form.id == id)
