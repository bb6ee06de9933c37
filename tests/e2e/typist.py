"""Somebody at the keyboard who never touches the mouse: what they press is counted."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page

SECONDS_A_CHARACTER = 0.25
"""Forty-eight words a minute, corrections left out."""
SECONDS_A_KEY = 1.2
"""Thinking of a key and looking at what it did."""


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

    def find(self, words: str) -> None:
        """Go somewhere by the palette: to the first place that it finds for the words."""
        self.press("Control+k")
        self.write(words)
        self.press("Enter")

    def tab_to(self, name: str, most: int = 12) -> None:
        """Press Tab until what is named so has the focus."""
        for _ in range(most):
            self.press("Tab")
            if name in str(self.page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel")):
                return
        raise AssertionError(f"Tab did not come to {name} within {most} steps")

    def step_to(self, finding: Locator, most: int = 5) -> None:
        """Press n until this finding is the one looked at."""
        for _ in range(most):
            self.press("n")
            if finding.get_attribute("data-current") is not None:
                return
        raise AssertionError(f"n did not come to it within {most} steps")

    @property
    def seconds(self) -> float:
        """What a person would need for it."""
        return self.characters * SECONDS_A_CHARACTER + self.keys * SECONDS_A_KEY
