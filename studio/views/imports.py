"""Importing in the browser: hand over, look, confirm."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.files.uploads import UploadError
from studio.forms.benchmarks import ImportForm
from studio.imports import staging


@login_required
def start(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    posted = request.method == "POST"
    form = ImportForm(request.POST, request.FILES) if posted else ImportForm()
    if posted and form.is_valid():
        try:
            data, name = _handed_over(request, form)
            row = staging.preview(benchmark, data, name=name, by=request.user, published=form.cleaned_data["published"])
            return redirect("studio:import", slug, row.pk)
        except UploadError as refusal:
            form.add_error(None, str(refusal))
    return render(
        request,
        "studio/imports/start.html",
        {"benchmark": benchmark, "form": form, "imports": benchmark.imports.select_related("by").defer("upload")[:10]},
    )


@login_required
def show(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    row = get_object_or_404(benchmark.imports.select_related("by").defer("upload"), pk=pk)
    return render(request, "studio/imports/import.html", {"benchmark": benchmark, "import": row, "report": row.report})


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
        report = staging.confirm(row, by=request.user)
    except UploadError as refusal:
        messages.error(request, str(refusal))
        return redirect("studio:import", slug, pk)
    if not report.ok:
        messages.error(request, "Nothing was imported: something has changed since the preview that prevents it.")
        return redirect("studio:import", slug, pk)
    new, changed = len(report.created), len(report.updated)
    messages.success(request, f"Imported: {new} new, {changed} changed, {len(report.unchanged)} unchanged.")
    return redirect(report.personas[0] if len(report.personas) == 1 else benchmark)


def _handed_over(request: SignedInRequest, form: ImportForm) -> tuple[bytes, str]:
    if archive := form.cleaned_data["archive"]:
        return archive.read(), archive.name
    files = request.FILES.getlist("folder")
    if not files:
        raise UploadError("Choose a zip or a folder first.")
    paths = form.cleaned_data["paths"]
    return staging.zip_folder(files, paths), staging.folder_name(paths)
