"""What is wrong with a file someone hands in: where, what, and how to mend it."""

from __future__ import annotations

from studio.domain.base import Spec


class Problem(Spec):
    """One error or warning of an import."""

    file: str
    """Path inside what was handed in; empty: the whole of it."""
    line: int | None = None
    """1-based; None: the file as a whole."""
    column: int | None = None
    """1-based."""
    message: str
    mend: str


class Report:
    """Collects the problems of one file, so that all are told at once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, message: str, mend: str, *, line: int | None = None, column: int | None = None) -> None:
        self.errors.append(Problem(file=self.file, line=line, column=column, message=message, mend=mend))

    def warn(self, message: str, mend: str, *, line: int | None = None, column: int | None = None) -> None:
        self.warnings.append(Problem(file=self.file, line=line, column=column, message=message, mend=mend))
