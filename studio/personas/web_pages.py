"""The web pages of a persona, as authors see them."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import MAX_PAGES, WebPage, WebPageError, read_web_page, same_address
from studio.models import Blob


@dataclass(frozen=True)
class PersonaPage:
    path: str
    page: WebPage | None
    flaw: str = ""
    """Why no agent finds it."""


def web_pages_of(persona: PersonaSpec) -> list[PersonaPage]:
    """One query, or none if there are no pages."""
    files = persona.web_pages
    contents = Blob.objects.read([file.sha256 for file in files]) if files else {}
    seen: dict[str, str] = {}
    pages = []
    for number, file in enumerate(files):
        try:
            page = read_web_page(contents.get(file.sha256, b""))
        except WebPageError as error:
            pages.append(PersonaPage(file.path, None, str(error)))
            continue
        flaw = f"Only the first {MAX_PAGES} pages are found." if number >= MAX_PAGES else ""
        if (first := seen.setdefault(same_address(page.address), file.path)) != file.path:
            flaw = f"{first} has the same address."
        pages.append(PersonaPage(file.path, page, flaw))
    return pages
