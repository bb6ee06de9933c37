"""``LICENSE``: of the benchmark, and of files that come from elsewhere. The texts beside it are those of the SPDX
licence list."""

from __future__ import annotations

from pathlib import Path

from evaluation.releases.documents.markdown import printable
from studio.domain.base import JsonDict
from studio.domain.credits import LICENCES, OWN

TEXTS = Path(__file__).parent / "licences"
UNKNOWN = "No licence has been given. Ask its makers before you use, copy or share any of it."


def licence_file(manifest: JsonDict) -> bytes:
    credits, benchmark = manifest["credits"], manifest["benchmark"]
    licence = credits["licence"]
    parts = [f"{_line(benchmark['name'])} {manifest['version']}"]
    if credits["contributors"]:
        parts.append("Copyright: " + "; ".join(map(_line, credits["contributors"])))
    if licence == OWN:
        parts.append(printable(credits["licence_text"]).strip())
    elif licence:
        name, address = LICENCES[licence]
        parts.append(f"Licensed under: {name}\nSPDX-License-Identifier: {licence}\nText of the licence: {address}")
    else:
        parts.append(UNKNOWN)
    if credits["file_origins"]:
        rows = [
            f"data/{_line(row['path'])}\n    from: {_line(row['source']) or 'unknown'}\n"
            f"    licence: {_line(row['licence']) or 'unknown'}"
            for row in credits["file_origins"]
        ]
        parts.append("Files from elsewhere, with licences of their own:\n\n" + "\n".join(rows))
    named = dict.fromkeys([licence, *(row["licence"] for row in credits["file_origins"])])
    parts += [f"{'=' * 80}\n{name}\n\n{licence_text(name, manifest)}" for name in named if name in LICENCES]
    return ("\n\n".join(parts) + "\n").encode()


def licence_text(licence: str, manifest: JsonDict) -> str:
    text = (TEXTS / f"{licence}.txt").read_text("utf-8")
    holders = "; ".join(map(_line, manifest["credits"]["contributors"])) or "its makers"
    return text.replace("<year>", manifest["released"][:4]).replace("<copyright holders>", holders).strip()


def licence_name(manifest: JsonDict) -> str:
    licence = manifest["credits"]["licence"]
    if licence == OWN:
        return "a licence of its own, see LICENSE"
    return f"{LICENCES[licence][0]} ({licence})" if licence else "unknown"


def _line(text: str) -> str:
    return " ".join(printable(text).split())
