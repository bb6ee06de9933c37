"""Runs in the sandbox: tries to get out, and writes to result.json what succeeded."""

# ruff: noqa: SIM105, SIM115

import ctypes
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
import termios
import time

secret, mark = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
result = {}


def attempt(name):
    def run(function):
        try:
            result[name] = bool(function())
        except (OSError, ValueError, KeyError, subprocess.SubprocessError):
            result[name] = False

    return run


@attempt("reads a file of the studio")
def _():
    return open(secret).read()


@attempt("reads through the first process's root")
def _():
    return open("/proc/1/root" + secret).read()


@attempt("climbs above its own root")
def _():
    return open("/proc/self/root/../../.." + secret).read()


@attempt("writes to the system")
def _():
    return open("/usr/bin/planted", "w")


@attempt("replaces the password file")
def _():
    os.makedirs("/etc", exist_ok=True)
    return open("/etc/passwd", "w")


@attempt("connects to this machine")
def _():
    return socket.create_connection(("127.0.0.1", 5432), timeout=1)


@attempt("sends to the internet")
def _():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))


@attempt("opens a local socket")
def _():
    return socket.socket(socket.AF_UNIX)


@attempt("sees processes of the machine")
def _():
    names = [open(f"/proc/{pid}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit()]
    return len(names) > 5


@attempt("kills the first process")
def _():
    os.kill(1, 9)
    time.sleep(0.05)
    return not os.path.exists("/proc/1")


@attempt("becomes root")
def _():
    os.setuid(0)
    return os.geteuid() == 0


@attempt("changes its root")
def _():
    os.chroot("/")
    return True


@attempt("makes a namespace of its own")
def _():
    return libc.unshare(0x10000000) == 0


@attempt("mounts something")
def _():
    return libc.mount(b"none", b"/home/tmp", b"tmpfs", 0, None) == 0


@attempt("watches another process")
def _():
    return libc.ptrace(16, 1, None, None) == 0


@attempt("makes a device")
def _():
    os.mknod("disk", 0o60600, os.makedev(8, 0))
    return open("disk", "rb")


@attempt("reads the memory of the machine")
def _():
    return any(os.path.exists(path) and open(path, "rb") for path in ("/dev/mem", "/dev/kmsg", "/proc/kcore"))


@attempt("finds a secret in its environment")
def _():
    own = open("/proc/1/environ").read() + "".join(os.environ.values())
    return "hush" in own


@attempt("inherits an open file")
def _():
    return [
        number for number in map(int, os.listdir("/proc/self/fd")) if number > 2 and os.path.exists(f"/dev/fd/{number}")
    ]


@attempt("keeps memory that nobody counts")
def _():
    return os.memfd_create("x") >= 0


@attempt("changes the kernel's settings")
def _():
    return open("/proc/sys/kernel/core_pattern", "w")


@attempt("raises its own limits")
def _():
    resource.setrlimit(resource.RLIMIT_NPROC, (10_000, 10_000))
    return True


@attempt("types into the terminal")
def _():
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    return True


for path in ("asset", "assets/planted"):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write("overwritten")
    except OSError:
        pass
os.symlink(secret, "link")
os.symlink(os.path.dirname(secret), "links")
os.mkfifo("pipe")
try:
    os.mknod("socket", 0o140600)
except OSError:
    pass
open("line\nbreak", "w").close()
open(b"no text \xff", "w").close()
open("rights", "w").write("x")
os.chmod("rights", 0o6755)
os.unlink("replaced")
os.symlink(secret, "replaced")
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", mark], start_new_session=True)
json.dump(result, open("result.json", "w"))
