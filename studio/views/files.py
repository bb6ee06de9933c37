"""The files of a task: upload, preview, text and syntax check."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from studio import access
from studio.access import SignedInRequest
from studio.domain.base import Content, FileRef
from studio.drafts.load import load_task
from studio.files.downloads import download, inline
from studio.files.previews import Preview, syntax_flaw
from studio.files.previews import preview as preview_of
from studio.files.previews.sniff import extension
from studio.files.uploads import UploadError, validate_upload_size
from studio.forms.files import ARTIFACTS, FILES, artifact_row, file_row, free_key
from studio.models import Blob, Task
from studio.views.pages import frame, place_of, show, task_page
from studio.views.tasks.editor_context import file_tokens

PREVIEW_CACHE_SECONDS = 3600
LONGEST_PATH = 500
LONGEST_KEY = 80


@task_page()
def asset(request: SignedInRequest, task: Task, path: str) -> HttpResponse:
    """A saved file on a page of its own; the file itself with ``?download`` or ``?raw``."""
    path = path.replace("\0", "/")
    file = next((file for file in load_task(task).assets if file.path == path), None)
    if file is None:
        raise Http404
    return _file_response(request, task, path, get_object_or_404(Blob, pk=file.sha256))


@task_page()
def preview_file(request: SignedInRequest, task: Task) -> HttpResponse:
    """As ``asset``, for a file named by its token, which may be in no version yet. ``?part=seen`` and ``?part=edit``
    return what the editor shows below the file's row."""
    stored = file_tokens(task).unseal(request.GET.get("file", ""))
    path = request.GET.get("path", "").replace("\0", "")[:LONGEST_PATH] or "file"
    if stored is None:
        raise Http404
    return _file_response(request, task, path, get_object_or_404(Blob, pk=stored[0]))


@task_page("edit", "POST")
def add(request: SignedInRequest, task: Task) -> HttpResponse:
    """Store one file and return its row, or the reason why not.

    ``taken`` and ``stored`` are the keys and tokens of the page's rows. With ``reference``, the key of an expected
    artifact, the file becomes its reference.
    """
    path = request.POST.get("path", "").replace("\0", "").strip()
    file = request.FILES.get("file")
    if file is None:
        return JsonResponse({"problem": "No file was uploaded. Choose it again."}, status=422)
    try:
        others = [file_tokens(task).unseal(token) or ("", 0) for token in request.POST.getlist("stored")]
        rows = [{"path": f"/{index}", "size": size} for index, (_, size) in enumerate(others)]
        validate_upload_size(rows, [(path, file.size or 0)])
    except UploadError as error:
        return JsonResponse({"problem": str(error)}, status=422)
    content = file.read()
    stored = FileRef(path=path, sha256=Blob.objects.store([content])[0], size=len(content))
    context: dict[str, object] = frame(request, task) | {"form": None, "can": ["edit"]}
    if key := request.POST.get("reference", "")[:LONGEST_KEY]:
        row = artifact_row(key, path, "", Content(sha256=stored.sha256, size=stored.size), file_tokens(task))
        return render(request, "studio/tasks/rows/artifact.html", context | {"row": row, "key": key})
    row = file_row(free_key(path, request.POST.getlist("taken")), stored, file_tokens(task))
    return render(request, "studio/files/parts/row.html", context | {"row": row, "key": row["key"]})


@task_page("view", "POST")
def syntax(request: SignedInRequest, task: Task) -> HttpResponse:
    """The first syntax error in a text, if its path has a type that is checked."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    flaw = syntax_flaw(request.POST.get("path", ""), text)
    return JsonResponse({"line": flaw.line, "problem": flaw.description} if flaw else {"line": 0, "problem": ""})


def _file_response(request: SignedInRequest, task: Task, path: str, blob: Blob) -> HttpResponse:
    if "download" in request.GET:
        return download(path, bytes(blob.content))
    if "raw" in request.GET:
        return inline(path, bytes(blob.content))
    preview = _cached_preview(path, blob)
    address = reverse("studio:preview", args=place_of(task))
    address += f"?{urlencode({'file': file_tokens(task).seal(blob.sha256, blob.size), 'path': path})}"
    context = {"path": path, "size": blob.size, "preview": preview, "address": address}
    if request.GET.get("part") == "edit":
        if not preview.editable:
            raise Http404
        list_name = ARTIFACTS if request.GET.get("list") == ARTIFACTS else FILES
        context |= {"key": request.GET.get("key", ""), "list": list_name}
        return show(request, task, "studio/files/parts/text.html", context)
    if request.GET.get("part") == "seen":
        may_edit = access.may(request.user, task.persona.benchmark, "edit")
        return show(request, task, "studio/files/parts/preview.html", context | {"in_editor": may_edit})
    return show(request, task, "studio/files/file.html", context)


def _cached_preview(path: str, blob: Blob) -> Preview:
    key = f"preview:2:{blob.sha256}:{extension(path)[:20]}"
    return cast("Preview", cache.get_or_set(key, lambda: preview_of(path, bytes(blob.content)), PREVIEW_CACHE_SECONDS))
