"""The scripts of `static/js` as browsers load them: a few modules a page, in `static/built`.

``python -m studio.dev.bundles`` writes them with esbuild, ``--check`` compares them with what it would write. They are
in the repository, so that running the studio needs no Node.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from studio.dev.javascript import TOOLS
from studio.local.paths import CHECKOUT

SCRIPTS = CHECKOUT / "static" / "js"
BUNDLES = CHECKOUT / "static" / "built"
DIGEST = "digest.txt"

_NAMED_MODULE = re.compile(r"""\{% module '(js/[^']+)' %\}""")
_VENDORED = re.compile(r"""["']((?:\.\./)+vendor/[^"']+)["']""")


def entries() -> list[str]:
    """The scripts that templates name, as paths below `static`."""
    templates = (path.read_text() for path in (CHECKOUT / "templates").rglob("*.html"))
    return sorted({name for text in templates for name in _NAMED_MODULE.findall(text)})


def are_current() -> bool:
    """Whether the scripts are those that the bundles were made of; needs no Node."""
    return (BUNDLES / DIGEST).read_text().strip() == _digest_of_scripts()


def _digest_of_scripts() -> str:
    digest = hashlib.sha256()
    for path in sorted(SCRIPTS.rglob("*.js")):
        digest.update(f"{path.relative_to(SCRIPTS)}\0{path.read_text()}\0".encode())
    return digest.hexdigest()


def build(folder: Path) -> None:
    """What several pages need becomes modules of their own, named by their content. White space stays, so that a change
    can be read and Django finds the imports to rename; vendored modules are imported as they are."""
    texts = (path.read_text() for path in SCRIPTS.rglob("*.js"))
    vendored = sorted({name for text in texts for name in _VENDORED.findall(text)})
    subprocess.run(
        [
            str(TOOLS / ".bin" / "esbuild"),
            *(f"static/{name}" for name in entries()),
            "--bundle",
            "--splitting",
            "--format=esm",
            "--target=es2022",
            "--minify-syntax",
            "--charset=utf8",
            "--outbase=static/js",
            f"--outdir={folder}",
            "--chunk-names=chunks/[name]-[hash]",
            *(f"--external:{name}" for name in vendored),
            "--log-level=warning",
        ],
        cwd=CHECKOUT,
        check=True,
    )
    (folder / DIGEST).write_text(_digest_of_scripts() + "\n")


def main(arguments: list[str]) -> int:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        build(folder)
        new = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    old = {path.relative_to(BUNDLES): path.read_bytes() for path in BUNDLES.rglob("*") if path.is_file()}
    if new == old:
        return 0
    if "--check" in arguments:
        print("static/built is not what static/js makes. Run: python -m studio.dev.bundles")
        return 1
    for path in old.keys() - new.keys():
        (BUNDLES / path).unlink()
    for path, content in new.items():
        (BUNDLES / path).parent.mkdir(parents=True, exist_ok=True)
        (BUNDLES / path).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
