"""Signatures that programs of others verify too."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.signing import (
    NAMESPACE,
    SignatureError,
    check,
    check_ssh,
    fingerprint,
    new_key,
    pem,
    public_key,
    sign,
    sign_statement,
    ssh_signature,
    statement_of,
)
from tests.packs import read_statement

PRIVATE = bytes(range(32))
PUBLIC = public_key(PRIVATE)
CONTENT = b"0" * 64 + b"  README.md\n"


def run(folder: Path, *argv: str, given_in: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, cwd=folder, stdin=(folder / given_in).open("rb"), capture_output=True, check=False)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen")
def test_openssh_verifies_a_signature_and_shows_the_same_fingerprint(tmp_path: Path):
    (tmp_path / "sums").write_bytes(CONTENT)
    (tmp_path / "sums.sshsig").write_bytes(ssh_signature(PRIVATE, CONTENT))
    (tmp_path / "signers").write_text(f"bench {PUBLIC}\n")
    verify = ("ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "bench", "-n", NAMESPACE, "-s", "sums.sshsig")

    verified = run(tmp_path, *verify, given_in="sums")
    shown = run(tmp_path, "ssh-keygen", "-l", "-f", "signers", given_in="sums")

    assert verified.returncode == 0, verified.stderr
    assert shown.stdout.split()[1].decode() == fingerprint(PUBLIC)
    (tmp_path / "sums").write_bytes(CONTENT + b"\n")
    assert run(tmp_path, *verify, given_in="sums").returncode != 0


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
def test_openssl_verifies_a_raw_signature(tmp_path: Path):
    (tmp_path / "sums").write_bytes(CONTENT)
    (tmp_path / "sums.sig").write_bytes(sign(PRIVATE, CONTENT))
    (tmp_path / "key.pem").write_bytes(pem(PUBLIC))
    verify = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in sums -sigfile sums.sig".split()

    assert run(tmp_path, *verify, given_in="sums").returncode == 0
    (tmp_path / "sums").write_bytes(CONTENT + b"\n")
    assert run(tmp_path, *verify, given_in="sums").returncode != 0


def test_same_content_is_signed_alike_and_by_no_other_key():
    other = new_key()

    assert sign(PRIVATE, CONTENT) == sign(PRIVATE, CONTENT) != sign(other, CONTENT)
    check(PUBLIC, CONTENT, sign(PRIVATE, CONTENT))
    check_ssh(PUBLIC, CONTENT, ssh_signature(PRIVATE, CONTENT))
    for wrong in (sign(other, CONTENT), sign(PRIVATE, b"else"), b""):
        with pytest.raises(SignatureError, match="did not sign this"):
            check(PUBLIC, CONTENT, wrong)


@given(st.data())
def test_no_byte_of_a_signature_in_the_form_of_openssh_can_change(data: st.DataObject):
    file = ssh_signature(PRIVATE, CONTENT)
    at = data.draw(st.integers(0, len(file) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != file[at]))

    with pytest.raises(SignatureError):
        check_ssh(PUBLIC, CONTENT, file[:at] + bytes([byte]) + file[at + 1 :])


@pytest.mark.parametrize("file", [b"", b"\n\n\n", ssh_signature(PRIVATE, CONTENT)[:-1], b"\xff" * 300])
def test_what_is_no_signature_is_refused(file: bytes):
    with pytest.raises(SignatureError):
        check_ssh(PUBLIC, CONTENT, file)


@pytest.mark.parametrize(
    "key", ["", "ssh-ed25519", "ssh-rsa AAAA", "ssh-ed25519 AAAA", f"{PUBLIC}AAAA", "ssh-ed25519 é"]
)
def test_what_is_no_key_is_refused(key: str):
    with pytest.raises(SignatureError):
        fingerprint(key)


def test_statement_says_what_was_signed_and_nothing_else():
    said = statement_of("bench-1.0.zip", "ab" * 32, "urn:x", {"version": "1.0"})
    envelope = sign_statement(PRIVATE, said)

    assert read_statement(PUBLIC, json.loads(json.dumps(envelope))) == said
    assert envelope["signatures"][0]["keyid"] == fingerprint(PUBLIC)
    other = base64.b64encode(json.dumps({**said, "predicateType": "urn:y"}).encode()).decode()
    with pytest.raises(SignatureError):
        read_statement(PUBLIC, {**envelope, "payload": other})
    with pytest.raises(SignatureError, match="did not sign this"):
        read_statement(public_key(new_key()), envelope)
