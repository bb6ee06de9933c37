"""What axe-core and the width of a phone say about the page that a browser shows."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = (Path(__file__).parent / "vendor" / "axe" / "axe.min.js").read_text()
COLOR_RULES = ("color-contrast", "link-in-text-block")
"""All other rules say the same in both colour schemes."""
SERIOUS = """async (only) => {
    const others = axe._audit.rules.filter((rule) => ["minor", "moderate"].includes(rule.impact));
    const rules = Object.fromEntries(others.map((rule) => [rule.id, {enabled: false}]));
    const which = only ? {runOnly: only} : {rules};
    const options = {preload: false, selectors: false, resultTypes: ["violations"], ...which};
    const results = await axe.run(document, options);
    return results.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) =>
        `${one.id}: ${one.help}: ` + one.nodes.slice(0, 4).map((node) =>
            `${node.html.slice(0, 160)} (${node.any.concat(node.all, node.none)[0]?.message ?? ""})`).join(" | "));
}"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PHONE = 390
WIDE_LETTERS = """() => ["--sans", "--mono"].forEach((name) =>
    document.documentElement.style.setProperty(name, "monospace"))"""
"""What a machine shows whose fonts have none that it takes for the system's."""
LARGE_TEXT = """() => {
    document.documentElement.style.setProperty("--sans", "sans-serif");
    document.documentElement.style.removeProperty("--mono");
    const sizes = [...document.querySelectorAll("body *")].map((one) => [one, getComputedStyle(one).fontSize]);
    for (const [one, size] of sizes) one.style.setProperty("font-size", `calc(2 * ${size})`, "important");
}"""


def violations(page: Page) -> list[str]:
    """Serious ones in either colour scheme, and whether it is wider than its window or a phone, there also with wide
    letters or text twice as large. It stays as wide as a phone, and dark."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    page.emulate_media(color_scheme="light")
    found = [f"light {violation}" for violation in page.evaluate(SERIOUS, None)]
    page.emulate_media(color_scheme="dark")
    found += [f"dark {violation}" for violation in page.evaluate(SERIOUS, list(COLOR_RULES))]
    size = page.viewport_size
    assert size
    for width in (size["width"], PHONE):
        if width != size["width"]:
            page.set_viewport_size({"width": width, "height": 844})
        if (wider := page.evaluate(WIDER)) > 0:
            found.append(f"{wider} px wider than {width}")
    for what, change in {"wide letters": WIDE_LETTERS, "large text": LARGE_TEXT}.items():
        page.evaluate(change)
        if (wider := page.evaluate(WIDER)) > 0:
            found.append(f"{wider} px wider than {PHONE} with {what}")
    return found
