"""The files of a task: taken in one by one, looked at, edited, told where they are broken."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.base import Content, FileRef
from studio.files.downloads import download, inline
from studio.files.previews import Preview, preview, syntax_flaw
from studio.files.previews.sniff import extension
from studio.files.tokens import FileTokens
from studio.files.uploads import UploadError, validate_upload_size
from studio.forms.expected_artifacts import LIST as ARTIFACTS
from studio.forms.expected_artifacts import artifact_row
from studio.forms.files import file_row, free_key
from studio.models import Blob, Task

REMEMBERED = 3600
"""Seconds for which what was seen in a file is not looked for again."""
LONGEST_PATH = 500
LONGEST_KEY = 80


@login_required
def asset(request: SignedInRequest, slug: str, user_id: str, pk: int, path: str) -> HttpResponse:
    """A file of the task as it was saved, on a page; the file itself with ``?download`` or ``?raw``."""
    task = access.find_task(request.user, slug, user_id, pk)
    found = get_object_or_404(task.assets.select_related("blob"), path=path.replace("\0", "/"))
    return _shown(request, task, found.path, found.blob)


@login_required
def preview_file(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Likewise for a file that a page names by its token and that may be in no version yet. ``?part=seen`` and
    ``?part=edit`` give what the editor shows below its row."""
    task = access.find_task(request.user, slug, user_id, pk)
    known = _tokens(task).unseal(request.GET.get("file", ""))
    path = request.GET.get("path", "").replace("\0", "")[:LONGEST_PATH] or "file"
    if known is None:
        raise Http404
    return _shown(request, task, path, get_object_or_404(Blob, pk=known[0]))


@login_required
@require_POST
def add(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Store one file and answer with its row, which the editor puts among the others and keeps; or with a sentence
    why not. ``taken`` and ``stored`` are the keys and tokens of the rows there are. With ``reference``, the key of an
    expected artifact's row, the file is that row's reference."""
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, "edit")
    path = request.POST.get("path", "").replace("\0", "").strip()
    file = request.FILES.get("file")
    if file is None:
        return JsonResponse({"problem": "No file was uploaded. Choose it again."}, status=422)
    try:
        others = [_tokens(task).unseal(token) or ("", 0) for token in request.POST.getlist("stored")]
        rows = [{"path": f"/{place}", "size": size} for place, (_, size) in enumerate(others)]
        validate_upload_size(rows, [(path, file.size or 0)])
    except UploadError as refusal:
        return JsonResponse({"problem": str(refusal)}, status=422)
    content = file.read()
    stored = FileRef(path=path, sha256=Blob.objects.store([content])[0], size=len(content))
    context: dict[str, object] = {"sheet": None, "can": ["edit"]} | _frame(task)
    if key := request.POST.get("reference", "")[:LONGEST_KEY]:
        row = artifact_row(key, path, "", Content(sha256=stored.sha256, size=stored.size), _tokens(task))
        return render(request, "studio/tasks/rows/artifact.html", context | {"row": row, "key": key})
    row = file_row(free_key(path, request.POST.getlist("taken")), stored, _tokens(task))
    return render(request, "studio/files/parts/row.html", context | {"row": row, "key": row["key"]})


@login_required
@require_POST
def syntax(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Where a text that is being edited is broken, if its name says what it should be."""
    access.find_task(request.user, slug, user_id, pk)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    flaw = syntax_flaw(request.POST.get("path", ""), text)
    return JsonResponse({"line": flaw.line, "problem": flaw.description} if flaw else {"line": 0, "problem": ""})


def _shown(request: SignedInRequest, task: Task, path: str, blob: Blob) -> HttpResponse:
    if "download" in request.GET:
        return download(path, bytes(blob.content))
    if "raw" in request.GET:
        return inline(path, bytes(blob.content))
    seen = _seen(path, blob)
    address = reverse("studio:preview", args=_place(task))
    named = f"{address}?{urlencode({'file': _tokens(task).seal(blob.sha256, blob.size), 'path': path})}"
    context = {"path": path, "size": blob.size, "seen": seen, "address": named} | _frame(task)
    if request.GET.get("part") == "edit":
        if not seen.editable:
            raise Http404
        rows = ARTIFACTS if request.GET.get("list") == ARTIFACTS else "assets"
        asked = {"key": request.GET.get("key", ""), "list": rows}
        return render(request, "studio/files/parts/text.html", context | asked)
    if request.GET.get("part") == "seen":
        may_edit = access.may(request.user, task.episode.persona.benchmark, "edit")
        return render(request, "studio/files/parts/preview.html", context | {"in_editor": may_edit})
    return render(request, "studio/files/file.html", context)


def _seen(path: str, blob: Blob) -> Preview:
    """By content, so that a document is not read again for everyone who opens it."""
    key = f"seen:1:{blob.sha256}:{extension(path)[:20]}"
    seen: Preview | None = cache.get(key)
    if seen is None:
        seen = preview(path, bytes(blob.content))
        cache.set(key, seen, REMEMBERED)
    return seen


def _tokens(task: Task) -> FileTokens:
    return FileTokens(task.episode.persona.benchmark_id)


def _place(task: Task) -> list[Any]:
    return [task.episode.persona.benchmark.slug, task.episode.persona.user_id, task.pk]


def _frame(task: Task) -> dict[str, object]:
    persona = task.episode.persona
    return {"task": task, "persona": persona, "benchmark": persona.benchmark}
