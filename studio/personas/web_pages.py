"""The web pages of a persona, as authors see and write them."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.episode import EpisodeSpec
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
from studio.drafts.validate import DraftError
from studio.models import Blob
from studio.personas.files import Change, FileKind, stored_file, with_files


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


def find_web_page(persona: PersonaSpec, name: str) -> PersonaWebPage | None:
    only = persona.model_copy(update={"files": tuple(file for file in persona.web_pages if file.path == path_of(name))})
    return next(iter(web_pages_of(only)), None)


def path_of(name: str) -> str:
    return f"{FOLDER}/{name}"


class WebPages(FileKind[WebPage]):
    """Named by their files in the folder."""

    empty = WebPage()

    def find(self, spec: PersonaSpec, name: str) -> WebPage | None:
        row = find_web_page(spec, name)
        return (row.page or self.empty) if row else None

    def put(self, episode: EpisodeSpec, name: str, page: WebPage) -> Change:
        spec = episode.persona
        for field, problem in page_problems(page):
            raise DraftError(field, problem)
        others = [row for row in web_pages_of(spec) if row.path != path_of(name)]
        if not name and len(others) >= MAX_PAGES:
            raise DraftError("address", f"A persona has at most {MAX_PAGES} web pages.")
        wanted = same_address(page.address)
        if same := next((row for row in others if row.page and same_address(row.page.address) == wanted), None):
            raise DraftError("address", f"“{same.page.title if same.page else same.name}” has this address already.")
        path = path_of(name or file_name_for(page, {row.name for row in others}))
        files = with_files(spec.files, [stored_file(path, write_web_page(page))])
        return Change(spec.model_copy(update={"files": files}), f"Web page “{page.title}” saved."[:200])

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        files = with_files(episode.persona.files, (), [path_of(name)])
        return Change(episode.persona.model_copy(update={"files": files}), f"Web page {name} deleted.")


WEB_PAGES = WebPages()
