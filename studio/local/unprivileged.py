"""Running servers as an unprivileged user when root starts the studio (PostgreSQL refuses to run as root)."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from pathlib import Path

from studio.local.paths import LocalError

CAPABILITIES = {"dac_read_search": 2, "dac_override": 1}  # in order of preference: the first can only read


def server_user(data: Path) -> int:
    """The user id to run the server as: the current one; for root, the folder's owner or else `daemon`."""
    if os.geteuid() != 0:
        return os.geteuid()
    if data.exists() and (owner := data.stat().st_uid) != 0:
        return owner
    for name in ("daemon", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise LocalError(
        "PostgreSQL does not run as root, and this system has neither a user daemon nor nobody. "
        "Start the studio as an ordinary user, or set DATABASE_URL."
    )


def command_as(user: int, argv: Sequence[str], *, paths: Iterable[Path], death_signal: str) -> list[str]:
    """The command that runs ``argv`` as ``user`` and gets ``death_signal`` when the caller dies.

    If the user cannot reach one of ``paths`` (in a checkout under /root, for instance), the server retains the one
    capability to reach it; permissions of folders are never changed.
    """
    prefix = ["setpriv", "--pdeathsig", death_signal]
    if os.geteuid() == 0:
        prefix += [f"--reuid={user}", f"--regid={pwd.getpwuid(user).pw_gid}", "--clear-groups"]
        if unreachable := [path for path in paths if not _reachable(path, user)]:
            name = _capability_for(unreachable[0], user)
            prefix += ["--securebits=+no_setuid_fixup"]  # else access(2) would not count the capability
            prefix += [f"--inh-caps=-all,+{name}", f"--ambient-caps=-all,+{name}", f"--bounding-set=-all,+{name}"]
        else:
            prefix += ["--inh-caps=-all", "--bounding-set=-all"]
    return [*prefix, "--no-new-privs", "--", *argv]


def _reachable(path: Path, user: int) -> bool:
    for folder in path.resolve().parents:
        status = folder.stat()
        if not status.st_mode & (0o100 if status.st_uid == user else 0o001):
            return False
    return True


def _capability_for(unreachable: Path, user: int) -> str:
    with open("/proc/self/status") as status:
        effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    for name, bit in CAPABILITIES.items():
        if effective >> bit & 1:
            return name
    raise LocalError(
        f"The servers run as user {pwd.getpwuid(user).pw_name} when root starts the studio, and that user cannot "
        f"reach {unreachable}. Start it as an ordinary user, or keep the checkout and STUDIO_DATA_DIR where others "
        "may pass."
    )
