"""A pack and results of it as static pages, for any web host: no script, and no request to anywhere else.

Only tasks of the public split are shown, and only transcripts of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from evaluation.grading.work import PlayedTurn
from evaluation.metrics.leaderboard import AgentScores, scores_document
from evaluation.metrics.sessions import METRICS
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import Terms
from evaluation.runner.eee import tellable
from evaluation.runner.elements import Html, el, estimates, exchange, page, scores_table, texts_table
from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import Pack, read_files, read_pack
from evaluation.runner.results import Results, SessionResult
from evaluation.runner.scores import COLUMNS, TITLES, note_of, score, scores_row
from evaluation.runner.tables import Table, as_csv
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.pack import ERRATUM_EFFECTS, SUMS, archive_name, splits_in
from studio.domain.phrases import count_of
from studio.domain.splits import PUBLISHED
from studio.domain.task import TaskSpec
from studio.files.previews import markup

EXAMPLES = 3
"""Transcripts of one agent's results."""
CARD, CHANGES = "DATA_CARD.md", "CHANGELOG.md"
Place = tuple[str, str]
"""Persona and task, by their ids."""
T = TypeVar("T")
_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Ran:
    """What was run, and how. What differs in any of it is never ranked together."""

    terms: Terms
    mode: str
    tasks: frozenset[Place]

    def __str__(self) -> str:
        way = "" if self.mode == PilotMode.EPISODE else f", {self.mode}"
        return f"{self.terms}, {count_of(len(self.tasks), 'task')}{way}"


@dataclass(frozen=True)
class Entry:
    """A line of the leaderboard."""

    ran: Ran
    scores: Mapping[ScoringMode, AgentScores]
    note: str = ""
    """What to know before believing it."""


@dataclass(frozen=True)
class Transcript:
    agent: str
    persona: str
    task: TaskSpec
    turns: Sequence[PlayedTurn]
    intents: Sequence[tuple[str, str]]
    """Each with how it ended."""


@dataclass(frozen=True)
class Site:
    pack: Pack
    files: Mapping[str, bytes] = field(repr=False)
    """Of the pack, by path."""
    entries: Sequence[Entry] = ()
    transcripts: Sequence[Transcript] = ()
    errata: Sequence[Mapping[str, Any]] = ()
    """``version``, ``number``, ``published``, ``tasks``, ``text`` and ``effect`` of each."""
    archive: bytes = field(default=b"", repr=False)
    """To download; empty: nothing."""

    @property
    def title(self) -> str:
        return f"{self.pack.name} {self.pack.version}".strip()

    def text(self, name: str) -> str:
        return self.files.get(name, b"").decode("utf-8", "replace")

    @cached_property
    def hidden(self) -> frozenset[Place]:
        """Tasks that may not be shown."""
        return frozenset(place for place, split in _splits(self.pack) if split != Split.PUBLIC)

    @cached_property
    def held_out(self) -> frozenset[Place]:
        """Those of them that may not be published either."""
        return frozenset(place for place, split in _splits(self.pack) if split not in PUBLISHED)

    @property
    def personas(self) -> set[str]:
        """Of whom a task may be published."""
        places = {(each.persona.user_id, task.task_id) for each in self.pack.episodes for task in each.tasks}
        return {persona for persona, _ in places - self.held_out}

    def tasks(self, episode: EpisodeSpec) -> list[TaskSpec]:
        """Those that may be shown."""
        persona = episode.persona.user_id
        return [task for task in episode.tasks if (persona, task.task_id) not in self.hidden]


def _splits(pack: Pack) -> Iterator[tuple[Place, str]]:
    """As the manifest tells them, and as the episodes do: a folder of personas has no manifest."""
    for row in pack.manifest.get("tasks", ()):
        yield (row["persona"], row["task"]), row.get("split", Split.PUBLIC)
    for episode in pack.episodes:
        for task in (*episode.tasks, *episode.unplaced):
            yield (episode.persona.user_id, task.task_id), episode.split_of(task.task_id)


def site_of(path: Path, results: Sequence[Results] = ()) -> Site:
    """Raises PibenchError, also for results of another pack."""
    pack, (files, _) = read_pack(path), read_files(path)
    if Split.PUBLIC not in splits_in(pack.manifest):
        raise PibenchError(f"{path} holds tasks that must not be published.", "Give the published pack.")
    for each in results:
        _refuse_other(pack, each)
    site = Site(
        pack,
        files,
        [_entry(each) for each in results],
        errata=pack.manifest.get("errata", ()),
    )
    return replace(
        site,
        transcripts=[shown for each in results for shown in _examples(site, each)],
        archive=path.read_bytes() if path.is_file() and not site.held_out else b"",
    )


def _refuse_other(pack: Pack, results: Results) -> None:
    contents = {
        (episode.persona.user_id, name): content
        for episode in pack.episodes
        for name, content in pack.contents_of_tasks(episode).items()
    }
    for (persona, task), known in results.tasks.items():
        if contents.get((persona, task)) != known.content:
            raise PibenchError(
                f"{results.folder} has results of another pack: “{task}” of {persona} is not as in {pack.path}.",
                "Give the pack that was run.",
            )


