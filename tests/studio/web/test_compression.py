"""Pages are sent compressed, without giving away what is secret in them."""

from __future__ import annotations

import gzip
import re

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from studio.web.middleware import CompressionMiddleware

TEXT = b"The same sentence, again and again. " * 100


def sent(rf, response, accepts="gzip"):
    return CompressionMiddleware(lambda request: response)(rf.get("/", headers={"accept-encoding": accepts}))


@pytest.mark.django_db
def test_page_is_compressed_for_a_client_that_accepts_gzip():
    plain = Client().get(reverse("studio:login"))
    packed = Client(headers={"accept-encoding": "gzip, br"}).get(reverse("studio:login"))

    assert "Content-Encoding" not in plain
    assert (packed["Content-Encoding"], packed["Vary"].count("Accept-Encoding")) == ("gzip", 1)
    assert int(packed["Content-Length"]) == len(packed.content) < len(plain.content)
    assert b"</html>" in gzip.decompress(packed.content)


@pytest.mark.django_db
def test_csrf_token_is_masked_anew_in_every_page_and_the_length_varies():
    client = Client(headers={"accept-encoding": "gzip"})
    pages = [client.get(reverse("studio:login")).content for _ in range(12)]
    tokens = {re.search(rb'csrfmiddlewaretoken" value="(\w{64})"', gzip.decompress(page))[1] for page in pages}

    assert len(tokens) == len(pages)
    assert len({len(page) for page in pages}) > 1


def test_archives_and_images_are_sent_as_they_are(rf):
    for kind in ("application/zip", "image/png", "application/octet-stream"):
        assert sent(rf, HttpResponse(TEXT, content_type=kind)).content == TEXT
    for kind in ("text/csv; charset=utf-8", "application/json", "image/svg+xml"):
        assert gzip.decompress(sent(rf, HttpResponse(TEXT, content_type=kind)).content) == TEXT


def test_stream_is_sent_as_it_comes(rf):
    response = sent(rf, StreamingHttpResponse(iter([b"data: 1\n\n", b"data: 2\n\n"]), content_type="text/event-stream"))

    assert "Content-Encoding" not in response
    assert list(response) == [b"data: 1\n\n", b"data: 2\n\n"]
