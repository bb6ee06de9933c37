"""Stable uids of intents and checklist items."""

from __future__ import annotations

import uuid

_NAMESPACE = uuid.UUID("8c7b7b0e-2b0e-5f0a-9d5e-6f1c2a3b4c5d")


def uid_of(text: str) -> str:
    """The text as a canonical UUID; other text is hashed into one."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def default_uid(persona: str, task: str, kind: str, position: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join((persona, task, kind, str(position)))))