def _entry(results: Results) -> Entry:
    scored = score(results)
    scores = {mode: scored.agent(mode) for mode in scored.modes}
    ran = Ran(results.run.terms, str(results.run.mode), frozenset(results.tasks))
    return Entry(ran, scores, note_of(scored, next(iter(scores.values()))))


def _examples(site: Site, results: Results) -> Iterator[Transcript]:
    told = tellable(
        (
            session,
            (session.planned.persona, session.planned.run, session.planned.chain),
            (session.planned.persona, session.planned.task) not in site.hidden,
        )
        for session in results.sessions
    )
    whole = (each for each in told if each.state == "finished" and not each.task.is_setup)
    for session in first_of_personas((each.planned.persona, each) for each in whole):
        yield _transcript(results, session)


def first_of_personas(sessions: Iterable[tuple[str, T]]) -> Iterator[T]:
    """The first session of each persona, as far as there is room for examples."""
    shown: set[str] = set()
    for persona, session in sessions:
        if persona not in shown and len(shown) < EXAMPLES:
            shown.add(persona)
            yield session


def _transcript(results: Results, session: SessionResult) -> Transcript:
    return Transcript(
        results.agent,
        session.planned.persona,
        session.task,
        [checkpoint.played for checkpoint in session.kept.turns],
        [(intent.content, intent.status) for intent in session.kept.intents(session.task)],
    )


def site_files(site: Site) -> dict[str, bytes]:
    """By name, all in one folder."""
    pages: dict[str, Sequence[str]] = {"index.html": _index(site)}
    for at, episode in enumerate(site.pack.episodes, 1):
        pages[f"tasks-{at}.html"] = _tasks(site, episode)
    if site.transcripts:
        pages["transcripts.html"] = [el("h1", "Example transcripts"), *map(_conversation, site.transcripts)]
    for name, file in (("data-card.html", CARD), ("changelog.html", CHANGES)):
        if text := site.text(file):
            pages[name] = [_document(text)]
    pages["errata.html"] = _errata(site)
    pages["downloads.html"] = _downloads(site)
    files = {name: _page(site, name, parts).encode("utf-8", "replace") for name, parts in pages.items()}
    return files | _data(site)


def _page(site: Site, name: str, parts: Sequence[str]) -> str:
    links = [
        ("index.html", site.title),
        ("tasks-1.html", "Tasks"),
        *([("transcripts.html", "Transcripts")] if site.transcripts else []),
        *([("data-card.html", "Data card")] if site.text(CARD) else []),
        ("errata.html", "Errata"),
        *([("changelog.html", "Changelog")] if site.text(CHANGES) else []),
        ("downloads.html", "Downloads"),
    ]
    shown = [
        el("a", text, href=address, **({"aria_current": "page"} if address == name else {})) for address, text in links
    ]
    canary = site.pack.manifest.get("canary")
    foot = el("footer", f"Do not train on this. Canary: {canary}", class_="soft") if canary else ""
    return page(site.title, el("nav", *shown, aria_label="Pages"), el("main", *parts), foot)


def _index(site: Site) -> list[str]:
    manifest = site.pack.manifest
    benchmark = manifest.get("benchmark", {})
    people = ", ".join(manifest.get("credits", {}).get("contributors", ()))
    facts = [
        count_of(len(site.pack.episodes), "persona"),
        count_of(sum(len(site.tasks(episode)) for episode in site.pack.episodes), "public task"),
        f"released {manifest['released']}" if manifest.get("released") else "",
        f"by {people}" if people else "",
    ]
    return [
        el("h1", site.title),
        *([el("p", str(benchmark["description"]))] if benchmark.get("description") else []),
        el("p", " · ".join(filter(None, facts)), class_="soft"),
        *_board(site),
        el("h2", "Run it"),
        el("div", _commands(site), class_="said"),
    ]


def _commands(site: Site) -> str:
    file = _archive_name(site)
    run = f"pibench run {file} --model openai:NAME --user openai:NAME --judge openai:NAME --runs 3 --out results"
    return f"{run}\npibench score results"


def _archive_name(site: Site) -> str:
    """Packs name themselves; it is only a name of a file."""
    manifest = site.pack.manifest
    name = archive_name(manifest).removesuffix(".zip") if manifest else site.pack.path.stem
    return f"{_OUTSIDE_NAMES.sub('-', name).strip('.-')[:100] or 'pack'}.zip"


def _board(site: Site) -> Iterator[str]:
    if not site.entries:
        yield el("p", "No results stand here yet.")
    for ran in dict.fromkeys(entry.ran for entry in site.entries):
        for mode in ran.terms.modes:
            own = _ranked([entry for entry in site.entries if entry.ran == ran], mode)
            named = f"Leaderboard, {ran}" + (f", {mode}" if len(ran.terms.modes) > 1 else "")
            rows = [scores_row(entry.scores[mode].agent, entry.scores[mode].scores) for entry in own]
            yield scores_table(Table(named, ("Agent", *COLUMNS[1:]), rows, "Percent. Intervals are 95 %."))
            for metric in METRICS:
                yield el("h3", TITLES[metric])
                yield estimates([(entry.scores[mode].agent, entry.scores[mode].scores[metric]) for entry in own])
            for entry in own:
                if entry.note:
                    yield el("p", f"{entry.scores[mode].agent}: {entry.note}", class_="soft")


