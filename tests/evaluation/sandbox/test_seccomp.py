"""What the filter of system calls answers to each, by running its program as the kernel does."""

from __future__ import annotations

import struct

import pytest

from evaluation.sandbox.seccomp import CHECKED, build_filter

ALLOWED, KILLED, REFUSED = 0x7FFF0000, 0x80000000, 0x00050001
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ORDINARY = {"x86_64": (0, 1, 2, 59), "aarch64": (63, 64, 56, 221)}
"""read, write, open and execve."""
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
MACHINES = sorted(ARCHITECTURE)


def answer(program: bytes | None, machine: str, number: int, *arguments: int, architecture: int = 0) -> int:
    assert program is not None
    given = (*arguments, *[0] * 6)[:6]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURE[machine], 0, *given)
    at = value = 0
    while True:
        code, on_true, on_false, k = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == RETURN:
            return int(k)
        if code == LOAD:
            (value,) = struct.unpack_from("=I", data, k)
        elif code == AND:
            value &= k
        else:
            assert code in (JUMP_EQUAL, JUMP_AT_LEAST)
            at += on_true if (value == k if code == JUMP_EQUAL else value >= k) else on_false


def calls(machine: str) -> dict[str, int]:
    return CHECKED[machine][1]


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_allowed(machine: str):
    assert {answer(build_filter(machine), machine, number) for number in ORDINARY[machine]} == {ALLOWED}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_listed_call_is_refused_but_for_what_it_may_be_asked_for(machine: str):
    asked_for = {"mmap", "prlimit64", "fcntl"}
    listed = {name: number for name, number in calls(machine).items() if name not in asked_for}

    found = {name: answer(build_filter(machine), machine, number) for name, number in listed.items()}

    assert {name for name, said in found.items() if said != REFUSED} == set()
    assert {"socket", "ptrace", "mount", "setns", "bpf", "memfd_create", "io_uring_setup"} <= set(found)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("mmap", (0, 4096, 3, 0x22), ALLOWED),  # private
        ("mmap", (0, 4096, 3, 0x01), ALLOWED),  # shared with a file
        ("mmap", (0, 4096, 3, 0x21), REFUSED),  # shared with nothing
        ("mmap", (0, 4096, 3, 0x21 | 0x8000), REFUSED),
        ("prlimit64", (0, 7), ALLOWED),
        ("prlimit64", (1, 7), REFUSED),
        ("fcntl", (3, 3), ALLOWED),
        ("fcntl", (3, 36), ALLOWED),
        ("fcntl", (3, 37), REFUSED),
        ("fcntl", (3, 38), REFUSED),
        ("fcntl", (3, 39), ALLOWED),
    ],
)
def test_some_calls_are_refused_by_what_they_ask_for(machine: str, name: str, arguments: tuple[int, ...], said: int):
    assert answer(build_filter(machine), machine, calls(machine)[name], *arguments) == said


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("options", "name", "family", "said"),
    [
        ({}, "socket", 1, REFUSED),
        ({}, "socketpair", 1, REFUSED),
        ({"socket_pairs": True}, "socket", 1, REFUSED),
        ({"socket_pairs": True}, "socketpair", 1, ALLOWED),
        ({"socket_pairs": True}, "socketpair", 2, REFUSED),
        ({"unix_sockets": True}, "socket", 1, ALLOWED),
        ({"unix_sockets": True}, "socket", 2, REFUSED),  # the internet
        ({"unix_sockets": True}, "socket", 40, REFUSED),  # vsock
        ({"unix_sockets": True}, "socketpair", 1, ALLOWED),
    ],
)
def test_sockets_are_allowed_of_the_kind_that_was_asked_for(
    machine: str, options: dict[str, bool], name: str, family: int, said: int
):
    assert answer(build_filter(machine, **options), machine, calls(machine)[name], family, 1) == said


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("options", [{"unix_sockets": True}, {"socket_pairs": True}], ids=str)
@pytest.mark.parametrize(("option", "said"), [(7, REFUSED), (32, REFUSED), (8, ALLOWED), (2, ALLOWED)])
def test_no_socket_gets_a_larger_buffer(machine: str, options: dict[str, bool], option: int, said: int):
    assert answer(build_filter(machine, **options), machine, calls(machine)["setsockopt"], 3, 1, option) == said


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_through_a_foreign_interface_do_not_get_through(machine: str):
    foreign = answer(build_filter(machine), machine, 1, architecture=0x40000003)
    x32 = [answer(build_filter(machine), machine, 0x40000000 + number) for number in (0, 1)]

    assert (foreign, x32) == (KILLED, [REFUSED, REFUSED])


def test_there_is_no_filter_for_a_machine_whose_calls_are_not_known():
    assert build_filter("pdp11") is None
