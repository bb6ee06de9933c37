"""Importing in the browser: upload, preview, confirm. And the way back: downloads of what was written here."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

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
from studio.models import Import
from studio.personas.cast import wanting_personas


@login_required
def start(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    posted = request.method == "POST"
    may_publish = access.may(request.user, benchmark, "manage")
    form = ImportForm(*((request.POST, request.FILES) if posted else ()), may_publish=may_publish)
    if posted and form.is_valid():
        try:
            data, name = _uploaded(request, form)
            published = form.cleaned_data.get("published", False)
            row = staging.preview(benchmark, data, name=name, by=request.user, published=published)
            return redirect("studio:import", slug, row.pk)
        except UploadError as error:
            form.add_error(None, str(error))
    return render(
        request,
        "studio/imports/start.html",
        {"benchmark": benchmark, "form": form, "imports": benchmark.imports.select_related("by").defer("upload")[:10]},
    )


@login_required
def show(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    row = get_object_or_404(benchmark.imports.select_related("by", "publication_by").defer("upload"), pk=pk)
    requested = row.publication == Import.Publication.REQUESTED
    return render(
        request,
        "studio/imports/import.html",
        {
            "benchmark": benchmark,
            "import": row,
            "report": row.report,
            "pending": pending_publication(row, request.user) if requested else None,
            "may_publish": access.may(request.user, benchmark, "manage"),
            "form": ImportForm(may_publish=access.may(request.user, benchmark, "manage")),
        },
    )


@login_required
@require_POST
def decide(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    row = get_object_or_404(benchmark.imports.defer("upload"), pk=pk)
    if "drop" in request.POST:
        staging.drop(row)
        messages.info(request, "Discarded. Nothing was changed.")
        return redirect("studio:import_start", slug)
    try:
        asks = "published" in request.POST if "publication_choice" in request.POST else None
        report = staging.confirm(row, by=request.user, published=asks)
    except UploadError as error:
        messages.error(request, str(error))
        return redirect("studio:import", slug, pk)
    if not report.ok:
        messages.error(request, "Nothing was imported: something has changed since the preview that prevents it.")
        return redirect("studio:import", slug, pk)
    new, changed = len(report.created), len(report.updated)
    messages.success(request, f"Imported: {new} new, {changed} changed, {len(report.unchanged)} unchanged.")
    if report.unchecked:
        messages.info(request, f"The checks of {count_of(report.unchecked, 'task')} run now in the background.")
    if report.publication:
        messages.info(request, "Another owner has been asked to confirm that the tasks were approved elsewhere.")
        return redirect("studio:import", slug, pk)
    wanting = [] if report.unchecked else wanting_personas(report.personas)
    if len(report.personas) == 1 and wanting:
        return redirect("studio:cast", slug, wanting[0].user_id)
    if wanting:
        names = ", ".join(str(persona) for persona in wanting)
        messages.warning(request, f"Tasks name people or accounts that the apps lack. Open the cast of {names}.")
    return redirect(report.personas[0] if len(report.personas) == 1 else benchmark)


@login_required
@require_POST
def publication(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Confirm that imported tasks were approved elsewhere, or decline."""
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "manage")
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
    return redirect("studio:import", slug, pk)


@login_required
@require_GET
def download_persona(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    return download(f"{persona.user_id}.zip", persona_archive(persona))


@login_required
@require_GET
def download_task(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    return download(f"{user_id}-{task.task_id}.zip", task_archive(task))


def _uploaded(request: SignedInRequest, form: ImportForm) -> tuple[bytes, str]:
    if archive := form.cleaned_data["archive"]:
        return archive.read(), archive.name
    files = request.FILES.getlist("folder")
    if not files:
        raise UploadError("Choose a zip or a folder first.")
    paths = form.cleaned_data["paths"]
    return staging.zip_folder(files, paths), staging.folder_name(paths)
