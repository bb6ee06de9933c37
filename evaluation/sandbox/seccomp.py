"""A filter of system calls for the sandbox: what limits on memory and files do not see, or nobody needs.

The program is classic BPF as the kernel takes it (``linux/filter.h``): 8 bytes an instruction.
"""

from __future__ import annotations

import errno
import platform
import struct

# Memory that belongs to no process (memfd, System V, POSIX queues, buffers of sockets of any family), kernel keys,
# tracing, other kernel doors. AF_VSOCK and netlink would also lead out of the network namespace.
REFUSED: dict[str, tuple[int, dict[str, int]]] = {
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
        },
    ),
}  # fmt: skip

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
X32_BIT = 0x40000000
AF_UNIX = 1


def build_filter(machine: str = "", *, unix_sockets: bool = False, socket_pairs: bool = False) -> bytes | None:
    """The filter for this kind of machine; None where we know no call numbers for it.

    ``unix_sockets``: these can be opened, and no others; ``socket_pairs``: they alone, in pairs. Their buffers are
    bounded by the limits on processes and open files alone.

    A refused call fails with EPERM; calls through a foreign interface (32 bit) kill the process.
    """
    known = REFUSED.get(machine or platform.machine())
    if known is None:
        return None
    architecture, calls = known
    allowed = ("socket", "socketpair") if unix_sockets else ("socketpair",) if socket_pairs else ()
    checked = sorted(calls[name] for name in allowed)
    numbers = sorted(set(calls.values()) - set(checked))
    program = [
        (LOAD, 0, 0, 4),  # seccomp_data.arch
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),  # seccomp_data.nr
        (JUMP_AT_LEAST, len(checked) + len(numbers) + 1, 0, X32_BIT),
    ]
    program += [(JUMP_EQUAL, len(checked) - index + len(numbers) + 1, 0, call) for index, call in enumerate(checked)]
    program += [(JUMP_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    program += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    if checked:
        family = (LOAD, 0, 0, 16)  # seccomp_data.args[0], its lower half
        program += [family, (JUMP_EQUAL, 0, 1, AF_UNIX), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
