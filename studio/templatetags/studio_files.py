"""What pages say of files: their address, their input, and HTML that was sanitised before."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def look_address(context: template.Context, row: dict[str, Any]) -> str:
    """Where the file of a row is looked at, also while it is in no version."""
    task = context["task"]
    address = reverse("studio:preview", args=[context["benchmark"].slug, context["persona"].user_id, task.pk])
    return f"{address}?{urlencode({'file': row['stored'], 'path': row['path']})}"


@register.simple_tag
def file_input(sheet: Any, path: str) -> str:
    """The input that stands for the file of this path; empty if there is none."""
    row = next((row for row in sheet.assets if row["path"] == path), None)
    return f"assets.{row['key']}.path" if row else ""


@register.simple_tag
def drawn(html: str) -> SafeString:
    """HTML of ``studio.files.previews``, which gives none that is not sanitised."""
    return mark_safe(html)
