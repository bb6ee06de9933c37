"""``DATA_CARD.md``: how the benchmark was made, and what its numbers are worth."""

from __future__ import annotations

from evaluation.releases.documents.licence import licence_name
from evaluation.releases.documents.markdown import bullets, document, inline, paragraphs, table
from evaluation.releases.documents.statistics import canary, splits_text
from studio.domain.base import JsonDict
from studio.domain.pack import SOLUTIONS
from studio.domain.phrases import count_of

NOT_SAID = "The makers have not said."
NOT_VALIDATED = (
    "Not validated: no feasibility check of its tasks (with the intents told, with earlier sessions, with the request "
    "alone) stands in this release."
)
SCOPES = {"task": "this task alone", "persona": "all tasks of this persona", "benchmark": "the benchmark"}
"""Of an exception, in words."""
ALL_SPLITS = "These scores, and the figures of audits, are over the tasks of all splits together."


def data_card_file(manifest: JsonDict) -> bytes:
    credits = manifest["credits"]
    return document(
        f"# Data card of {inline(manifest['benchmark']['name'])} {inline(manifest['version'])}",
        "## Purpose",
        paragraphs(credits["purpose"]) or NOT_SAID,
        "## Personas",
        table(
            ["Persona", "Name", "Occupation", "Tasks"],
            [[row[key] for key in ("persona", "name", "occupation", "tasks")] for row in _personas(manifest)],
        ),
        *(("## Splits", splits) if (splits := splits_text(manifest)) else ()),
        "## How it was made",
        paragraphs(credits["making"]),
        _made(manifest),
        "## Reviewed",
        _reviewed(manifest),
        "## Audited",
        _audited(manifest["evidence"]),
        "## Validated",
        _validated(manifest["validation"]),
        _solutions(manifest["tasks"]),
        paragraphs(credits["validation"]),
        "## Tried on models",
        _pilots(manifest["evidence"]),
        ALL_SPLITS if len(manifest.get("splits", ())) > 1 and manifest["evidence"]["pilots"] else "",
        "## Limits",
        paragraphs(credits["limits"]) or NOT_SAID,
        "## Known exceptions",
        _exceptions(manifest),
        "## Sanitisation",
        paragraphs(credits["sanitisation"]) or NOT_SAID,
        "## Licence",
        f"{inline(licence_name(manifest)).capitalize()}." if not credits["licence"] else inline(licence_name(manifest)),
        _origins(manifest),
        "## Contact",
        inline(credits["contact"]) or NOT_SAID,
        canary(manifest),
    )


def _personas(manifest: JsonDict) -> list[JsonDict]:
    rows: list[JsonDict] = manifest["statistics"]["personas"]
    return rows


def _made(manifest: JsonDict) -> str:
    made = manifest["made"]
    people = (
        f"{count_of(made['authors'], 'person', 'people')} wrote its tasks, in {count_of(made['versions'], 'version')}."
    )
    if not made["model_help"]:
        return f"{people} No text of its tasks is one that a model proposed in the studio."
    helped = [_help(row) for row in made["model_help"]]
    return (
        f"{people} Models proposed some of its texts, and people accepted them one by one. A text that people rewrote "
        f"since then is their own and not counted:\n\n{bullets(helped)}"
    )


def _help(row: JsonDict) -> str:
    kind = " (a script, no model)" if row["scripted"] else ""
    texts = count_of(row["texts"], "text")
    return f"{inline(row['model'])}{kind}: {texts}, of which people edited {row['edited']}"


def _reviewed(manifest: JsonDict) -> str:
    approved = [row for row in manifest["tasks"] if row["approved_by"]]
    people = sorted({name for row in approved for name in row["approved_by"]})
    text = f"Of {count_of(len(manifest['tasks']), 'task')}, people who wrote none of them approved {len(approved)}"
    return f"{text}: {', '.join(map(inline, people))}." if people else f"{text}."


