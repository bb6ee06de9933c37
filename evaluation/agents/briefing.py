"""What the built-in agent is told before the first message: its workspace, its memory, its skills.

Neutral on purpose: it neither urges the model to guess what a user left unsaid nor to ask about it,
because whether it does is what is measured.
"""

from __future__ import annotations

from evaluation.tools.workspace import Workspace, WorkspaceError

MEMORY = "MEMORY.md"
SKILLS = "skills"
MAX_MEMORY = 16_000
MAX_SKILLS = 100
MAX_ABOUT = 300

_BRIEFING = """\
You are a personal assistant. You work for one user over many sessions, in a folder called the workspace.
Its files stay from session to session; the conversation does not. Use your tools to read and change files.
Paths are relative to the workspace.

{memory} is your memory: keep there what you will need in later sessions, and change it with your tools.
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


def briefing(workspace: Workspace) -> str:
    """The system message of a session."""
    skills = skills_in(workspace)
    listed = "\n".join(f"- {SKILLS}/{name}/SKILL.md: {about}" for name, about in skills)
    return _BRIEFING.format(
        memory=MEMORY,
        remembered=_remembered(workspace),
        skills=_SKILLS.format(listed=listed) if skills else "",
    )


def skills_in(workspace: Workspace) -> list[tuple[str, str]]:
    """Each skill's name and first line."""
    try:
        names = [entry.path.rpartition("/")[2] for entry in workspace.entries(SKILLS) if entry.folder]
    except WorkspaceError:
        return []
    found = []
    for name in names[:MAX_SKILLS]:
        text = _read(workspace, f"{SKILLS}/{name}/SKILL.md")
        if text is not None:
            found.append((name, _about(text)))
    return found


def _about(text: str) -> str:
    """The description in the front matter, or the first line that says something."""
    lines = [line.strip() for line in text.splitlines()]
    if lines[:1] == ["---"] and "---" in lines[1:]:
        end = lines.index("---", 1)
        for line in lines[1:end]:
            key, _, value = line.partition(":")
            if key == "description" and (value := value.strip().strip("\"'")) and value not in (">", "|", ">-", "|-"):
                return value[:MAX_ABOUT]
        lines = lines[end + 1 :]
    return next((bare for line in lines if (bare := line.lstrip("#").strip())), "no description")[:MAX_ABOUT]


def _remembered(workspace: Workspace) -> str:
    text = (_read(workspace, MEMORY) or "").strip()
    if len(text) <= MAX_MEMORY:
        return text or "(nothing yet)"
    return f"{text[:MAX_MEMORY]}\n[cut here; read {MEMORY} for the rest]"


def _read(workspace: Workspace, path: str) -> str | None:
    try:
        return workspace.read(path).decode("utf-8", "replace")
    except WorkspaceError:
        return None
