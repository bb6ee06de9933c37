"""Sends a bundle of results to a studio."""

from __future__ import annotations

import json
import uuid
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from evaluation.runner.errors import PibenchError

SECONDS = 600


class _NoRedirect(HTTPRedirectHandler):
    """A token must not follow to another address."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        return None


def upload(bundle: bytes, studio: str, token: str) -> dict[str, Any]:
    """What the studio made of it. Raises PibenchError."""
    if not studio.startswith(("https://", "http://")):
        raise PibenchError(f"“{studio}” is no address of a studio.", "Write it as https://studio.example.org.")
    border = uuid.uuid4().hex
    head = f'--{border}\r\nContent-Disposition: form-data; name="bundle"; filename="bundle.zip"\r\n'
    body = f"{head}Content-Type: application/zip\r\n\r\n".encode() + bundle + f"\r\n--{border}--\r\n".encode()
    headers = {"Authorization": f"Token {token}", "Content-Type": f"multipart/form-data; boundary={border}"}
    request = Request(f"{studio.rstrip('/')}/api/submissions/", body, headers)
    try:
        with build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
            document: dict[str, Any] = json.load(answer)
            return document
    except HTTPError as error:
        raise PibenchError(f"{studio} refused the results ({error.code}): {_told(error)}") from None
    except (URLError, OSError) as error:
        raise PibenchError(f"{studio} cannot be reached: {getattr(error, 'reason', error)}.") from None
    except ValueError:
        raise PibenchError(f"{studio} gave no answer of a studio.", "Give the studio’s own address.") from None


def _told(error: HTTPError) -> str:
    try:
        document = json.load(error)
        fields = [text for texts in (document.get("errors") or {}).values() for text in texts]
        return " ".join(map(str, fields)) or str(document["detail"])
    except (ValueError, LookupError, AttributeError, TypeError):
        return str(error.headers.get("Location") or error.reason)
