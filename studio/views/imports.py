"""Importing in the browser: upload, preview, confirm. And the way back: downloads of what was written here."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.phrases import count_of
from studio.files.downloads import download
from studio.files.uploads import UploadError
from studio.forms.benchmarks import ImportForm
from studio.imports import staging
from studio.imports.export import persona_archive, task_archive
from studio.imports.publication import (
    PublicationError,
    confirm_publication,
    decline_publication,
    pending_publication,
)
from studio.models import Benchmark, Import, Persona, Task
from studio.personas.cast import wanting_personas
from studio.views.pages import benchmark_page, persona_page, place_of, show, task_page


@benchmark_page("edit")
def start(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    posted = request.method == "POST"
    may_publish = access.may(request.user, benchmark, "manage")
    form = ImportForm(*((request.POST, request.FILES) if posted else ()), may_publish=may_publish)
    if posted and form.is_valid():
        try:
            data, name = _uploaded(request, form)
            published = form.cleaned_data.get("published", False)
            row = staging.preview(benchmark, data, name=name, by=request.user, published=published)
            return redirect(row)
        except UploadError as error:
            form.add_error(None, str(error))
    earlier = benchmark.imports.select_related("by").defer("upload")[:10]
    return show(request, benchmark, "studio/imports/start.html", {"form": form, "imports": earlier})


@benchmark_page("edit")
def details(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    row = get_object_or_404(benchmark.imports.select_related("by", "publication_by").defer("upload"), pk=pk)
    requested = row.publication == Import.Publication.REQUESTED
    may_publish = access.may(request.user, benchmark, "manage")
    context = {
        "import": row,
        "report": row.report,
        "pending": pending_publication(row, request.user) if requested else None,
        "may_publish": may_publish,
        "form": ImportForm(may_publish=may_publish),
    }
    return show(request, benchmark, "studio/imports/import.html", context)


@benchmark_page("edit", "POST")
def decide(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    row = get_object_or_404(benchmark.imports.defer("upload"), pk=pk)
    if "drop" in request.POST:
        staging.drop(row)
        messages.info(request, "Discarded. Nothing was changed.")
        return redirect("studio:import_start", benchmark.slug)
    try:
        asks = "published" in request.POST if "publication_choice" in request.POST else None
        report = staging.confirm(row, by=request.user, published=asks)
    except UploadError as error:
        messages.error(request, str(error))
        return redirect(row)
    if not report.ok:
        messages.error(request, "Nothing was imported: something has changed since the preview that prevents it.")
        return redirect(row)
    new, changed = len(report.created), len(report.updated)
    messages.success(request, f"Imported: {new} new, {changed} changed, {len(report.unchanged)} unchanged.")
    if report.unchecked:
        messages.info(request, f"The checks of {count_of(report.unchecked, 'task')} run now in the background.")
    if report.publication:
        messages.info(request, "Another owner has been asked to confirm that the tasks were approved elsewhere.")
        return redirect(row)
    wanting = [] if report.unchecked else wanting_personas(report.personas)
    if len(report.personas) == 1 and wanting:
        return redirect("studio:cast", *place_of(wanting[0]))
    if wanting:
        names = ", ".join(str(persona) for persona in wanting)
        messages.warning(request, f"Tasks name people or accounts that the apps lack. Open the cast of {names}.")
    return redirect(report.personas[0] if len(report.personas) == 1 else benchmark)


@benchmark_page("manage", "POST")
def publication(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Confirm that imported tasks were approved elsewhere, or decline."""
    row = get_object_or_404(benchmark.imports.defer("upload"), pk=pk)
    try:
        if "decline" in request.POST:
            decline_publication(row.pk, by=request.user)
            messages.info(request, "Declined. The tasks stay as they are and can be reviewed here.")
        else:
            approved = confirm_publication(row.pk, by=request.user)
            messages.success(request, f"{count_of(approved, 'task')} marked as approved elsewhere.")
    except PublicationError as error:
        messages.error(request, str(error))
    return redirect(row)


@persona_page("view", "GET")
def download_persona(request: SignedInRequest, persona: Persona) -> HttpResponse:
    return download(f"{persona.user_id}.zip", persona_archive(persona))


@task_page("view", "GET")
def download_task(request: SignedInRequest, task: Task) -> HttpResponse:
    return download(f"{task.persona.user_id}-{task.task_id}.zip", task_archive(task))


def _uploaded(request: SignedInRequest, form: ImportForm) -> tuple[bytes, str]:
    if archive := form.cleaned_data["archive"]:
        return archive.read(), archive.name
    files = request.FILES.getlist("folder")
    if not files:
        raise UploadError("Choose a zip or a folder first.")
    paths = form.cleaned_data["paths"]
    return staging.zip_folder(files, paths), staging.folder_name(paths)
