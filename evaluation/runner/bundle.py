"""Results as one file to hand in.

run.json                          as in the results
sessions/…/session.jsonl          as in the results, without the agent's own state; its last line says what models used
files/                            those that sessions left, by their sha256
SHA256SUMS                        of all of these
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from evaluation.engine.folder import KeptCall, read_lines
from evaluation.runner.errors import PibenchError
from evaluation.runner.results import FILES, RUN, Results, SessionResult
from studio.domain.pack import SUMS, write_sums, zipped

SESSION = "session.jsonl"


def bundle_of(results: Results) -> bytes:
    """The same files for the same results. Raises PibenchError."""
    files = {RUN: (results.folder / RUN).read_bytes()}
    for session in results.sessions:
        if session.kept.turns or session.kept.end:
            files[f"{session.planned.folder}/{SESSION}"] = _lines(results, session)
        for sha256 in _left(session):
            if (content := results.read(sha256)) is None:
                raise PibenchError(f"{results.folder / FILES / sha256} is gone.", "Run it again into a new folder.")
            files[f"{FILES}/{sha256}"] = content
    files[SUMS] = write_sums({path: hashlib.sha256(content).hexdigest() for path, content in files.items()})
    return zipped(files, compressed=True)


def _lines(results: Results, session: SessionResult) -> bytes:
    lines = read_lines(results.folder / session.planned.folder / SESSION)
    for line in lines:
        if "turn" in line:
            line["turn"]["taken"]["reply"]["state"] = {}
    lines.append({"used": _used(session.calls)})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _used(calls: Iterable[KeptCall]) -> Mapping[str, Mapping[str, Any]]:
    """By purpose, of answered calls."""
    used: dict[str, dict[str, Any]] = defaultdict(lambda: {"calls": 0, "tokens": 0, "cost": Decimal(0), "unpriced": 0})
    for call in calls:
        if call.answered:
            row = used[call.purpose]
            row["calls"] += 1
            row["tokens"] += call.tokens.total
            row["cost"] += call.cost or 0
            row["unpriced"] += call.cost is None
    return {purpose: {**row, "cost": str(row["cost"])} for purpose, row in used.items()}


def _left(session: SessionResult) -> set[str]:
    manifests = [checkpoint.files for checkpoint in session.kept.turns]
    closing = (session.kept.end or {}).get("closing")
    return {sha256 for manifest in (*manifests, closing["files"] if closing else {}) for sha256 in manifest.values()}


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
