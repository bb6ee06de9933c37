"""One-click fixes for findings whose correct fix is certain."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.checks.rule_proposals import describe_rule
from studio.domain.checks.rules.intents import intents_needed_later, intents_shown_only_here
from studio.domain.checks.rules.texts import BROKEN, LOST, MIXED
from studio.domain.episode import EpisodeSpec
from studio.domain.fields import fields_of
from studio.domain.findings import Finding
from studio.domain.fixes import AppendRow, Edit, Fix, RemoveRow, SetValue
from studio.domain.task import Dependency, ExactCheck, Recovery, TaskSpec

FixBuilder = Callable[[Finding, TaskSpec, EpisodeSpec], Fix | None]
ROW_TEXTS = {"intents": "content", "checklist": "criterion", "expected_artifacts": "note"}
ROW_NOUNS = {name: about.row for name, about in fields_of(TaskSpec).items() if about.row}


def fix_for(finding: Finding, episode: EpisodeSpec) -> Fix | None:
    """None if a person has to decide."""
    task = episode.task(finding.task)
    builder = FIX_BUILDERS.get(finding.rule)
    return builder(finding, task, episode) if task and builder else None


def _remove(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    if finding.item is None:
        return None
    noun = ROW_NOUNS[finding.field]
    return Fix(
        label=f"Remove the {noun}" if finding.field == "depends_on" else f"Remove {noun} {finding.item}",
        effect=f"{noun.capitalize()} {finding.item} is removed."
        if finding.field != "depends_on"
        else f"The task no longer depends on {episode.task_label(finding.other or task.task_id)} here.",
        edits=(RemoveRow(field=finding.field, item=finding.item),),
    )


def _make_rule(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    rule: ExactCheck | None = finding.proposal
    if rule is None or finding.item is None:
        return None
    return Fix(
        label="Make it a rule",
        effect=f"Item {finding.item} is decided by an exact check: {describe_rule(rule)}. No word of it is lost.",
        edits=(SetValue(field="checklist", item=finding.item, part="rule", value=rule.to_json()),),
    )


def _declare_dependency(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    """Only for setup tasks: depending on a scored task is an error."""
    other = episode.task(finding.other)
    if other is None or not other.is_setup:
        return None
    return Fix(
        label="Declare the dependency",
        effect=f"The task depends on {episode.task_label(finding.other)}.",
        edits=(AppendRow(field="depends_on", value=Dependency(task_id=finding.other)),),
    )


def _mark_unstated(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    return Fix(
        label="Set to not stated initially",
        effect=f"Intent {finding.item} is not stated initially.",
        edits=(SetValue(field="intents", item=finding.item, part="initial_status", value="not_provided"),),
    )


def _make_session_local(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    positions = (
        intents_shown_only_here(task, episode) if finding.rule == "persistent-not-earlier" else [finding.item or 0]
    )
    edits: tuple[Edit, ...] = tuple(
        SetValue(field="intents", item=position, part="scope", value="session_local")
        for position in positions
        if position
    )
    many = len(edits) > 1
    return Fix(
        label="Set scope to this session only",
        effect=f"{'Intents' if many else 'Intent'} {join_with_and(map(str, positions))}: scope “this session only”.",
        edits=edits,
    )


def _make_persistent(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    positions = intents_needed_later(task, episode)
    noun = "Intents" if len(positions) > 1 else "Intent"
    return Fix(
        label="Set scope to persistent",
        effect=f"{noun} {join_with_and(map(str, positions))}: scope “persistent”.",
        edits=tuple(
            SetValue(field="intents", item=position, part="scope", value="persistent") for position in positions
        ),
    )


def _reset_weight(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    return Fix(
        label="Set weight to 1",
        effect=f"Item {finding.item} has weight 1.",
        edits=(SetValue(field="checklist", item=finding.item, part="weight", value=1.0),),
    )


def _show_judges(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    if not finding.data:
        return None
    return Fix(
        label="Show it to the judges",
        effect=f"Judges are shown “{finding.data}”.",
        edits=(AppendRow(field="files_read", value=finding.data),),
    )


def _make_relative(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    path = finding.passage.lstrip("/")
    if not path or ".." in path.split("/") or finding.item is None:
        return None
    return Fix(
        label="Remove the “/”",
        effect=f"Judges are shown “{path}” of the workspace.",
        edits=(SetValue(field="files_read", item=finding.item, value=path),),
    )


def _add_file_source(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    return Fix(
        label="Add as source",
        effect=f"“{finding.data}” becomes a source of intent {finding.item}.",
        edits=(AppendRow(field="intents", item=finding.item, value=Recovery(kind="file", ref=finding.data)),),
    )


def _unescape(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    return _change_text(finding, task, "Unescape", unescaped)


def _remove_invisible(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    if finding.passage == LOST or MIXED.fullmatch(finding.passage):
        return None  # the lost character or the intended alphabet is unknown
    return _change_text(
        finding, task, "Remove it", lambda text: BROKEN.sub(lambda m: m[0] if m[0] == LOST else "", text)
    )


def _correct_spelling(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    return _change_text(
        finding, task, f"Spell it {quote(finding.data)}", lambda text: text.replace(finding.passage, finding.data)
    )


def _change_text(finding: Finding, task: TaskSpec, label: str, change: Callable[[str], str]) -> Fix | None:
    value = getattr(task, finding.field)
    part = ROW_TEXTS.get(finding.field, "")
    text = getattr(value[finding.item - 1], part) if finding.item else value
    if not isinstance(text, str) or (new := change(text)) == text:
        return None
    return Fix(
        label=label,
        effect=f"The text becomes {quote(_excerpt(text, new))}.",
        edits=(SetValue(field=finding.field, item=finding.item, part=part if finding.item else "", value=new),),
    )


def _excerpt(old: str, new: str) -> str:
    position = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = new.rfind(" ", 0, max(0, position - 30)) + 1
    return ("… " if start else "") + new[start : start + 100]


_CODES = {r"\n": "\n", r"\t": "\t", r"\r": "", r"\"": '"', r"\'": "'"}
_ESCAPE = re.compile(r"\\[\"']|\\[ntr](?![a-z])|\\u[0-9a-fA-F]{4}")
_MOJIBAKE = re.compile(
    r"(?:[ÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â[€‚„…†‡ˆ‰‹‘’“”•–—˜™›œžŸ\u0080-\u00bf]{1,2}|ï»¿)+"
)


def unescaped(text: str) -> str:
    text = _ESCAPE.sub(lambda m: _CODES[m[0]] if m[0] in _CODES else chr(int(m[0][2:], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    text = re.sub(r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5});", lambda m: html.unescape(m[0]), text)
    return _MOJIBAKE.sub(_decode_again, text)


def _decode_again(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8").removeprefix("\ufeff")
        except UnicodeError:
            continue
    return match[0]


FIX_BUILDERS: dict[str, FixBuilder] = {
    "criterion-repeats-key": _remove,
    "criterion-should-be-rule": _make_rule,
    "dependency-itself": _remove,
    "dependency-twice": _remove,
    "dependency-unknown": _remove,
    "duplicate-criterion": _remove,
    "duplicate-intent": _remove,
    "empty-criterion": _remove,
    "empty-intent": _remove,
    "escaped-text": _unescape,
    "evidence-unshown": _show_judges,
    "broken-text": _remove_invisible,
    "files-read-absolute": _make_relative,
    "initial-status-provided": _mark_unstated,
    "intent-in-file": _add_file_source,
    "name-spelt-twice": _correct_spelling,
    "output-unread": _show_judges,
    "persistent-alone": _make_session_local,
    "persistent-not-earlier": _make_session_local,
    "scope-unmarked": _make_persistent,
    "undeclared-dependency": _declare_dependency,
    "weight-not-positive": _reset_weight,
}
