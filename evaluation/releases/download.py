"""A release's archive as an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.http import FileResponse, Http404, HttpResponse

from evaluation.models import Pilot, Release
from evaluation.releases.packing import open_archive
from evaluation.releases.site import site_zip


def archive_response(release: Release) -> FileResponse:
    response = FileResponse(
        open_archive(release), as_attachment=True, filename=release.file_name, content_type="application/zip"
    )
    response["Content-Length"] = str(release.size)
    response["ETag"] = f'"{release.sha256}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def site_response(release: Release, pilots: Sequence[Pilot]) -> HttpResponse:
    """As static pages, with the results of ``pilots``."""
    name = release.file_name.replace(".zip", "-site.zip")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(site_zip(release, pilots), content_type="application/zip", headers=headers)


def statement_response(release: Release) -> HttpResponse:
    """Its signed statement. Raises Http404 if it is unsigned."""
    if release.statement is None:
        raise Http404
    content = json.dumps(release.statement, indent=1) + "\n"
    name = f"{release.file_name}.dsse.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(content, content_type="application/json", headers=headers)
