"""Static files: collected under names of their content, so that browsers keep them for good, and compressed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage

STYLESHEET = "css/studio.css"
"""The style sheets of every page, in order."""
_STYLE_IMPORT = re.compile(r'^@import "([^"]+)";$', re.MULTILINE)
_IMPORT = r"""^(?P<start>import\s*|(?:import|export)\s[^"';()]*?\sfrom\s*)["'](?P<url>\.\.?/[^"']+)["']"""


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    """With the style sheets of every page in one file. A page that names a file that was not collected is an error."""

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("*.js", ((rf"(?m)(?P<matched>{_IMPORT})", '%(start)s"%(url)s"'),)),
    )
    """Django's own pattern for modules also takes types in comments for imports, as scripts of packages have them."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        if STYLESHEET in paths and not dry_run:
            folder = Path(STYLESHEET).parent
            text = _STYLE_IMPORT.sub(
                lambda found: Path(self.path(str(folder / found[1]))).read_text().rstrip(),
                Path(self.path(STYLESHEET)).read_text(),
            )
            self.delete(STYLESHEET)
            self._save(STYLESHEET, ContentFile(text.encode()))
            paths[STYLESHEET] = (self, STYLESHEET)
        yield from super().post_process(paths, dry_run, **options)


def collect_changed() -> None:
    """Collect all of them, unless nothing changed since: names and times of change tell."""
    sources = {Path(__file__)}
    sources.update(Path(storage.path(name)) for finder in finders.get_finders() for name, storage in finder.list([]))
    state = sha256(repr([(path, path.stat().st_mtime_ns) for path in sorted(sources)]).encode()).hexdigest()
    folder = Path(settings.STATIC_ROOT)
    collected = folder.with_suffix(".collected")
    if folder.exists() and collected.exists() and collected.read_text() == state:
        return
    collected.unlink(missing_ok=True)
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    collected.write_text(state)


@cache  # for each script of a template
def imported_modules(name: str) -> tuple[str, ...]:
    """The modules that a script imports, and those that they import, for browsers to fetch at once."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        path = finders.find(current := waiting.pop())
        text = Path(str(path)).read_text() if path else ""
        for found_import in re.finditer(_IMPORT, text, re.MULTILINE):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(current), found_import["url"]))
            if target not in found and target != name:
                found[target] = None
                waiting.append(target)
    return tuple(found)
