"""What a browser loads with a page, and its bytes as sent compressed."""

from __future__ import annotations

import gzip
import re
import tempfile
from typing import Any

LINKS = re.compile(r"""<(?:link|script)\b[^>]*?(?:href|src)="(/static/[^"]+)\"""")
"""Modules that modules import are preloaded by the page."""


def page_and_assets(url: str, client: Any) -> dict[str, int]:
    """Bytes by address: the page, its style sheets and scripts."""
    from django.contrib.staticfiles.storage import staticfiles_storage
    from django.core.management import call_command
    from django.http import HttpResponse
    from django.test import RequestFactory, override_settings
    from whitenoise.middleware import WhiteNoiseMiddleware

    from studio.settings import STORAGES

    with (
        tempfile.TemporaryDirectory() as folder,
        override_settings(
            STATIC_ROOT=folder, STORAGES=STORAGES, WHITENOISE_AUTOREFRESH=False, WHITENOISE_USE_FINDERS=False
        ),
    ):
        call_command("collectstatic", verbosity=0, interactive=False)
        serve = WhiteNoiseMiddleware(lambda request: HttpResponse(status=404))
        page = client.get(url)
        assert page["Content-Encoding"] == "gzip"
        sizes = {url: len(page.content)}
        drawings = staticfiles_storage.url("icons.svg")
        for address in {*LINKS.findall(gzip.decompress(page.content).decode()), drawings}:
            answer = serve(RequestFactory().get(address, headers={"accept-encoding": "gzip"}))
            assert answer.status_code == 200, address
            sizes[address] = len(b"".join(answer))
    return sizes
