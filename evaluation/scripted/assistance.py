"""The scripted assistant model: proposals by simple rules.

It splits at "and", drops sentences, picks sentences that sound like a rule, and labels texts instead of translating."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.scripted.text import best_sentence, sentences, share, stems
from studio.domain.text.clauses import sentences as spans

WHOLLY, PARTLY = 0.75, 0.5
"""Minimum share of an intent's words in one sentence of the request that gives it away."""
MAX_ROWS = 4
_KIND = re.compile(r'<assignment kind="([a-z]+)">')
_JOINT = re.compile(r"\s*;\s+|,?\s+(?:and|as well as|plus)\s+(?:also\s+)?", re.IGNORECASE)
_DEMAND = re.compile(
    r"\b(must|never|always|only|at least|at most|before|after|by|until|not|except|unless)\b", re.IGNORECASE
)
_NAMED = re.compile(r"[“\"]([^”\"]{2,80})[”\"]")
_PATH = re.compile(r"\b[\w-]+(?:/[\w-]+)*\.[a-z]{1,5}\b")
_LANGUAGE = re.compile(r"Translate each <text> into ([\w ]+),")


@dataclass(frozen=True)
class ProposalRequest:
    kind: str
    text: str
    """The whole prompt."""

    def inside(self, tag: str) -> str:
        match = re.search(rf"<{tag}(?: [^>]*)?>\n?(.*?)\n?</{tag}>", self._material, re.DOTALL)
        return html.unescape(match[1]) if match else ""

    def each(self, tag: str, attribute: str) -> list[tuple[str, str]]:
        found = re.findall(rf'<{tag} {attribute}="([^"]*)">\n?(.*?)\n?</{tag}>', self._material, re.DOTALL)
        return [(html.unescape(name), html.unescape(body)) for name, body in found]

    @property
    def _material(self) -> str:
        """What follows the instructions."""
        return self.text.partition("</assignment>")[2]


def proposal_request_in(text: str) -> ProposalRequest | None:
    """None: the prompt asks for no proposal."""
    match = _KIND.search(text)
    return ProposalRequest(match[1], text) if match and match[1] in PROPOSERS else None


def propose(assignment: ProposalRequest) -> str:
    return json.dumps(PROPOSERS[assignment.kind](assignment), ensure_ascii=False)


def _reword(given: ProposalRequest) -> dict[str, Any]:
    """Without the sentence that gives away most of each intent; one sentence always stays."""
    request = given.inside("request")
    told = [words for _, words in given.each("words", "intent")] or [text for _, text in given.each("intent", "index")]
    left = _whole_sentences(request)
    for words in told:
        worst = best_sentence(stems(words), [(piece, stems(piece)) for piece in left])
        if worst and len(left) > 1:
            left.remove(worst)
    return {"request": " ".join(left), "why": "Without the sentences that say what is to stay hidden."}


def _split(given: ProposalRequest) -> dict[str, Any]:
    text = given.inside("bundle").strip().rstrip(".")
    parts = [part.strip(" ,") for part in _JOINT.split(text)]
    whole = [part for part in parts if len(part.split()) > 1] or parts
    return {"parts": [_sentence(part) for part in whole], "why": "Split where it says “and”."}


def _intents(given: ProposalRequest) -> dict[str, Any]:
    """Sentences of files that sound like a rule and are not in the task."""
    request = stems(given.inside("request"))
    known = [stems(text) for _, text in given.each("intent", "index")]
    found = []
    for path, text in given.each("file", "path"):
        for piece in sentences(text):
            words = stems(piece)
            if not _DEMAND.search(piece) or len(words) < 4 or share(words, request) > PARTLY:
                continue
            if any(share(other, words) > PARTLY for other in known):
                continue
            found.append(
                {
                    "content": _sentence(piece.lstrip("-*# ")),
                    "scope": "session_local",
                    "from": "file",
                    "ref": path,
                    "quote": piece,
                    "why": f"{path} says so, and the request does not.",
                }
            )
    return {"intents": found[:MAX_ROWS]}


def _rule(given: ProposalRequest) -> dict[str, Any]:
    criterion = given.inside("bundle")
    nothing = {"exact": False, "kind": "", "path": "", "text": "", "tool": "", "why": "It names no exact words."}
    named, path = _NAMED.search(criterion), _PATH.search(criterion)
    judged = re.findall(r"<path>(.*?)</path>", given.inside("result_files"))
    file = path[0] if path else (judged[0] if judged else "")
    if named:
        lacks = bool(re.search(r"\b(not|no|never|without)\b", criterion, re.IGNORECASE))
        kind = ("file" if file else "reply") + ("_lacks" if lacks else "_contains")
        why = "The criterion quotes the words."
        return nothing | {"exact": True, "kind": kind, "path": file, "text": named[1], "why": why}
    if path and re.search(r"\bexists?\b", criterion):
        return nothing | {"exact": True, "kind": "file_exists", "path": file, "why": "The criterion names the file."}
    return nothing


def _checklist(given: ProposalRequest) -> dict[str, Any]:
    """The first lines of the reference, one item each."""
    known = [stems(text) for _, text in given.each("item", "index")]
    found = []
    for line in given.inside("reference").splitlines():
        plain = line.strip().lstrip("-*#0123456789.) ").strip()
        words = stems(plain)
        if len(words) < 2 or any(share(words, other) > PARTLY for other in known):
            continue
        item = {"criterion": f"The result says: {_sentence(plain)}", "follows_from": [], "quote": line.strip()}
        found.append(item | {"why": "The reference has this line."})
    return {"items": found[:MAX_ROWS]}


def _translate(given: ProposalRequest) -> dict[str, Any]:
    match = _LANGUAGE.search(given.text)
    language = match[1] if match else "another language"
    return {
        "texts": [
            {"id": name, "text": f"[{language}, not translated by a scripted model] {text}"}
            for name, text in given.each("text", "id")
        ]
    }


def _leaks(given: ProposalRequest) -> dict[str, Any]:
    pieces = [(piece, stems(piece)) for piece in _whole_sentences(given.inside("request"))]
    found = []
    for number, text in given.each("intent", "index"):
        wanted = stems(text)
        piece = best_sentence(wanted, pieces)
        part = share(wanted, stems(piece))
        if part >= PARTLY:
            degree = "wholly" if part >= WHOLLY else "partly"
            why = f"{part:.0%} of its content words stand in this sentence."
            found.append({"intent": int(number), "degree": degree, "quote": piece, "why": why})
    return {"given_away": found}


def _whole_sentences(text: str) -> list[str]:
    """Unlike for judges, a file name does not end a sentence."""
    return [piece for span in spans(text) if (piece := span.text.strip())]


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "。")) else ".")


PROPOSERS: Mapping[str, Callable[[ProposalRequest], dict[str, Any]]] = {
    "reword": _reword,
    "split": _split,
    "intents": _intents,
    "rule": _rule,
    "checklist": _checklist,
    "translate": _translate,
    "leaks": _leaks,
}
