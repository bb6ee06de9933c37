"""The built-in agent's system message: its workspace, memory and skills.

Deliberately neutral: it urges the model neither to guess what a user left unsaid nor to ask about it, because
that is what is measured.
"""

from __future__ import annotations

from evaluation.tools.workspace import MEMORY, Workspace, WorkspaceError

SKILLS = "skills"
MAX_MEMORY = 16_000
MAX_SKILLS = 100
MAX_DESCRIPTION = 300

_BRIEFING = """\
You are a personal assistant. You work for one user over many sessions, in a folder called the workspace.
Its files stay from session to session; the conversation does not. Use your tools to read and change files.
Paths are relative to the workspace.

{memory} is your memory: {keeping}
At the start of this session it holds:
<memory>
{remembered}
</memory>
{skills}
When you have done what you can in this turn, answer the user in words."""

_SKILLS = """
Skills are instructions for kinds of work. Read one with read_file when you need it:
{listed}
"""


HELPER = """\
You are a helper: another assistant gave you the task below and has not shown you its conversation. Do the task alone;
nobody answers questions. Your last message is all that it will read: put the result there, and name the files you
made."""
"""For an agent that another one gave its task."""

NO_WEB = "There is no network: neither you nor programs that you run reach the internet. Your tools work without it."
"""For an agent that finds no recorded pages."""

_OWN = "keep there what you will need in later sessions, and change it with your tools."
_CONSOLIDATED = """\
it is brought up to date from the conversation after each session. HISTORY.md is a log of earlier sessions, which you
can search. You can change both with your tools."""


def build_briefing(workspace: Workspace, loop: int = 2, *, consolidated: bool = False) -> str:
    skills = list_skills(workspace)
    line = "- {path}: {about}" if loop == 1 else "- {name}: {about} ({path})"
    paths = {name: f"{SKILLS}/{name}/SKILL.md" for name, _ in skills}
    lines = "\n".join(line.format(name=name, path=paths[name], about=about) for name, about in skills)
    return _BRIEFING.format(
        memory=MEMORY,
        keeping=_CONSOLIDATED if consolidated else _OWN,
        remembered=_read_memory(workspace),
        skills=_SKILLS.format(listed=lines) if skills else "",
    )


def list_skills(workspace: Workspace) -> list[tuple[str, str]]:
    try:
        names = [entry.path.rpartition("/")[2] for entry in workspace.entries(SKILLS) if entry.folder]
    except WorkspaceError:
        return []
    skills = []
    for name in names[:MAX_SKILLS]:
        text = _read(workspace, f"{SKILLS}/{name}/SKILL.md")
        if text is not None:
            skills.append((name, _description_of(text)))
    return skills


def _description_of(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    if lines[:1] == ["---"] and "---" in lines[1:]:
        end = lines.index("---", 1)
        for line in lines[1:end]:
            key, _, value = line.partition(":")
            if key == "description" and (value := value.strip().strip("\"'")) and value not in (">", "|", ">-", "|-"):
                return value[:MAX_DESCRIPTION]
        lines = lines[end + 1 :]
    return next((bare for line in lines if (bare := line.lstrip("#").strip())), "no description")[:MAX_DESCRIPTION]


def _read_memory(workspace: Workspace) -> str:
    text = (_read(workspace, MEMORY) or "").strip()
    if len(text) <= MAX_MEMORY:
        return text or "(nothing yet)"
    return f"{text[:MAX_MEMORY]}\n[cut here; read {MEMORY} for the rest]"


def _read(workspace: Workspace, path: str) -> str | None:
    try:
        return workspace.read(path).decode("utf-8", "replace")
    except WorkspaceError:
        return None
