"""A user who only uses the keyboard, with keys and characters counted."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page

SECONDS_PER_CHARACTER = 0.25
"""48 words per minute, without corrections."""
SECONDS_PER_KEY = 1.2
"""Thinking of a shortcut and looking at its effect."""


@dataclass
class Typist:
    page: Page
    characters: int = 0
    keys: int = 0

    def write(self, text: str) -> None:
        self.characters += len(text)
        self.page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.keys += 1
            self.page.keyboard.press(key)

    def open_from_palette(self, text: str) -> None:
        """Open the palette's first result for ``text``."""
        self.press("Control+k")
        self.write(text)
        self.press("Enter")

    def tab_to(self, name: str, limit: int = 12) -> None:
        """Press Tab until an element with this name has the focus."""
        for _ in range(limit):
            self.press("Tab")
            if name in str(self.page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel")):
                return
        raise AssertionError(f"Tab did not reach {name} within {limit} steps")

    def step_to(self, finding: Locator, limit: int = 5) -> None:
        """Press n until this finding is current."""
        for _ in range(limit):
            self.press("n")
            if finding.get_attribute("data-current") is not None:
                return
        raise AssertionError(f"n did not reach it within {limit} steps")

    @property
    def seconds(self) -> float:
        """The time a person would need."""
        return self.characters * SECONDS_PER_CHARACTER + self.keys * SECONDS_PER_KEY
