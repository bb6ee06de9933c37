"""Who made a benchmark, under which licence, where its files come from, and what its makers say of it in a pack."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from studio.domain.options import Options

OWN = "own"
LICENCES = {
    "CC0-1.0": ("CC0 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/legalcode"),
    "CC-BY-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/legalcode"),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    ),
    "CC-BY-NC-4.0": (
        "Creative Commons Attribution-NonCommercial 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/legalcode",
    ),
    "CC-BY-NC-SA-4.0": (
        "Creative Commons Attribution-NonCommercial-ShareAlike 4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/legalcode",
    ),
    "Apache-2.0": ("Apache License 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    "MIT": ("MIT License", "https://opensource.org/license/mit"),
    "CDLA-Permissive-2.0": ("Community Data License Agreement, Permissive 2.0", "https://cdla.dev/permissive-2-0/"),
}
"""SPDX identifier → name and address of the text. ``OWN``: a text of the benchmark's own."""
Line = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\r\n]*$")]


class FileOrigin(BaseModel):
    """Of a file that was not made for the benchmark, or of a folder of such files."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    path: Line
    """Below ``data/`` of a pack: ``<persona>/tasks/<task>/rates.csv``, or a folder, ``<persona>/skills/tables/``."""
    source: str = Field(default="", max_length=300, pattern=r"^[^\r\n]*$")
    """Where it comes from: an address, a book, a person. Empty: unknown."""
    licence: str = Field(default="", max_length=300, pattern=r"^[^\r\n]*$")
    """SPDX identifier or words. Empty: unknown."""

    @property
    def is_known(self) -> bool:
        return bool(self.source and self.licence)

    def covers(self, path: str) -> bool:
        return path == self.path or (self.path.endswith("/") and path.startswith(self.path))


class Credits(Options):
    licence: str = Field(default="", max_length=40, title="Licence")
    """Of everything that was made for the benchmark. An unknown licence blocks a release."""
    licence_text: str = Field(default="", max_length=50_000, title="Text of your own licence", validate_default=True)
    """Required for a licence of your own; left out for the others."""
    contributors: list[Line] = Field(default=[], max_length=500, title="Contributors")
    """One per line, in the order of citation, each by the name they want to be known by. “Family, Given” is cited as a
    person, anything else as it is written."""
    contact: str = Field(default="", max_length=300, title="Contact")
    """Whom to write to about mistakes and questions: an address or a page."""
    file_origins: list[FileOrigin] = Field(default=[], max_length=5_000, title="Files from elsewhere")
    """One per line: path | source | licence. A path is as in a pack, “persona/tasks/task/file.csv”, or a folder that
    ends in “/”. All other files have the benchmark’s licence."""
    introduction: str = Field(default="", max_length=20_000, title="Introduction")
    """Opens the README of every release."""
    purpose: str = Field(default="", max_length=20_000, title="Purpose")
    """What the benchmark measures, and what it must not be used for."""
    making: str = Field(default="", max_length=20_000, title="How it was made")
    """Who the experts are, how personas and tasks were chosen."""
    limits: str = Field(default="", max_length=20_000, title="Limits")
    """What its scores do not tell, known biases and gaps."""
    sanitisation: str = Field(default="", max_length=20_000, title="Sanitisation")
    """How personal and confidential data were kept out."""
    validation: str = Field(default="", max_length=20_000, title="Validation")
    """How tasks were shown to be solvable, or why they were not."""

    @field_validator("licence")
    @classmethod
    def _can_be_chosen(cls, licence: str) -> str:
        if licence not in ("", OWN, *LICENCES):
            raise ValueError(f"There is no licence “{licence}” to choose. Choose a licence of your own.")
        return licence

    @field_validator("licence_text")
    @classmethod
    def _belongs_to_a_licence_of_its_own(cls, text: str, info: ValidationInfo) -> str:
        own = info.data.get("licence") == OWN
        if own and not text:
            raise ValueError("A licence of your own needs its text.")
        return text if own else ""

    @field_validator("contributors")
    @classmethod
    def _are_listed_once(cls, names: list[str]) -> list[str]:
        if twice := [name for name, number in Counter(names).items() if number > 1]:
            raise ValueError(f"“{twice[0]}” is listed twice.")
        return names

    @field_validator("file_origins")
    @classmethod
    def _have_paths_of_their_own(cls, origins: list[FileOrigin]) -> list[FileOrigin]:
        if twice := [path for path, number in Counter(each.path for each in origins).items() if number > 1]:
            raise ValueError(f"“{twice[0]}” is listed twice.")
        return origins


PROSE = ("introduction", "purpose", "making", "limits", "sanitisation", "validation")
"""What the makers say in their own words: fields of ``Credits``."""
