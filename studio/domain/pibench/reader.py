"""Reads a π-Bench release into episodes: all personas, and all problems at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from studio.domain.pack import MANIFEST, SOLUTIONS
from studio.domain.pibench.persona_folder import PersonaFolder
from studio.domain.pibench.reading import Reading
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.problems import Problem, Report
from studio.domain.storable import read_json
from studio.domain.text_origins import ORIGINS_FILE, read_origins

_SYSTEM_FILES = ("__MACOSX", ".DS_Store", "__pycache__", "Thumbs.db")
_DOCUMENTS = ("profile.yaml", "episode.yaml")


def read_personas(files: Mapping[str, bytes], *, name: str = "", sound_only: bool = False) -> Reading:
    """Read a mapping from path to bytes: one persona's folder, a ``data/`` folder of several, or either inside other
    folders (such as a release pack).

    ``name`` names a persona whose files are at the root, without a folder around them. With ``sound_only``, tasks with
    errors are left out, those that build on them, and personas that have errors without them.
    """
    reading = Reading()
    solutions = _solutions_folder(files)
    files = {path: data for path, data in files.items() if not is_system_file(path) and not path.startswith(solutions)}
    roots = _persona_folders(files)
    if not roots:
        reading.errors.append(
            Problem(
                file="",
                message="There is no persona here.",
                fix="Choose a persona's folder (with profile.yaml, episode.yaml and tasks/), a folder of several, "
                "or a zip of either.",
            )
        )
    names: dict[str, str] = {}
    inside, outside = _by_folder(files, set(roots))
    for path in [path for path in outside if path.rpartition("/")[2] == ORIGINS_FILE]:
        outside.remove(path)
        _read_origins(path, files[path], reading)
    for root in roots:
        persona = root.rstrip("/").rpartition("/")[2] or name or _user_id_in_profile(files)
        if (other := names.get(persona)) is not None:
            reading.errors.append(
                Problem(
                    file=root,
                    message=f"There are two personas “{persona}”; the other one is in “{other or '.'}”.",
                    fix="Leave one of them out, or rename its folder.",
                )
            )
            continue
        names[persona] = root
        reading.roots[persona] = root
        reading.episodes.append(PersonaFolder(persona, root, inside[root], reading, sound_only=sound_only).read())
    if roots and outside and MANIFEST not in {path.rpartition("/")[2] for path in outside}:
        reading.warnings.append(
            Problem(
                file=outside[0],
                message=f"{len(outside)} file(s) belong to no persona and are not imported.",
                fix="Put them into the persona's folder if they matter.",
            )
        )
    return reading


def _solutions_folder(files: Iterable[str]) -> tuple[str, ...]:
    """Of a release pack: what is in it is no persona, whatever its files are called."""
    packs = [path.removesuffix(MANIFEST) for path in files if path.rpartition("/")[2] == MANIFEST]
    return (f"{min(packs, key=len)}{SOLUTIONS}/",) if packs else ()


def _read_origins(path: str, content: bytes, reading: Reading) -> None:
    try:
        reading.origins |= read_origins(read_json(content))
    except ValueError as error:
        fix = "Export again, or remove the file: then all texts count as people's own words."
        reading.warnings.append(Problem(file=path, message=f"This is not JSON: {error}", fix=fix))


def is_system_file(path: str) -> bool:
    """As archives of some computers have beside what was put into them."""
    return any(part in _SYSTEM_FILES for part in path.split("/"))


def _persona_folders(files: Iterable[str]) -> list[str]:
    folders = set()
    for path in files:
        parts = path.split("/")
        if parts[-1] in _DOCUMENTS:
            folders.add("/".join(parts[:-1]))
        elif parts[-1] == "task.yaml" and len(parts) >= 3 and parts[-3] == "tasks":
            folders.add("/".join(parts[:-3]))
    outermost = {folder for folder in folders if folders.isdisjoint(_parents(folder))}
    return sorted(f"{folder}/" if folder else "" for folder in outermost)


def _parents(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(len(parts))]


def _by_folder(files: Mapping[str, bytes], roots: Collection[str]) -> tuple[dict[str, dict[str, bytes]], list[str]]:
    """The files inside each of the folders, by their paths there, and the paths of the others, sorted."""
    inside: dict[str, dict[str, bytes]] = {root: {} for root in roots}
    outside = []
    for path, data in files.items():
        end = 0
        while path[:end] not in inside and end < len(path):
            end = path.find("/", end) + 1 or len(path)
        if path[:end] in inside:
            inside[path[:end]][path[end:]] = data
        else:
            outside.append(path)
    return inside, sorted(outside)


def _user_id_in_profile(files: Mapping[str, bytes]) -> str:
    node = parse_yaml(files.get("profile.yaml", b""), Report(""))
    user_id = node.get("user_id") if node else None
    return user_id.value.strip() if user_id and isinstance(user_id.value, str) else "persona"
