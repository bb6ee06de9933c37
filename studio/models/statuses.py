"""Colour, shape and label of every status, so that none of the three has to carry it alone."""

STATUSES: dict[str, tuple[str, str, str]] = {
    # of a task
    "draft": ("", "◌", "draft"),
    "in_review": ("warn", "◔", "in review"),
    "changes_requested": ("bad", "↺", "changes requested"),
    "approved": ("good", "◉", "approved"),
    "approved_elsewhere": ("good", "◉", "already approved"),
    "released": ("info", "■", "released"),
    "retired": ("", "□", "retired"),
    # of an intent in a session
    "completed": ("good", "●", "completed"),
    "inferred": ("info", "◐", "inferred"),
    "provided": ("warn", "○", "provided"),
    "open": ("", "◌", "open"),
    # of a turn
    "empty": ("warn", "○", "empty: the agent said nothing"),
    # of a checklist item
    "met": ("good", "✓", "met"),
    "not_met": ("", "–", "not met"),
    "unsupported": ("warn", "?", "unsupported"),
    "ungraded": ("bad", "✕", "not graded"),
    # of a session, a run, a pilot
    "waiting": ("", "◌", "waiting"),
    "running": ("info", "▷", "running"),
    "finished": ("good", "●", "finished"),
    "failed": ("bad", "✕", "failed"),
    "blocked": ("warn", "⊘", "blocked"),
    "stopped": ("", "□", "stopped"),
    # of a finding
    "error": ("bad", "✕", "error"),
    "warning": ("warn", "▲", "warning"),
    "hint": ("info", "i", "hint"),
    "clean": ("good", "✓", "no findings"),
    # of an import
    "created": ("good", "+", "new"),
    "updated": ("info", "~", "changed"),
    "unchanged": ("", "=", "unchanged"),
    "previewed": ("warn", "◔", "awaiting confirmation"),
    "done": ("good", "●", "imported"),
    "refused": ("bad", "✕", "refused"),
    "requested": ("warn", "◔", "awaiting another owner"),
    "confirmed": ("good", "◉", "confirmed"),
    "declined": ("", "□", "declined"),
    "dropped": ("", "□", "dropped"),
}
