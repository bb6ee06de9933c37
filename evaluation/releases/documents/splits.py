"""Which tasks of a release stand where."""

from __future__ import annotations

from evaluation.releases.documents.markdown import bullets, inline
from studio.domain.base import JsonDict
from studio.domain.episode import Split
from studio.domain.pack import splits_in
from studio.domain.phrases import count_of

MEANINGS = {
    Split.PUBLIC: "public, for any use that the licence allows",
    Split.VALIDATION: "for validation, published too: report their scores by themselves, and do not tune on them",
}


def splits_text(manifest: JsonDict) -> str:
    """Empty if all tasks are public."""
    found = manifest.get("splits", {})
    if Split.PUBLIC not in splits_in(manifest):
        return (
            "**These are the held-out tasks of the benchmark. Do not publish them, and give them to no service that "
            "may keep or train on what it is sent.** The published pack of this version names the SHA-256 of this one."
        )
    rows = [
        f"{count_of(found[split]['tasks'], 'task')} {meaning}"
        for split, meaning in MEANINGS.items()
        if split in found and found[split]["tasks"]
    ]
    if held := found.get(Split.HELD_OUT):
        number = count_of(held["tasks"], "task")
        name = f"`{inline(held['file'])}`, SHA-256 `{held['sha256']}`"
        rows.append(f"{number} held out, in a pack that is not published: {name}. Results on them name it by this hash")
    return f"Its splits:\n\n{bullets(rows)}" if len(found) > 1 else ""
