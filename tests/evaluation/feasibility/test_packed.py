"""Reference solutions as files of a pack."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.feasibility.packed import UnreadableSolutionError, read_solutions, solution_files
from evaluation.protocol.given import GivenCall, GivenTurn

CANARY = "0e6f7a3e-0000-4000-8000-000000000000"
NOTE = b"The fee is 12 crowns.\n"
SHA256 = hashlib.sha256(NOTE).hexdigest()
TURN = GivenTurn("It is 12 crowns.", (GivenCall("web_fetch", {"url": "https://port"}),), {"out/note.md": SHA256})
PLACE = "solutions/clerk/a/solution.json"


@pytest.fixture
def files() -> dict[str, bytes]:
    return solution_files("clerk", "a", TURN, {SHA256: NOTE}, CANARY)


def test_solution_is_read_as_it_was_written_and_carries_the_canary(files: dict[str, bytes]):
    found = read_solutions({"data/clerk/profile.md": b"", **files})

    assert found.turns == {"clerk": {"a": TURN}}
    assert found.contents == {SHA256: NOTE}
    assert files["solutions/clerk/a/files/out/note.md"] == NOTE
    assert CANARY.encode() in files[PLACE]


def changed(**fields: Any) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files[PLACE] = json.dumps(json.loads(files[PLACE]) | fields).encode()

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.update({PLACE: b"{"}), "it: Invalid JSON"),
        (changed(reply=3), "reply: Input should be a valid string"),
        (changed(calls=[{"name": "x"}]), r"calls\.0\.arguments: Field required"),
        (changed(files={"../note.md": SHA256}), "does not name a file inside the workspace"),
        (changed(files={"out/note.md": "0" * 64}), "names the file out/note.md, which is not beside it"),
        (lambda files: files.pop("solutions/clerk/a/files/out/note.md"), "names the file out/note.md"),
    ],
)
def test_solution_of_another_form_is_refused_by_its_file(
    files: dict[str, bytes], change: Callable[[dict[str, bytes]], None], said: str
):
    change(files)

    with pytest.raises(UnreadableSolutionError, match=f"^{PLACE} .*{said}"):
        read_solutions(files)
