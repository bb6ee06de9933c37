"""Signatures by one Ed25519 key (RFC 8032): raw, in the form of OpenSSH, and around an in-toto statement.

Signatures of the same content are the same, so that what is made again is signed alike.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.domain.base import JsonDict

if TYPE_CHECKING:  # imported when something is signed or verified, which `pibench --help` need not wait for
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KIND = "ssh-ed25519"
NAMESPACE = "pi-bench-pack"
"""Of signatures in the form of OpenSSH: one made for something else is none of a pack."""
STATEMENT = "application/vnd.in-toto+json"
_MAGIC = b"SSHSIG"
_BLOB = len(KIND) + 4 + 4 + 32
"""Bytes of a public key as OpenSSH writes it."""


class SignatureError(ValueError):
    """The message says what does not fit."""


def new_key() -> bytes:
    """A private key, 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes_raw()


def public_key(private: bytes) -> str:
    """As OpenSSH writes it, ``ssh-ed25519 AAAA…``: the form in which public keys are kept and handed on."""
    blob = _string(KIND.encode()) + _string(_private(private).public_key().public_bytes_raw())
    return f"{KIND} {base64.b64encode(blob).decode()}"


def fingerprint(public: str) -> str:
    """``SHA256:…``, as ``ssh-keygen -l`` shows it. Raises SignatureError."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(_read(public)).digest()).decode().rstrip('=')}"


def pem(public: str) -> bytes:
    """For OpenSSL. Raises SignatureError."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return _public(public).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def sign(private: bytes, content: bytes) -> bytes:
    """64 bytes."""
    return _private(private).sign(content)


def check(public: str, content: bytes, signature: bytes) -> None:
    """Raises SignatureError unless the key signed the content."""
    from cryptography.exceptions import InvalidSignature

    try:
        _public(public).verify(signature, content)
    except InvalidSignature:
        raise SignatureError(f"The key {fingerprint(public)} did not sign this.") from None


def ssh_signature(private: bytes, content: bytes) -> bytes:
    """A file for ``ssh-keygen -Y verify -n NAMESPACE`` (openssh-portable, PROTOCOL.sshsig)."""
    return _ssh_file(public_key(private), sign(private, _ssh_content(content)))


def check_ssh(public: str, content: bytes, file: bytes) -> None:
    """Raises SignatureError unless this is ``ssh_signature`` of the content by the key."""
    lines = file.decode("ascii", "replace").split("\n")
    signature = _decoded("".join(lines[1:-2]))[-64:]
    if _ssh_file(public, signature) != file:
        raise SignatureError(f"This is no signature by the key {fingerprint(public)} in the form of OpenSSH.")
    check(public, _ssh_content(content), signature)


def sign_statement(private: bytes, statement: JsonDict) -> JsonDict:
    """A DSSE envelope (secure-systems-lab/dsse, protocol 1.0.2) around an in-toto statement."""
    payload = json.dumps(statement, ensure_ascii=False, sort_keys=True).encode()
    signature = base64.b64encode(sign(private, _envelope_content(payload))).decode()
    return {
        "payloadType": STATEMENT,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": fingerprint(public_key(private)), "sig": signature}],
    }


def statement_of(name: str, sha256: str, kind: str, predicate: Mapping[str, object]) -> JsonDict:
    """An in-toto statement, version 1, of a file."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": kind,
        "predicate": dict(predicate),
    }


def _ssh_content(content: bytes) -> bytes:
    """What is signed."""
    return _MAGIC + _ABOUT + _string(hashlib.sha512(content).digest())


def _ssh_file(public: str, signature: bytes) -> bytes:
    signed = _string(KIND.encode()) + _string(signature)
    whole = _MAGIC + struct.pack(">I", 1) + _string(_read(public)) + _ABOUT + _string(signed)
    text = base64.b64encode(whole).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    return "\n".join(("-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", "")).encode()


def _envelope_content(payload: bytes) -> bytes:
    kind = STATEMENT.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _private(private: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private)


def _public(public: str) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(_read(public)[-32:])


def _read(public: str) -> bytes:
    """Its blob."""
    kind, _, text = public.partition(" ")
    blob = _decoded(text)
    if kind != KIND or len(blob) != _BLOB or not blob.startswith(_string(KIND.encode()) + struct.pack(">I", 32)):
        raise SignatureError("This is no public key of the form “ssh-ed25519 AAAA…”.")
    return blob


def _string(content: bytes) -> bytes:
    """As SSH writes one (RFC 4251)."""
    return struct.pack(">I", len(content)) + content


_ABOUT = b"".join(map(_string, (NAMESPACE.encode(), b"", b"sha512")))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SignatureError("This is no base64.") from None
