"""Signed releases: by whom, checked by strangers, and unsigned ones only as an exception."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from evaluation.llm.stored_keys import SECRET_VARIABLE
from evaluation.models import Release, SigningKey
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.packing import rebuild
from evaluation.releases.signing import replace_key
from evaluation.runner.command import main
from studio.domain.options import OptionsError
from studio.domain.pack import SIGNATURE, SSH_SIGNATURE, SUMS, UNLISTED, write_archive, write_sums
from studio.imports.importer import import_archive
from studio.models import Benchmark
from tests.evaluation.builders import archive_of, benchmark_of, release_blockers, rubric, task
from tests.evaluation.factories import person
from tests.packs import read_statement

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return benchmark_of(task("a", title="The fee", checklist=(rubric("It names the fee."),)))


def cut(benchmark: Benchmark, version: str = "1.0") -> Release:
    return cut_release(benchmark, ReleaseOptions(version=version, accept="A test."), by=None, signature="Ada")


def saved(release: Release, folder: Path) -> Path:
    file = folder / release.file_name
    file.write_bytes(archive_of(release))
    return file


def packed(files: dict[str, bytes], file: Path) -> Path:
    with file.open("wb") as into:
        write_archive(sorted(files.items()), into)
    return file


def unpacked(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_key_is_made_with_the_first_release_and_signs_the_next_ones(benchmark: Benchmark):
    first, second = cut(benchmark), cut(benchmark, "1.1")

    key = SigningKey.objects.get()
    assert first.key == second.key == key
    assert first.manifest["signed_by"] == {"key": key.public, "fingerprint": key.fingerprint}
    for release in (first, second):
        release.refresh_from_db()
        said = read_statement(key.public, release.statement)
        assert said["subject"] == [{"name": release.file_name, "digest": {"sha256": release.sha256}}]
        assert said["predicate"]["version"] == release.version


def test_release_is_made_again_without_the_secret(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch):
    release = cut(benchmark)
    monkeypatch.delenv(SECRET_VARIABLE)
    release.refresh_from_db()

    again = rebuild(release)

    assert (again.sha256, again.changed) == (release.sha256, ())


def test_verifying_tells_integrity_from_who_signed(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    release = cut(benchmark)
    file, own = str(saved(release, tmp_path)), SigningKey.objects.get().fingerprint
    other = benchmark_of(task("z"))
    cut(other)
    foreign = other.signing_keys.get().fingerprint

    assert main(["verify", file]) == 0
    integrity = capsys.readouterr().out
    assert main(["verify", file, "--key", own]) == 0
    signed = capsys.readouterr().out
    assert main(["verify", file, "--key", own.removeprefix("SHA256:"), "--json"]) == 0
    for_programs = json.loads(capsys.readouterr().out)
    assert main(["verify", file, "--key", foreign]) == 2
    refused = capsys.readouterr().err

    assert "Integrity only" in integrity and own in integrity
    assert f"signed by {own}." in signed and "Integrity" not in signed
    assert (for_programs["checked"], for_programs["signed_by"]) == ("signature", own)
    assert f"is signed by {own}, not by {foreign}" in refused


def test_pack_with_its_signatures_taken_away_is_refused(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """By whoever made its sums anew: it is whole, and nobody signed it."""
    file = saved(cut(benchmark), tmp_path)
    own = SigningKey.objects.get().fingerprint
    files = unpacked(file)
    manifest = json.loads(files["pack.json"])
    del manifest["signed_by"]
    whole = {path: content for path, content in files.items() if path not in UNLISTED}
    whole["pack.json"] = json.dumps(manifest).encode()
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in whole.items()}
    unsigned = packed(whole | {SUMS: write_sums(hashes)}, tmp_path / "unsigned.zip")

    assert main(["verify", str(unsigned)]) == 0
    assert "it is not signed" in capsys.readouterr().out
    assert main(["verify", str(unsigned), "--key", own]) == 2
    assert "is not signed" in capsys.readouterr().err
    left = packed(whole | {SUMS: write_sums(hashes), SIGNATURE: files[SIGNATURE]}, tmp_path / "left.zip")
    assert main(["verify", str(left)]) == 2
    assert f"There is {SIGNATURE}" in capsys.readouterr().err


@pytest.mark.parametrize("name", [SIGNATURE, SSH_SIGNATURE])
@pytest.mark.parametrize("damage", ["flipped", "missing"])
def test_damaged_signature_is_refused_by_command_and_import(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, damage: str
):
    files = unpacked(saved(cut(benchmark), tmp_path))
    content = files.pop(name)
    if damage == "flipped":
        files[name] = content[:40] + bytes([content[40] ^ 1]) + content[41:]
    file = packed(files, tmp_path / "damaged.zip")

    assert main(["verify", str(file)]) == 2
    assert name in capsys.readouterr().err
    [error] = import_archive(Benchmark.objects.create(slug="new", name="New"), file.read_bytes(), by=None).errors
    assert name in error.message


def test_commands_of_a_readme_verify_the_pack_as_they_are_written(benchmark: Benchmark, tmp_path: Path):
    if not shutil.which("ssh-keygen") or not shutil.which("openssl"):
        pytest.skip("needs ssh-keygen and openssl")
    with zipfile.ZipFile(io.BytesIO(archive_of(cut(benchmark)))) as archive:
        archive.extractall(tmp_path)
    readme = (tmp_path / "README.md").read_text()
    block = readme.split("Unpacked, the same with other programs:\n\n```sh\n")[1].split("```")[0]

    done = subprocess.run(["bash", "-ec", block], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    own = SigningKey.objects.get().fingerprint
    assert f'Good "pi-bench-pack" signature for {benchmark.slug}' in done.stdout
    assert "Signature Verified Successfully" in done.stdout and own in done.stdout and own in readme


@pytest.mark.slow
@pytest.mark.parametrize("secret", ["", "another secret of more than thirty-two characters"])
def test_what_cannot_be_signed_is_released_only_as_an_exception(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, secret: str
):
    if secret:
        cut(benchmark, "0.9")
        monkeypatch.setenv(SECRET_VARIABLE, secret)
    else:
        monkeypatch.delenv(SECRET_VARIABLE)

    [blocker] = [each for each in release_blockers(benchmark) if each.code == "cannot-be-signed"]
    release = cut(benchmark)

    assert SECRET_VARIABLE in blocker.message
    assert (release.key, release.statement, "signed_by" in release.manifest) == (None, None, False)
    assert release.exceptions[0]["problem"]["code"] in {each.code for each in release_blockers(benchmark)}
    assert main(["verify", str(saved(release, tmp_path))]) == 0
    assert rebuild(release).changed == ()


def test_replaced_key_signs_from_then_on(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch):
    owner = person(benchmark, "owner")
    first = cut(benchmark)
    key = replace_key(benchmark, by=owner)

    second = cut(benchmark, "1.1")

    assert second.key == key != first.key
    monkeypatch.delenv(SECRET_VARIABLE)
    with pytest.raises(OptionsError, match="is not set"):
        replace_key(benchmark, by=owner)


@pytest.mark.slow
def test_page_shows_the_fingerprint_and_hands_out_the_statement(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "owner"))
    release = cut(benchmark)
    key = SigningKey.objects.get()

    page = client.get(release.get_absolute_url()).content.decode()
    next_page = client.get(f"/benchmarks/{benchmark.slug}/releases/").content.decode()
    statement = client.get(f"/releases/{release.pk}/statement/")
    api = client.get(f"/api/releases/{release.pk}/").json()

    assert f"--key {key.fingerprint}" in page and key.fingerprint in next_page
    assert read_statement(key.public, json.loads(statement.content))["predicate"]["benchmark"] == benchmark.slug
    assert api["signed_by"] == key.fingerprint
    answer = client.post(f"/benchmarks/{benchmark.slug}/releases/key/", follow=True)
    assert SigningKey.objects.count() == 2 and "Publish this fingerprint" in answer.content.decode()


def test_private_part_is_stored_sealed_and_never_changed(benchmark: Benchmark):
    cut(benchmark)
    key = SigningKey.objects.get()

    assert key.sealed.startswith("1:")
    with pytest.raises(IntegrityError), transaction.atomic():
        SigningKey.objects.update(sealed="")
    with pytest.raises(IntegrityError, match="release_signed_in_all_forms"), transaction.atomic():
        Release.objects.create(
            benchmark=benchmark, version="2.0", manifest={}, sha256="", size=0, sums_id=Release.objects.get().sums_id,
            key=key,
        )  # fmt: skip
