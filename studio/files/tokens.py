"""A stored file as a page names it: a token that only the studio can make.

Files are stored by content, so whoever could name a hash could read somebody else's file. A page gets tokens of the
files that its reader may see, and gives them back.
"""

from __future__ import annotations

from django.core import signing

_signer = signing.Signer(salt="studio.stored-file")


def seal(sha256: str, size: int) -> str:
    """The same for the same file, so that a page drawn twice says the same."""
    return _signer.sign_object([sha256, size])


def unseal(token: str) -> tuple[str, int] | None:
    """The content's hash and size; None for what is no token of ours."""
    try:
        sha256, size = _signer.unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return str(sha256), int(size)
