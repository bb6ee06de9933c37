"""Signed tokens of stored files.

Files are stored by content, so whoever could name a hash could read other people's files. Pages get tokens of the files
their reader may see, and send them back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.core import signing

PERIOD_SECONDS = 30 * 24 * 3600
"""A token is valid in the period in which it was made and in the next: 30 to 60 days."""
_signer = signing.Signer(salt="studio.stored-file")


@dataclass(frozen=True)
class FileTokens:
    """Tokens that are valid in one benchmark."""

    benchmark: int

    def seal(self, sha256: str, size: int) -> str:
        """The same for the same file within a period, so that a page drawn twice says the same."""
        return _signer.sign_object([sha256, size, self.benchmark, _period()])

    def unseal(self, token: str) -> tuple[str, int] | None:
        """The content's hash and size; None if the token is invalid, expired or another benchmark's."""
        try:
            sha256, size, benchmark, period = _signer.unsign_object(token)
        except (signing.BadSignature, ValueError, TypeError):
            return None
        if benchmark != self.benchmark or not 0 <= _period() - period <= 1:
            return None
        return str(sha256), int(size)


def _period() -> int:
    return int(time.time() // PERIOD_SECONDS)
