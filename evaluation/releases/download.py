"""An archive of a release as an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.audits.blindness import find_release
from evaluation.models import HeldOutPack, Pilot, Release
from evaluation.models.releases import SignedArchive
from evaluation.releases.packing import open_archive
from evaluation.releases.site import site_zip
from studio.files.downloads import made_here
from studio.models import User


def find_held_out(user: User, release: int | str) -> HeldOutPack:
    """For who manages its benchmark. Raises Http404 if the release holds nothing out, and BlindPilotError."""
    row = find_release(user, release, "manage")
    return get_object_or_404(HeldOutPack, release=row)


def archive_response(pack: SignedArchive) -> FileResponse:
    response = FileResponse(
        open_archive(pack), as_attachment=True, filename=pack.file_name, content_type="application/zip"
    )
    response["Content-Length"] = str(pack.size)
    response["ETag"] = f'"{pack.sha256}"'
    return response


def site_response(release: Release, pilots: Sequence[Pilot]) -> HttpResponse:
    """As static pages, with the results of ``pilots``."""
    return made_here(release.file_name.replace(".zip", "-site.zip"), site_zip(release, pilots))


def statement_response(pack: SignedArchive) -> HttpResponse:
    """Its signed statement. Raises Http404 if it is unsigned."""
    if pack.statement is None:
        raise Http404
    return made_here(f"{pack.file_name}.dsse.json", json.dumps(pack.statement, indent=1) + "\n")