def _ranked(entries: Sequence[Entry], mode: ScoringMode) -> list[Entry]:
    """Best Proc first."""
    return sorted(entries, key=lambda entry: -(entry.scores[mode].scores["proc"].mean or -1.0))


def _tasks(site: Site, episode: EpisodeSpec) -> list[str]:
    persona, tasks = episode.persona, site.tasks(episode)
    others = [
        el("li", el("a", each.persona.name or each.persona.user_id, href=f"tasks-{at}.html"))
        for at, each in enumerate(site.pack.episodes, 1)
        if each is not episode
    ]
    hidden = len(episode.tasks) - len(tasks)
    return [
        el("h1", f"Tasks of {persona.name or persona.user_id}"),
        *([el("p", f"{count_of(hidden, 'more is', 'more are')} not public.", class_="soft")] if hidden else []),
        *(_task(task) for task in tasks),
        *([el("h2", "Other personas"), el("ul", *others)] if others else []),
    ]


def _task(task: TaskSpec) -> Html:
    parts: list[str] = [
        el("summary", task.title.strip() or task.task_id, " ", el("span", task.task_id, class_="soft")),
        el("h3", "Request"),
        el("div", task.initial_request or "(an event opens it)", class_="said user"),
        texts_table("Hidden intents", ("The agent is not told",), [(each.content,) for each in task.intents]),
        texts_table(
            "Checklist",
            ("The outcome is checked for", "weight", "by"),
            [(each.criterion, f"{each.weight:g}", each.grader) for each in task.scored_items],
        ),
    ]
    for heading, names in (
        ("Builds on", [need.task_id for need in task.depends_on]),
        ("Files", [asset.path for asset in task.assets]),
        ("Tools", task.tools),
    ):
        if names:
            parts.append(el("p", f"{heading}: {', '.join(names)}"))
    return el("details", *parts)


def _conversation(shown: Transcript) -> Html:
    intents = [(content, el("span", how)) for content, how in shown.intents]
    return el(
        "details",
        el("summary", f"{shown.agent} · {shown.persona} · {shown.task.title.strip() or shown.task.task_id}"),
        texts_table("Hidden intents", ("intent", "how it ended"), intents),
        el("h3", "Conversation"),
        *map(exchange, shown.turns),
    )


def _document(text: str) -> Html:
    if len(text) > markup.MAX_MARKDOWN:
        return el("div", text, class_="said")
    tables = markup.markdown(text).replace("<table>", '<div class="wide text" tabindex="0"><table>')
    return Html(tables.replace("</table>", "</table></div>"))


def _errata(site: Site) -> list[str]:
    if not site.errata:
        return [el("h1", "Errata"), el("p", "None are known.")]
    rows = [
        (
            f"{each['version']}, erratum {each['number']}",
            ", ".join(each["tasks"]) or "the release as a whole",
            each["text"],
            ERRATUM_EFFECTS.get(each["effect"], each["effect"]),
        )
        for each in site.errata
    ]
    return [el("h1", "Errata"), texts_table("", ("Erratum", "Tasks", "What is wrong", "For scores"), rows)]


def _downloads(site: Site) -> list[str]:
    links = [("leaderboard.csv", "Leaderboard as CSV"), ("leaderboard.json", "Leaderboard as JSON")]
    if site.archive:
        links.insert(0, (_archive_name(site), f"The pack: {_archive_name(site)}, {len(site.archive):,} bytes"))
    sha256 = el("p", f"sha256 of the pack: {site.pack.sha256}", class_="soft")
    check = f"pibench verify {_archive_name(site)}"
    if signed_by := site.pack.manifest.get("signed_by"):
        check += f" --key {signed_by['fingerprint']}"
    items = [el("li", el("a", text, href=address)) for address, text in links]
    how = el("div", check, class_="said") if SUMS in site.files else ""
    return [el("h1", "Downloads"), el("ul", *items), sha256, how]


def _data(site: Site) -> dict[str, bytes]:
    rows, documents = [], []
    published = site.personas
    for entry in site.entries:
        for mode, agent in entry.scores.items():
            personas = {name: scores for name, scores in agent.personas.items() if name in published}
            rows.append((*scores_row(agent.agent, agent.scores), str(entry.ran.terms), mode.value))
            documents.append(
                {
                    "agent": agent.agent,
                    "protocol": entry.ran.terms.protocol,
                    "agent_loop": entry.ran.terms.agent_loop,
                    "scoring": mode,
                    "note": entry.note,
                    **scores_document(replace(agent, personas=personas)),
                }
            )
    table = Table("", ("agent", *COLUMNS[1:], "terms", "scoring"), rows)
    return {
        "leaderboard.csv": as_csv(table).encode("utf-8", "replace"),
        "leaderboard.json": json.dumps(documents, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n",
        **({_archive_name(site): site.archive} if site.archive else {}),
    }
