"""A release's archive as an answer."""

from __future__ import annotations

from django.http import FileResponse

from evaluation.models import Release
from evaluation.releases.packing import open_archive


def archive_response(release: Release) -> FileResponse:
    name = f"{release.benchmark.slug}-{release.version}.zip"
    response = FileResponse(open_archive(release), as_attachment=True, filename=name, content_type="application/zip")
    response["Content-Length"] = str(release.size)
    response["ETag"] = f'"{release.sha256}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
