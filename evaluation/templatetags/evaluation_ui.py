"""Template tags and filters for pilots and sessions: states, scores, tokens, money."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.safestring import SafeString

from evaluation.models import Session
from evaluation.protocol.participants import Tokens
from studio.models import Task
from studio.templatetags.studio_ui import status
from studio.web.components import render_component

register = template.Library()

SESSION = {
    "error": ("error", "technical failure"),
    "failed": ("failed", "failed by the agent"),
    "cancelled": ("stopped", "cancelled"),
}
PILOT = {
    "stopped": ("error", "stopped by technical failures"),
    "cancelled": ("stopped", "cancelled"),
    "paused": ("stopped", "paused"),
}
SHORT = {"error": "technical failure", "failed": "failed"}
SHAPES = {"met": "✓", "not_met": "–", "regressed": "↓", "unsupported": "?", "ungraded": "✕", "waiting": "◌"}


@register.simple_tag
def session_state(state: str, css: str = "", short: bool = False) -> SafeString:
    key, text = SESSION.get(state, (state, ""))
    return status(key, SHORT.get(state, text) if short else text, css)


@register.filter
def time_until(moment: datetime) -> str:
    seconds = int((moment - timezone.now()).total_seconds())
    if seconds <= 0:
        return "a moment"
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


@register.simple_tag
def pilot_state(state: str, css: str = "") -> SafeString:
    key, text = PILOT.get(state, (state, ""))
    return status(key, text, css)


@register.simple_tag
def numbered(key: str, noun: str, number: int, css: str = "") -> SafeString:
    """``● intent 3`` in place of the status text alone."""
    return status(key, f"{noun} {number}", css)


@register.simple_tag
def scripted() -> SafeString:
    return render_component("evaluation/parts/scripted.html")


@register.filter
def percent(value: Any) -> str:
    """0.123 → 12.3; a dash if there is no value."""
    return f"{100 * value:.1f}" if isinstance(value, (int, float)) else "–"


@register.filter
def grouped(value: Any) -> str:
    return f"{value or 0:,}"


@register.filter
def money(value: Any) -> str:
    amount = Decimal(str(value or 0))
    if not amount:
        return "$0"
    if amount < Decimal("0.001"):
        return f"${amount:.2g}" if amount >= Decimal("0.000001") else f"${amount:f}"
    return f"${amount:.4f}" if amount < Decimal("0.1") else f"${amount:,.2f}"


@register.filter
def p_value(value: float) -> str:
    """``p = 0.042``, ``p < 0.001``."""
    return "p < 0.001" if value < 0.0005 else f"p = {value:.3f}"


@register.filter
def count(value: int | None) -> str:
    """Of tokens; None is what a service did not tell."""
    return "unknown" if value is None else f"{value:,}"


@register.filter
def token_kinds(tokens: Tokens) -> str:
    """``8,012,000 tokens of input (90 % from a cache) and 210,000 of output (150,000 of them thoughts)``."""
    text = f"{count(tokens.prompt)} tokens of input"
    if tokens.prompt and tokens.cached is not None:
        text += f" ({100 * tokens.cached / tokens.prompt:.0f} % from a cache)"
    text += f" and {count(tokens.completion)} of output"
    return text + (f" ({tokens.reasoning:,} of them thoughts)" if tokens.reasoning else "")


@register.filter
def price(value: Decimal) -> str:
    """0.250000 → 0.25; 15.000000 → 15.00."""
    text = f"{value.normalize():f}"
    return f"{value:.2f}" if len(text.partition(".")[2]) < 2 else text


@register.filter
def seconds(milliseconds: int | None) -> str:
    value = (milliseconds or 0) / 1000
    return f"{value:.1f} s" if value < 90 else f"{value / 60:.0f} min"


@register.filter
def duration(seconds: int) -> str:
    """1 min 40 s."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest if not hours else 0, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"


@register.filter
def mail_date(stamp: str) -> str:
    """Of a simulated app, as its user reads it: 10 Apr 2026, 16:20."""
    try:
        return format_date(datetime.fromisoformat(stamp), "j M Y, H:i")
    except ValueError:
        return stamp


@register.filter
def shape(status_key: str) -> str:
    return SHAPES.get(status_key, "·")


@register.simple_tag
def was_piloted(task: Task) -> bool:
    """Whether any pilot has a session of it."""
    return Session.objects.filter(revision__task=task, run__pilot__isnull=False).exists()
