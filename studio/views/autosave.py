"""Pages that keep what is typed: one way for a task's, a persona's, a skill's and a grader script's.

The words are kept as they stand, with the version they are on top of. What others save meanwhile is put in; where they
changed the same place, both versions are shown, and no version is made before somebody chose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.base import Spec
from studio.drafts import autosave
from studio.drafts.rebase import OnTop, Versions, put_on_top
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models import Benchmark, Persona
from studio.personas.versions import PersonaParts
from studio.views.conflicts import choices, decide, places

S = TypeVar("S", bound=Spec)
PERSON = "X-Studio-Person"
"""Who wrote the words: they wait in a browser in which somebody else may sign in meanwhile."""
ASKED = {"csrfmiddlewaretoken", "freeze", "render", "ask", "again", "decide", "take", "mine", "do"}
"""What a button asks of the page, beside its words."""


@dataclass
class Read(Generic[S]):
    """A page as it was sent."""

    spec: S
    """What it says, as far as it can be read."""
    sheet: Any
    """The strings it holds."""
    errors: Mapping[str, str] = field(default_factory=dict)


class KeptPage(ABC, Generic[S]):
    """One person at a page that keeps what is typed."""

    desk: autosave.Desk
    versions: Versions[S]
    by_itself = False
    """Whether a version is made after a rest as well."""

    def __init__(self, request: SignedInRequest, benchmark: Benchmark) -> None:
        self.request = request
        self.benchmark = benchmark
        self.user = request.user

    @abstractmethod
    def read(self, data: QueryDict, base: S, *, store: bool = False) -> Read[S]:
        """What was typed, on top of ``base``; ``store``: the contents of files are needed from now on."""

    @abstractmethod
    def html(self, context: dict[str, Any], theirs: S, spec: S, sent: Read[S]) -> str:
        """The page with ``spec`` on top of the newest version, in answer to a page that was ``sent``. If that has
        errors, with what was sent."""

    def lock(self) -> None:
        """Nobody else makes a version until this transaction ends."""

    @abstractmethod
    def save(self, both: OnTop[S], note: str) -> int:
        """Make a version of it and return its number. Raises DraftError."""

    def says(self) -> dict[str, Any]:
        """What else the page has to know each time it asks."""
        return {}

    def keep_words(self, data: QueryDict) -> None:
        """Keep what a button sent along with something else it asks for. What cannot be stored stays in the page."""
        with suppress(DraftError):
            autosave.keep_copy(self.desk, self.user, words_of(data), base_version=number_of(data.get("base_version")))

    def on_top(self, read: Read[S], base_version: int, data: QueryDict) -> OnTop[S]:
        """What was read together with what others saved since. What cannot be read yet stays as it is, where it is."""
        undecided = places(data.getlist("undecided"), read.spec)
        if read.errors:
            return OnTop(base_version, self.versions.at(base_version), read.spec, tuple(undecided))
        return put_on_top(self.versions, read.spec, base_version=base_version, by=self.user, undecided=undecided)

    def restored(self) -> dict[str, Any]:
        """What the page shows of words that are in no version yet; nothing if there are none. ``sheet`` is what was
        kept where nothing has to be put together, ``spec`` what it is together with what came since."""
        copy = autosave.copy_of(self.desk, self.user)
        if copy is None or not access.may(self.user, self.benchmark, "edit"):
            return {}
        data = posted(copy.sheet or {})
        stale = copy.base_version != self.versions.newest
        read = self.read(data, self.versions.at(copy.base_version), store=stale)
        both = self.on_top(read, copy.base_version, data)
        if not read.errors and not both.undecided and both.spec == both.theirs:
            return {}
        together = stale and not read.errors
        return {
            "spec" if together else "sheet": both.spec if together else read.sheet,
            "on_version": both.number,
            "restored": copy.kept_at,
            "dirty": True,
            "choices": choices(both.undecided, both.theirs, both.spec),
        }


class PersonaPage(KeptPage[S]):
    """One of a persona's pages: its versions are the persona's, made with the button alone."""

    address: str
    """Of the page; once a version is made, where it is found then."""

    def __init__(self, request: SignedInRequest, desk: autosave.Desk, versions: PersonaParts[S]) -> None:
        super().__init__(request, versions.persona.benchmark)
        self.desk, self.versions, self.persona = desk, versions, versions.persona

    @abstractmethod
    def context(self, sheet: Any, spec: S) -> dict[str, Any]:
        """What the page shows of ``spec``; of ``sheet`` if there is one."""

    def shown(self) -> dict[str, Any]:
        """The page as this person finds it."""
        more = self.restored()
        sheet, spec = more.pop("sheet", None), more.pop("spec", None)
        return self.context(sheet, spec or self.versions.at(self.versions.newest)) | more

    def lock(self) -> None:
        rows = Persona.objects.select_related("benchmark")
        self.persona.refresh_from_db(from_queryset=rows.select_for_update(of=("self",)))

    def renewed(self) -> int:
        self.persona.refresh_from_db(fields=["version"])
        return self.persona.version


def submitted(page: PersonaPage[S]) -> HttpResponse:
    """The button of one of a persona's pages: a version; or the page again with all that was typed, and why not."""
    data = page.request.POST
    if "discard" in data:
        autosave.drop_copy(page.desk, page.user)
        return redirect(page.address)
    base_version = number_of(data.get("base_version")) or page.versions.newest
    with transaction.atomic():
        page.lock()
        read = page.read(data, page.versions.at(base_version), store=True)
        both = page.on_top(read, base_version, data)
        context, status = conflict(both, base_version), 409
        if read.errors:
            context, status = shown(both), 422
        elif "take" in data or "mine" in data:
            spec, left = decide(data, both.theirs, both.spec)
            both, status = replace(both, spec=spec, undecided=tuple(left)), 200
            context = shown(both)
        elif not both.undecided:
            try:
                with transaction.atomic():
                    page.save(both, data.get("note", "").replace("\0", "").strip())
            except DraftError as refusal:
                read, status = replace(read, errors={refusal.field: str(refusal)}), 422
                context = shown(replace(both, number=base_version))
            else:
                autosave.drop_copy(page.desk, page.user, settled=words_of(data))
                return redirect(page.address)
    page.keep_words(data)
    return HttpResponse(page.html(context, both.theirs, both.spec, read), status=status)


