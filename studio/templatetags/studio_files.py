"""Template tags for files: preview URLs, inputs, and sanitised HTML."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def preview_url(context: template.Context, row: dict[str, Any]) -> str:
    task = context["task"]
    url = reverse("studio:preview", args=[context["benchmark"].slug, context["persona"].user_id, task.pk])
    return f"{url}?{urlencode({'file': row['stored'], 'path': row['path']})}"


@register.simple_tag
def file_input(form: Any, path: str) -> str:
    """The name of the path input of the file with this path; empty if there is none."""
    row = next((row for row in form.assets if row["path"] == path), None)
    return f"assets.{row['key']}.path" if row else ""


@register.simple_tag
def sanitised_html(html: str) -> SafeString:
    """HTML of a ``studio.files.previews.Preview``, which is sanitised there."""
    return mark_safe(html)
