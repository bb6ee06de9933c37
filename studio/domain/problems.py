"""Problems of an imported file: where, what, and how to fix it."""

from __future__ import annotations

from studio.domain.base import Spec


class Problem(Spec):
    """One error or warning of an import."""

    file: str
    """Path inside the upload; empty: the upload as a whole."""
    line: int | None = None
    """1-based; None: the file as a whole."""
    column: int | None = None
    """1-based."""
    message: str
    fix: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part not in ("", None))
        return f"{place + ': ' if place else ''}{self.message} {self.fix}"


class Report:
    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, message: str, fix: str, *, line: int | None = None, column: int | None = None) -> None:
        self.errors.append(Problem(file=self.file, line=line, column=column, message=message, fix=fix))

    def warn(self, message: str, fix: str, *, line: int | None = None, column: int | None = None) -> None:
        self.warnings.append(Problem(file=self.file, line=line, column=column, message=message, fix=fix))
