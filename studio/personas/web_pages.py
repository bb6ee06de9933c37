"""The web pages of a persona, as authors see and write them. Saving one makes a version of the persona."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import (
    FOLDER,
    MAX_PAGES,
    WebPage,
    WebPageError,
    file_name_for,
    page_problems,
    read_web_page,
    same_address,
    write_web_page,
)
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, User
from studio.personas.save import save_persona


@dataclass(frozen=True)
class PersonaWebPage:
    path: str
    page: WebPage | None
    flaw: str = ""
    """Why no agent finds it."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def web_pages_of(persona: PersonaSpec) -> list[PersonaWebPage]:
    """One query, or none if there are no pages."""
    files = persona.web_pages
    contents = Blob.objects.read([file.sha256 for file in files]) if files else {}
    seen: dict[str, str] = {}
    pages = []
    for number, file in enumerate(files):
        try:
            page = read_web_page(contents.get(file.sha256, b""))
        except WebPageError as error:
            pages.append(PersonaWebPage(file.path, None, str(error)))
            continue
        flaw = f"Only the first {MAX_PAGES} pages are found." if number >= MAX_PAGES else ""
        if (first := seen.setdefault(same_address(page.address), file.path)) != file.path:
            flaw = f"{first} has the same address."
        pages.append(PersonaWebPage(file.path, page, flaw))
    return pages


def find_web_page(persona: Persona, name: str) -> PersonaWebPage | None:
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    only = spec.model_copy(update={"files": tuple(file for file in spec.web_pages if file.path == f"{FOLDER}/{name}")})
    return next(iter(web_pages_of(only)), None)


def save_web_page(persona: Persona, name: str, page: WebPage, *, by: User, base_version: int | None = None) -> str:
    """The name of its file. An empty ``name`` adds one. Raises DraftError with the field, and StaleDraftError."""
    for field, problem in page_problems(page):
        raise DraftError(field, problem)
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    path = f"{FOLDER}/{name}"
    others = [row for row in web_pages_of(spec) if row.path != path]
    if not name and len(others) >= MAX_PAGES:
        raise DraftError("address", f"A persona has at most {MAX_PAGES} web pages.")
    wanted = same_address(page.address)
    if same := next((row for row in others if row.page and same_address(row.page.address) == wanted), None):
        raise DraftError("address", f"“{same.page.title if same.page else same.name}” has this address already.")
    if not name:
        name = file_name_for(page, {row.name for row in others})
        path = f"{FOLDER}/{name}"
    content = write_web_page(page)
    [sha] = Blob.objects.store([content])
    file = FileRef(path=path, sha256=sha, size=len(content))
    _save_files(persona, spec, path, file, by, base_version, f"Web page “{page.title}” saved.")
    return name


def delete_web_page(persona: Persona, name: str, *, by: User, base_version: int | None = None) -> None:
    """Raises StaleDraftError."""
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    _save_files(persona, spec, f"{FOLDER}/{name}", None, by, base_version, f"Web page {name} deleted.")


def _save_files(
    persona: Persona, spec: PersonaSpec, path: str, file: FileRef | None, by: User, base: int | None, note: str
) -> None:
    files = [*(each for each in spec.files if each.path != path), *([file] if file else [])]
    files.sort(key=lambda each: each.path)
    save_persona(persona.pk, spec.model_copy(update={"files": tuple(files)}), by=by, note=note[:200], base_version=base)
