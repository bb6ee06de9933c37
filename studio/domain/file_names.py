"""Names of files and folders that every common system stores and shows as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DISGUISING = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Invisible characters, among them those that turn the direction of what follows."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)
_NAME_BYTES = 255


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the name of a file or folder, each with how to fix it."""
    if CONTROL.search(name):
        yield "The name contains a character that cannot be displayed or is not UTF-8.", "Rename the file."
    if found := DISGUISING.search(name):
        yield (
            f"The name contains the invisible character U+{ord(found[0]):04X}, which can disguise it.",
            "Rename the file.",
        )
    if name.strip(".") and name[-1] in ". ":
        yield "The name ends in a dot or a space, which some systems drop.", "Rename the file or folder."
    if _DEVICE.match(name):
        yield f"The name “{name[:20]}” stands for a device on some systems.", "Rename the file or folder."
    if len(name.encode("utf-8", "replace")) > _NAME_BYTES:
        yield f"The name is longer than {_NAME_BYTES} bytes.", "Rename the file."
