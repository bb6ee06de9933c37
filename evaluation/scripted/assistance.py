"""The scripted assistant model: proposals by simple rules.

It splits at “and”, drops sentences, picks sentences that sound like rules, and labels texts instead of translating.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.scripted.text import best_sentence, sentences, stems, word_overlap
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
class AssistancePrompt:
    kind: str
    text: str
    """The whole prompt."""

    def inside(self, tag: str) -> str:
        match = re.search(rf"<{tag}(?: [^>]*)?>\n?(.*?)\n?</{tag}>", self._material, re.DOTALL)
        return html.unescape(match[1]) if match else ""

    def each(self, tag: str, attribute: str) -> list[tuple[str, str]]:
        matches = re.findall(rf'<{tag} {attribute}="([^"]*)"[^>]*>\n?(.*?)\n?</{tag}>', self._material, re.DOTALL)
        return [(html.unescape(name), html.unescape(body)) for name, body in matches]

    @property
    def _material(self) -> str:
        return self.text.partition("</assignment>")[2]


def read_assistance_prompt(text: str) -> AssistancePrompt | None:
    match = _KIND.search(text)
    return AssistancePrompt(match[1], text) if match and match[1] in PROPOSERS else None


def propose(assignment: AssistancePrompt) -> str:
    return json.dumps(PROPOSERS[assignment.kind](assignment), ensure_ascii=False)


def _reword(assignment: AssistancePrompt) -> dict[str, Any]:
    request = assignment.inside("request")
    leaks = [leak for _, leak in assignment.each("words", "intent")] or [
        text for _, text in assignment.each("intent", "index")
    ]
    remaining = _whole_sentences(request)
    for leak in leaks:
        leaking = best_sentence(stems(leak), [(sentence, stems(sentence)) for sentence in remaining])
        if leaking and len(remaining) > 1:
            remaining.remove(leaking)
    return {"request": " ".join(remaining), "why": "Without the sentences that say what is to stay hidden."}


def _split(assignment: AssistancePrompt) -> dict[str, Any]:
    text = assignment.inside("bundle").strip().rstrip(".")
    parts = [part.strip(" ,") for part in _JOINT.split(text)]
    whole = [part for part in parts if len(part.split()) > 1] or parts
    return {"parts": [_sentence(part) for part in whole], "why": "Split where it says “and”."}


def _intents(assignment: AssistancePrompt) -> dict[str, Any]:
    request = stems(assignment.inside("request"))
    known = [stems(text) for _, text in assignment.each("intent", "index")]
    intents = []
    for path, text in assignment.each("file", "path"):
        for sentence in sentences(text):
            terms = stems(sentence)
            if not _DEMAND.search(sentence) or len(terms) < 4 or word_overlap(terms, request) > PARTLY:
                continue
            if any(word_overlap(other, terms) > PARTLY for other in known):
                continue
            intents.append(
                {
                    "content": _sentence(sentence.lstrip("-*# ")),
                    "scope": "session_local",
                    "from": "file",
                    "ref": path,
                    "quote": sentence,
                    "why": f"{path} says so, and the request does not.",
                }
            )
    return {"intents": intents[:MAX_ROWS]}


def _rule(assignment: AssistancePrompt) -> dict[str, Any]:
    criterion = assignment.inside("bundle")
    no_rule = {"exact": False, "kind": "", "path": "", "text": "", "tool": "", "why": "It names no exact words."}
    quoted, path = _NAMED.search(criterion), _PATH.search(criterion)
    judged_paths = re.findall(r"<path>(.*?)</path>", assignment.inside("result_files"))
    file = path[0] if path else (judged_paths[0] if judged_paths else "")
    if quoted:
        lacks = bool(re.search(r"\b(not|no|never|without)\b", criterion, re.IGNORECASE))
        kind = ("file" if file else "reply") + ("_lacks" if lacks else "_contains")
        why = "The criterion quotes the words."
        return no_rule | {"exact": True, "kind": kind, "path": file, "text": quoted[1], "why": why}
    if path and re.search(r"\bexists?\b", criterion):
        return no_rule | {"exact": True, "kind": "file_exists", "path": file, "why": "The criterion names the file."}
    return no_rule


def _checklist(assignment: AssistancePrompt) -> dict[str, Any]:
    known = [stems(text) for _, text in assignment.each("item", "index")]
    items = []
    for line in assignment.inside("reference").splitlines():
        text = line.strip().lstrip("-*#0123456789.) ").strip()
        terms = stems(text)
        if len(terms) < 2 or any(word_overlap(terms, other) > PARTLY for other in known):
            continue
        item = {"criterion": f"The result says: {_sentence(text)}", "follows_from": [], "quote": line.strip()}
        items.append(item | {"why": "The reference has this line."})
    return {"items": items[:MAX_ROWS]}


def _translate(assignment: AssistancePrompt) -> dict[str, Any]:
    match = _LANGUAGE.search(assignment.text)
    language = match[1] if match else "another language"
    return {
        "texts": [
            {"id": name, "text": f"[{language}, not translated by a scripted model] {text}"}
            for name, text in assignment.each("text", "id")
        ]
    }


def _leaks(assignment: AssistancePrompt) -> dict[str, Any]:
    candidates = [(sentence, stems(sentence)) for sentence in _whole_sentences(assignment.inside("request"))]
    leaks = []
    for number, text in assignment.each("intent", "index"):
        terms = stems(text)
        sentence = best_sentence(terms, candidates)
        overlap = word_overlap(terms, stems(sentence))
        if overlap >= PARTLY:
            degree = "wholly" if overlap >= WHOLLY else "partly"
            why = f"{overlap:.0%} of its content words stand in this sentence."
            leaks.append({"intent": int(number), "degree": degree, "quote": sentence, "why": why})
    return {"given_away": leaks}


def _whole_sentences(text: str) -> list[str]:
    """Unlike for judges, a file name does not end a sentence."""
    return [piece for span in spans(text) if (piece := span.text.strip())]


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "。")) else ".")


PROPOSERS: Mapping[str, Callable[[AssistancePrompt], dict[str, Any]]] = {
    "reword": _reword,
    "split": _split,
    "intents": _intents,
    "rule": _rule,
    "checklist": _checklist,
    "translate": _translate,
    "leaks": _leaks,
}