def answer(page: KeptPage[S]) -> HttpResponse:
    """Autosave. GET: only that this person is here. POST: their words; ``freeze`` makes a version of them.

    The answer says who else is here and which version the page is on top of now. Where others have saved since, it
    brings the page again with their changes put in, and what both changed to choose from.
    """
    request, user = page.request, page.user
    said: dict[str, Any] = {}
    if request.method == "POST":
        access.require(user, page.benchmark, "edit")
        if request.headers.get(PERSON, str(user.pk)) != str(user.pk):
            raise PermissionDenied("Someone else has signed in since this text was written.")
        try:
            said = _keep(page, request.POST)
        except DraftError as refusal:
            said = {"problem": str(refusal)}
    else:
        autosave.be_here(page.desk, user)
    others = [str(other) for other in autosave.others_here(page.desk, user)]
    return JsonResponse({"version": page.versions.newest, "others": others} | page.says() | said)


@transaction.atomic
def _keep(page: KeptPage[S], data: QueryDict) -> dict[str, Any]:
    if "freeze" in data:  # else what others save meanwhile would be put in without the page's knowing
        page.lock()
    typed, newest, base_version = words_of(data), page.versions.newest, number_of(data.get("base_version"))
    if "render" in data and autosave.is_settled(page.desk, page.user, typed):  # they came with the page that was left
        sent, theirs = page.read(data, page.versions.at(base_version)), page.versions.at(newest)
        return {
            "problem": "",
            "froze": True,
            "page": page.html({"on_version": newest}, theirs, theirs, Read(theirs, sent.sheet)),
        }
    stale = base_version != newest
    read = page.read(data, page.versions.at(base_version), store=stale or "render" in data or "freeze" in data)
    both = page.on_top(read, base_version, data)
    said: dict[str, Any] = {"version": both.number, "problem": next(iter(read.errors.values()), "")}
    if both.number != base_version or "render" in data:
        said["page"] = page.html(shown(both), both.theirs, both.spec, read)
    autosave.keep_copy(page.desk, page.user, typed, base_version=base_version)
    if read.errors or both.undecided:
        return said
    if both.spec == both.theirs:
        autosave.drop_copy(page.desk, page.user, settled=typed)
        said["froze"] = True
    elif "freeze" in data and page.by_itself:
        try:
            said["version"] = page.save(both, data.get("note", "").strip()[:300])
        except DraftError as refusal:  # the words stay kept
            return said | {"problem": str(refusal)}
        autosave.drop_copy(page.desk, page.user, settled=typed)
        said["froze"] = True
    return said


def shown(both: OnTop[Any]) -> dict[str, Any]:
    """What a page says of words on top of a version."""
    return {"on_version": both.number, "dirty": True, "choices": choices(both.undecided, both.theirs, both.spec)}


def conflict(both: OnTop[Any], base_version: int) -> dict[str, Any]:
    """What a page says whose save is refused until somebody chose."""
    stale = both.number if both.number != base_version else None
    return shown(both) | {"refused": True, "stale": stale}


def words_of(data: QueryDict) -> dict[str, list[str]]:
    """What the page's fields hold; not what a button asks, nor what is typed beside a suggestion."""
    return {name: values for name, values in data.lists() if name not in ASKED and not name.startswith("assist.")}


def posted(words: Mapping[str, Sequence[str]]) -> QueryDict:
    """Kept words as a page sends them."""
    data = QueryDict(mutable=True)
    for name, values in words.items():
        data.setlist(name, list(values))
    return data
