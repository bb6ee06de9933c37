"""A web page as its author types, pastes or uploads it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django import forms

from studio.domain.web_pages import MAX_CHARACTERS, WebPage, WebPageError, read_web_page
from studio.files.web_text import text_of_html
from studio.forms.fields import one_of_several

MAX_UPLOAD = 5_000_000
"""Bytes."""


class WebPageForm(forms.Form):
    address = forms.CharField(
        max_length=2_000,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false", "autocapitalize": "off"}),
        help_text="As in a browser, such as https://example.org/fees. The assistant sees it and can name it.",
    )
    title = forms.CharField(max_length=500, required=False, help_text="Leave blank to show the address.")
    date = forms.CharField(
        max_length=40, required=False, label="Read on", help_text="When the page said this, as 2026-03-01."
    )
    text = one_of_several(
        forms.CharField(
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 18, "class": "tall"}),
            help_text="What stands on the page. Paste it, or choose a file below.",
        )
    )
    upload = one_of_several(
        forms.FileField(
            required=False,
            label="Or a file",
            help_text="Plain text, Markdown, or a page saved in the browser (HTML). It replaces the text above.",
            widget=forms.ClearableFileInput(attrs={"accept": ".txt,.md,.html,.htm"}),
        )
    )
    tasks = forms.MultipleChoiceField(
        required=False,
        label="Found in",
        widget=forms.CheckboxSelectMultiple,
        help_text="Choose none, and every task finds it.",
    )

    def __init__(self, data: Any, files: Any, *, page: WebPage | None, tasks: Sequence[tuple[str, str]]) -> None:
        initial = {name: getattr(page, name) for name in ("address", "title", "date", "text")} if page else {}
        if page and page.title == page.address:
            initial["title"] = ""
        super().__init__(data, files, initial=initial | {"tasks": list(page.tasks)} if page else None)
        gone = [(task_id, f"{task_id} (no task now)") for task_id in (page.tasks if page else ())]
        known = {task_id for task_id, _ in tasks}
        choice_field = self.fields["tasks"]
        assert isinstance(choice_field, forms.MultipleChoiceField)
        choice_field.choices = [*tasks, *(choice for choice in gone if choice[0] not in known)]
        self._page = page

    @property
    def facts(self) -> list[forms.BoundField]:
        return [field for field in self if field.name != "tasks"]

    def clean_date(self) -> str:
        text: str = self.cleaned_data["date"].strip()
        if not text or (self._page and text == self._page.date):
            return text
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise forms.ValidationError("Write the date as year, month and day: 2026-03-01.") from None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if (file := values.get("upload")) is not None:
            if file.size > MAX_UPLOAD:
                self.add_error("upload", f"The file has {file.size / 1e6:.1f} MB; at most {MAX_UPLOAD / 1e6:g} MB.")
                return values
            try:
                values["text"] = _text_of(file.name or "", file.read())
            except UnicodeDecodeError:
                self.add_error("upload", "This is not text: choose a .txt, .md or .html file, or paste the text.")
                return values
        if not values.get("text", "").strip():
            self.add_error("text", "Paste what stands on the page, or choose a file.")
        elif len(values["text"]) > MAX_CHARACTERS:
            field = "upload" if file else "text"
            self.add_error(field, f"This has {len(values['text']):,} characters; at most {MAX_CHARACTERS:,}.")
        return values

    def page(self) -> WebPage:
        values = self.cleaned_data
        address = values["address"].strip()
        return WebPage(
            address=address,
            title=values["title"].strip() or address,
            date=values["date"],
            text=values["text"].replace("\r\n", "\n").strip(),
            tasks=tuple(values["tasks"]),
        )


def _text_of(name: str, content: bytes) -> str:
    """Without the facts of a page that was stored before. Raises UnicodeDecodeError."""
    if name.lower().endswith((".html", ".htm")):
        return text_of_html(content.decode("utf-8-sig"))[1]
    try:
        return read_web_page(content).text
    except WebPageError:
        return content.decode("utf-8-sig")
