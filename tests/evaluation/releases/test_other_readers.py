"""A pack's flat files, read offline by `datasets` and `mlcroissant` in an environment of their own."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.episodes.moves import Move, make_move
from studio.models import Role
from tests.evaluation.builders import archive_of, benchmark_of, rubric, task
from tests.factories import member
from tests.wheels import environment

READ = """
import json, sys
import mlcroissant
from datasets import get_dataset_config_names, load_dataset
pack = sys.argv[1]
found = {"datasets": {}, "croissant": {}}
for name in get_dataset_config_names(pack):
    for split, rows in load_dataset(pack, name).items():
        found["datasets"][f"{name}/{split}"] = [dict(row) for row in rows]
found["default"] = sorted(load_dataset(pack))
described = f"{pack}/croissant.json"
for rows in mlcroissant.Dataset(jsonld=described).metadata.record_sets:
    read = mlcroissant.Dataset(jsonld=described).records(rows.id)
    plain = lambda value: value.decode() if isinstance(value, bytes) else value
    found["croissant"][rows.id] = [{key.partition("/")[2]: plain(value) for key, value in row.items()} for row in read]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.django_db
def test_flat_files_are_read_as_they_were_written_and_a_changed_one_is_refused(tmp_path: Path):
    checklist = (rubric("It names the “fee”,\nand the day.", 2), rubric("It is signed."))
    benchmark = benchmark_of(task("a"), task("b", "a", checklist=checklist), task("v", checklist=checklist[:1]))
    make_move(benchmark.personas.get().pk, Move("split", ("v",), split="validation"), by=member(benchmark, Role.OWNER))
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada")
    pack = tmp_path / "pack"
    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as archive:
        archive.extractall(pack)
    python = environment(tmp_path, "datasets", "mlcroissant", locked=False)
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }

    def read() -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(python), "-c", READ, str(pack)], env=offline, capture_output=True, text=True)

    done = read()
    assert done.returncode == 0, done.stderr[-5_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    written = {
        file.stem: [json.loads(line) for line in file.read_text().splitlines()] for file in (pack / "flat").iterdir()
    }
    assert found["croissant"] == {
        name: [{key: value for key, value in row.items() if key != "canary"} for row in rows]
        for name, rows in written.items()
    }
    assert found["datasets"] == {
        "/".join((table, split or "public")): rows
        for name, rows in written.items()
        for table, _, split in (name.partition("-"),)
    }
    assert {"tasks/public", "tasks/validation", "criteria/validation", "dependencies/public"} <= found[
        "datasets"
    ].keys()
    assert found["default"] == ["public", "validation"]

    criteria = pack / "flat" / "criteria.jsonl"
    criteria.write_text(criteria.read_text().replace("signed", "sealed"))
    assert "hash" in read().stderr.lower()
