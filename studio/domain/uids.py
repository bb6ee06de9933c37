"""Stable uids of intents and checklist items."""

from __future__ import annotations

import re
import uuid
from hashlib import sha1

from studio.domain.bounded_cache import cached

_NAMESPACE = uuid.UUID("8c7b7b0e-2b0e-5f0a-9d5e-6f1c2a3b4c5d")


_CANONICAL = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def uid_of(text: str) -> str:
    """The text as a canonical UUID; other text is hashed into one."""
    return text if _CANONICAL.fullmatch(text) else _made_canonical(text)


@cached(2_000_000)
def _made_canonical(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def default_uid(persona: str, task: str, kind: str, position: int) -> str:
    """A UUID of version 5, made without ``uuid.UUID``, which takes four times as long: exports make one per row."""
    name = "\x1f".join((persona, task, kind, str(position)))
    digest = sha1(_NAMESPACE.bytes + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
