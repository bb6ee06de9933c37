"""A filter of system calls for the sandbox: what limits on memory and files do not see, or nobody needs.

The program is classic BPF as the kernel takes it (``linux/filter.h``): 8 bytes an instruction.
"""

from __future__ import annotations

import errno
import platform
import struct

# Refused, or let through by what they ask for. Memory that belongs to no process (memfd, System V, POSIX queues, shared
# without a file, buffers of sockets, pages in pipes, events of watched files, rules of Landlock), locks without an
# owner, kernel keys, tracing, limits of others, other kernel doors.
# AF_VSOCK and netlink would also lead out of the network namespace.
CHECKED: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41, "socketpair": 53,
            "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64,
            "mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250, "ptrace": 101,
            "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321, "perf_event_open": 298,
            "userfaultfd": 323, "io_uring_setup": 425, "mount": 165, "umount2": 166, "pivot_root": 155,
            "unshare": 272, "setns": 308, "open_by_handle_at": 304, "kexec_load": 246, "init_module": 175,
            "finit_module": 313, "fsopen": 430, "move_mount": 429, "open_tree": 428,
            "splice": 275, "tee": 276, "vmsplice": 278, "mmap": 9, "prlimit64": 302, "setsockopt": 54, "fcntl": 72,
            "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300, "landlock_create_ruleset": 444,
            "io_setup": 206,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198, "socketpair": 199,
            "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "shmat": 196, "msgget": 186, "semget": 190,
            "mq_open": 180, "add_key": 217, "request_key": 218, "keyctl": 219, "ptrace": 117,
            "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280, "perf_event_open": 241,
            "userfaultfd": 282, "io_uring_setup": 425, "mount": 40, "umount2": 39, "pivot_root": 41,
            "unshare": 97, "setns": 268, "open_by_handle_at": 265, "kexec_load": 104, "init_module": 105,
            "finit_module": 273, "fsopen": 430, "move_mount": 429, "open_tree": 428,
            "splice": 76, "tee": 77, "vmsplice": 75, "mmap": 222, "prlimit64": 261, "setsockopt": 208, "fcntl": 25,
            "inotify_init1": 26, "fanotify_init": 262, "landlock_create_ruleset": 444, "io_setup": 0,
        },
    ),
}  # fmt: skip

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
X32_BIT = 0x40000000
AF_UNIX = 1
SHARED_ANONYMOUS = 0x21
"""MAP_SHARED and MAP_ANONYMOUS."""
SO_SNDBUF, SO_SNDBUFFORCE = 7, 32
F_OFD_SETLK, F_OFD_SETLKW = 37, 38

Instruction = tuple[int, int, int, int]


def build_filter(machine: str = "", *, unix_sockets: bool = False, socket_pairs: bool = False) -> bytes | None:
    """The filter for this kind of machine; None where we know no call numbers for it.

    ``unix_sockets``: these can be opened, and no others; ``socket_pairs``: they alone, in pairs. None can have a larger
    buffer than at first. Limits can be set by a process for itself. Memory is shared through files alone.

    A refused call fails with EPERM; calls through a foreign interface (32 bit) kill the process.
    """
    known = CHECKED.get(machine or platform.machine())
    if known is None:
        return None
    architecture, calls = known
    parts: dict[str, list[Instruction]] = {
        "mmap": [_argument(3), (AND, 0, 0, SHARED_ANONYMOUS), *_answer(SHARED_ANONYMOUS, refuse=True)],
        "prlimit64": [_argument(0), *_answer(0)],
        "fcntl": [_argument(1), (JUMP_EQUAL, 1, 0, F_OFD_SETLK), *_answer(F_OFD_SETLKW, refuse=True)],
    }
    if unix_sockets or socket_pairs:
        parts["socketpair"] = [_argument(0), *_answer(AF_UNIX)]
        parts["setsockopt"] = [_argument(2), (JUMP_EQUAL, 1, 0, SO_SNDBUF), *_answer(SO_SNDBUFFORCE, refuse=True)]
    if unix_sockets:
        parts["socket"] = parts["socketpair"]
    program: list[Instruction] = [
        (LOAD, 0, 0, 4),  # seccomp_data.arch
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),  # seccomp_data.nr
        (JUMP_AT_LEAST, 0, 1, X32_BIT),
        (RETURN, 0, 0, REFUSE),
    ]
    for name, number in calls.items():
        part = parts.get(name, [(RETURN, 0, 0, REFUSE)])
        program += [(JUMP_EQUAL, 0, len(part), number), *part]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _argument(index: int) -> Instruction:
    """Loads the lower half of seccomp_data.args[index]."""
    return (LOAD, 0, 0, 16 + 8 * index)


def _answer(value: int, *, refuse: bool = False) -> list[Instruction]:
    """Only a call with this value is allowed, or it alone is refused."""
    is_value, other = (REFUSE, ALLOW) if refuse else (ALLOW, REFUSE)
    return [(JUMP_EQUAL, 0, 1, value), (RETURN, 0, 0, is_value), (RETURN, 0, 0, other)]
