"""Signed tokens of stored files.

Files are stored by content, so whoever could name a hash could read other people's files. Pages get tokens of the files
their reader may see, and send them back.
"""

from __future__ import annotations

from django.core import signing

_signer = signing.Signer(salt="studio.stored-file")


def seal(sha256: str, size: int) -> str:
    """Deterministic, so that a page rendered twice is identical."""
    return _signer.sign_object([sha256, size])


def unseal(token: str) -> tuple[str, int] | None:
    """The content's hash and size; None if the signature is invalid."""
    try:
        sha256, size = _signer.unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return str(sha256), int(size)