def _audited(evidence: JsonDict) -> str:
    audits = evidence["audits"]
    if not audits["decisions"] and not audits["in_truth"]["decisions"]:
        return "Not audited: people have resolved no decision of a judge that scored a real model."
    truth, shown = audits["in_truth"], f"resolved {count_of(audits['decisions'], 'decision')} of judges"
    return bullets(
        (
            f"Given what judges were shown, people {shown} and disagreed with {audits['disagreed']}.",
            f"Knowing the whole session, they resolved {truth['decisions']} and disagreed with {truth['disagreed']}.",
            f"For {audits['not_enough_shown']}, judges had been shown too little to decide.",
        )
    )


def _validated(found: JsonDict) -> str:
    if not found["validated"]:
        return NOT_VALIDATED
    said = (
        f"Of {count_of(found['tasks'], 'task')} that score, {len(found['validated'])} are validated: with the intents "
        "told, a model meets the checklist; with the request alone it does not; a reference solution earns every item, "
        "and answers that take no work earn nothing, within the benchmark's limits. Models asked: "
        f"{', '.join(map(inline, found['models'])) or 'none'}."
    )
    rows = [f"{inline(row['persona'])}, {inline(row['task'])}: {inline(row['why'])}" for row in found["not_validated"]]
    return f"{said}\n\nNot validated:\n\n{bullets(rows)}" if rows else said


def _solutions(tasks: list[JsonDict]) -> str:
    if number := sum("solution" in row for row in tasks):
        return (
            f"`{SOLUTIONS}/` has the reference solutions of {count_of(number, 'task')}, so that everybody can see "
            "whether each item can be earned: `pibench validate` plays them again. No agent or user is given them, and "
            "whoever trains on this pack leaves them out."
        )
    return "Reference solutions are not in this pack."


def _pilots(evidence: JsonDict) -> str:
    left_out = [
        f"Pilot {row['number']} ({inline(row['agent'])}) is not cited. {inline(row['by'])}: “{inline(row['reason'])}”"
        for row in evidence.get("left_out", ())
    ]
    return "\n\n".join(filter(None, (_cited(evidence), bullets(left_out) if left_out else "")))


def _cited(evidence: JsonDict) -> str:
    if not evidence["pilots"]:
        return "Not tried: no pilot by a real model and judge stands in this release."
    rows = [
        [row["agent"], row["judge"], row["runs"], *(_percent(row["scores"], name) for name in ("proc", "comp"))]
        for row in evidence["pilots"]
    ]
    head = f"Pilots under the protocol `{evidence['protocol']}`; they are evidence that tasks can be run, no ranking."
    return f"{head}\n\n{table(['Agent', 'Judge', 'Runs', 'Proc', 'Comp'], rows)}"


def _percent(scores: JsonDict, name: str) -> str:
    value = (scores or {}).get("strict", {}).get(name)
    return "–" if value is None else f"{value:.1%}"


def _exceptions(manifest: JsonDict) -> str:
    accepted = [
        f"{inline(row['problem']['message'])} Accepted by {inline(row['by'])} on {inline(row['since'])} for "
        f"{SCOPES[row['scope']]}: “{inline(row['reason'])}”"
        for row in manifest["exceptions"]
    ]
    dismissed = [
        f"{inline(row['message'])} ({inline(row['persona'])}, {inline(row['task'])}) Dismissed by {inline(row['by'])}: "
        f"“{inline(row['reason'])}”"
        for row in manifest["set_aside"]
    ]
    return bullets((*accepted, *dismissed)) or "None."


def _origins(manifest: JsonDict) -> str:
    rows = manifest["credits"]["file_origins"]
    if not rows:
        return "All files were made for the benchmark, under its licence."
    head = "Files from elsewhere; all others were made for the benchmark, under its licence:"
    cells = [[row["path"], row["source"] or "unknown", row["licence"] or "unknown"] for row in rows]
    return f"{head}\n\n{table(['File', 'Source', 'Licence'], cells)}"
