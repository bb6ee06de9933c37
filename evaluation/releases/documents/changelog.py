"""``CHANGELOG.md``: every release so far, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.releases.documents.markdown import bullets, document, inline, paragraphs
from evaluation.releases.documents.statistics import canary
from studio.domain.base import JsonDict
from studio.domain.pack import ERRATUM_EFFECTS

CLASSES = {
    "added": "New",
    "removed": "Removed",
    "rerun": "Run again: what agents, users or tools meet has changed, so earlier scores are of another task",
    "rejudge": "Judge again: only what is asked of the outcome has changed, so earlier sessions can be judged again",
    "words": "Words only: nothing that a score depends on has changed",
}
"""Ways in which a task differs from the release before, with what that means for comparing scores."""


def changelog_file(manifest: JsonDict, earlier: Sequence[JsonDict]) -> bytes:
    """``earlier``: the manifests of the releases before, the newest first."""
    errata = manifest.get("errata", [])
    return document(
        f"# Changes of {inline(manifest['benchmark']['name'])}",
        *(release_section(each, errata) for each in (manifest, *earlier)),
        canary(manifest),
    )


def release_section(manifest: JsonDict, errata: Sequence[JsonDict]) -> str:
    """``errata``: of all releases."""
    date = manifest.get("released")
    own = [erratum_text(each) for each in errata if each["version"] == manifest["version"]]
    blocks = [f"## {inline(manifest['version'])}{f' ({date})' if date else ''}", changes_text(manifest)]
    blocks.append(f"Mistakes that were found later:\n\n{bullets(own)}" if own else "")
    return "\n\n".join(filter(None, blocks))


def erratum_text(erratum: JsonDict) -> str:
    """On one line."""
    tasks = ", ".join(map(inline, erratum["tasks"])) or "the release as a whole"
    effect = ERRATUM_EFFECTS[erratum["effect"]]
    return f"Erratum {erratum['number']} ({erratum['published']}), {tasks}: {inline(erratum['text'])} {effect}"


def changes_text(manifest: JsonDict) -> str:
    changes = manifest.get("changes")
    if not changes:
        return "The first release."
    blocks = [paragraphs(changes["notes"])]
    for name, title in CLASSES.items():
        if tasks := changes["tasks"].get(name):
            blocks.append(f"{title}:\n\n{bullets(inline(f'{each}') for each in tasks)}")
    if not any(changes["tasks"].values()):
        blocks.append("No task has changed.")
    return "\n\n".join(filter(None, blocks))
