"""Keys that people entered: encrypted with a secret of the environment, so that the database alone gives none away."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when a key is stored or read, which `pibench` never does
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECRET_VARIABLE = "STUDIO_KEY_SECRET"  # its name
SHORTEST = 32
"""Characters of the secret."""
_VERSION = "1"
_NONCE = 12


class StoredKeyError(Exception):
    """The message says what to do. It never contains a key."""


def problem_of_secret() -> str:
    """Why no key can be stored here; empty if one can."""
    secret = os.environ.get(SECRET_VARIABLE, "").strip()
    if not secret:
        return (
            f"Keys cannot be stored: {SECRET_VARIABLE} is not set. An administrator can set it, on every machine that "
            "runs the studio, to the output of “openssl rand -base64 32”."
        )
    if len(secret) < SHORTEST:
        return f"Keys cannot be stored: {SECRET_VARIABLE} has fewer than {SHORTEST} characters."
    return ""


def seal(key: str, place: str) -> str:
    """Encrypt a key for one place, by AES-256-GCM. Raises StoredKeyError."""
    nonce = os.urandom(_NONCE)
    sealed = _cipher().encrypt(nonce, key.encode(), place.encode())
    return f"{_VERSION}:{base64.b64encode(nonce + sealed).decode()}"


def unseal(sealed: str, place: str) -> str:
    """Raises StoredKeyError, also if the key was sealed for another place: an address changed in the database does not
    get it."""
    from cryptography.exceptions import InvalidTag

    version, _, text = sealed.partition(":")
    try:
        data = base64.b64decode(text, validate=True)
        if version != _VERSION:
            raise ValueError(version)
        return _cipher().decrypt(data[:_NONCE], data[_NONCE:], place.encode()).decode()
    except (InvalidTag, ValueError):
        raise StoredKeyError(
            f"The stored key cannot be read: {SECRET_VARIABLE} is another one than when it was entered, or the address "
            "has changed. Enter the key again."
        ) from None


def _cipher() -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    if problem := problem_of_secret():
        raise StoredKeyError(problem)
    secret = os.environ[SECRET_VARIABLE].strip().encode()
    return AESGCM(HKDF(SHA256(), 32, None, b"keys of model endpoints").derive(secret))
