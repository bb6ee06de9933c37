"""A benchmark's key: made when first needed, and what it signs."""

from __future__ import annotations

import base64
from typing import NamedTuple

from evaluation.llm.stored_keys import SECRET_VARIABLE, StoredKeyError, problem_of_secret, seal, unseal
from evaluation.models import SigningKey
from evaluation.models.releases import SignedArchive
from studio.domain.base import JsonDict
from studio.domain.options import OptionsError
from studio.domain.signing import (
    fingerprint,
    new_key,
    public_key,
    sign,
    sign_statement,
    ssh_signature,
    statement_of,
)
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry

RELEASE_STATEMENT = "urn:pi-bench-studio:release:1"
"""What the statement beside an archive says: which release of which benchmark it is, and the sha256 of its sums."""


class Signer(NamedTuple):
    key: SigningKey
    private: bytes

    def said(self) -> JsonDict:
        """In the manifest of what it signs."""
        return {"key": self.key.public, "fingerprint": self.key.fingerprint}

    def sign_sums(self, pack: SignedArchive) -> None:
        sums = bytes(pack.sums.content)
        pack.key = self.key
        pack.signature = sign(self.private, sums)
        pack.ssh_signature = ssh_signature(self.private, sums).decode()

    def sign_archive(self, pack: SignedArchive) -> None:
        about = {
            "benchmark": pack.manifest["benchmark"]["slug"],
            "version": pack.manifest["version"],
            "released": pack.manifest["released"],
            "sha256sums": pack.sums.pk,
        }
        statement = statement_of(pack.file_name, pack.sha256, RELEASE_STATEMENT, about)
        pack.statement = sign_statement(self.private, statement)


def key_of(benchmark: Benchmark) -> SigningKey | None:
    """The one in use."""
    return benchmark.signing_keys.order_by("-pk").first()


def why_unsigned(benchmark: Benchmark) -> str:
    """Why nothing of it can be signed here; empty if it can."""
    try:
        key = key_of(benchmark)
        if key is None:
            return problem_of_secret().replace("Keys", "Signing keys", 1)
        _private(key)
    except StoredKeyError as error:
        return str(error)
    return ""


def signer_of(benchmark: Benchmark, *, by: User | None) -> Signer:
    """With the benchmark's key, which is made if there is none. The benchmark is locked. Raises StoredKeyError."""
    key = key_of(benchmark)
    return Signer(key, _private(key)) if key else _new_signer(benchmark, by)


@atomic_with_retry
def replace_key(benchmark: Benchmark, *, by: User) -> SigningKey:
    """Sign with a new key from now on, as when the old one is lost or in wrong hands. Raises OptionsError."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    try:
        return _new_signer(benchmark, by).key
    except StoredKeyError as error:
        raise OptionsError("", str(error)) from None


def _new_signer(benchmark: Benchmark, by: User | None) -> Signer:
    private = new_key()
    public = public_key(private)
    sealed = seal(base64.b64encode(private).decode(), public)
    key = SigningKey.objects.create(
        benchmark=benchmark, public=public, fingerprint=fingerprint(public), sealed=sealed, created_by=by
    )
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="signing_key_made",
        summary=f"Made the signing key {key.fingerprint}",
        data={"fingerprint": key.fingerprint},
    )
    return Signer(key, private)


def _private(key: SigningKey) -> bytes:
    if problem := problem_of_secret():
        raise StoredKeyError(problem)
    try:
        return base64.b64decode(unseal(key.sealed, key.public))
    except StoredKeyError:
        raise StoredKeyError(
            f"The signing key {key.fingerprint} cannot be read: {SECRET_VARIABLE} is another one than when it was made."
        ) from None
