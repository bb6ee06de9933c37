"""The tests of scripts, `*.test.js` beside this file, with the others. `make check` runs them, too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from studio.dev.browser import bundled_node
from studio.local.paths import CHECKOUT

NODE = bundled_node() or shutil.which("node")
FILES = sorted(Path(__file__).parent.glob("*.test.js"))


@pytest.mark.skipif(NODE is None, reason="Node is not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_scripts_pass_their_own_tests(path: Path):
    done = subprocess.run([str(NODE), path], cwd=CHECKOUT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
