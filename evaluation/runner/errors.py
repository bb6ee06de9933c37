"""What goes wrong in a way that people can mend."""

from __future__ import annotations


class PibenchError(Exception):
    """The message says what is wrong; ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
