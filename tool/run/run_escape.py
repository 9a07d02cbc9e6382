"""What a program in leat's jail must not be able to do: prints each attempt, and how it ended.

usage: run_escape.py OUTSIDE_FOLDER OUTSIDE_FILE OUTSIDE_PID OUTSIDE_PORT OUTSIDE_SOCKET [WRITABLE_FOLDER]
"""
import ctypes
import fcntl
import os
import platform
import resource
import signal
import socket
import struct
import sys
import termios

libc = ctypes.CDLL(None, use_errno=True)
folder, file, pid, port, local = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def call(name, *arguments):
    """A function of libc: as Python's, it fails with an exception."""
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def connects(family, address):
    with socket.socket(family) as s:
        s.settimeout(2)
        s.connect(address)


def writes(path):
    with open(path, "ab") as f:
        f.write(b"x")


def reads(path):
    with open(path, "rb") as f:
        f.read(1)


def types():
    """Words in its terminal, as if the user had typed them."""
    terminal = os.openpty()[1]
    child = os.fork()
    if not child:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        try:
            fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
        except OSError as refusal:
            os._exit(refusal.errno)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, os.strerror(code))


def clones(number, *arguments):
    """A process in namespaces of its own."""
    child = libc.syscall(number, *arguments)
    if not child:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(child, 0)


MS_REMOUNT_BIND = 32 | 4096
CLONE_NEWUSER_AND_MOUNTS = 0x10000000 | 0x20000
SYS_CLONE, SYS_CLONE3 = {"x86_64": 56, "aarch64": 220}[platform.machine()], 435
CLONE_ARGS = struct.pack("11Q", CLONE_NEWUSER_AND_MOUNTS, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
attempts = {
    "a new file": lambda: writes(os.path.join(folder, "new")),
    "a file of the user": lambda: writes(file),
    "an empty file": lambda: os.truncate(file, 0),
    "a file's rights": lambda: os.chmod(file, 0o777),
    "a file's time": lambda: os.utime(file),
    "a file's name": lambda: os.rename(file, file + "2"),
    "no file any more": lambda: os.unlink(file),
    "a folder": lambda: os.mkdir(os.path.join(folder, "new")),
    "a pipe in a folder": lambda: os.close(os.open(os.path.join(folder, "pipe"), os.O_WRONLY | os.O_NONBLOCK)),
    "a file of all": lambda: writes(f"/tmp/leat-escape.{pid}"),
    "a file that is writable again": lambda: (call("mount", None, b"/", None, MS_REMOUNT_BIND, None), writes(file)),
    "namespaces of its own": lambda: call("unshare", CLONE_NEWUSER_AND_MOUNTS),
    "namespaces of a child": lambda: clones(SYS_CLONE, CLONE_NEWUSER_AND_MOUNTS | signal.SIGCHLD, None, None, None, None),
    "namespaces of a child, by clone3": lambda: clones(SYS_CLONE3, CLONE_ARGS, len(CLONE_ARGS)),
    "namespaces of others": lambda: call("setns", os.open(f"/proc/{pid}/ns/net", os.O_RDONLY), 0),
    "a server on this host": lambda: connects(socket.AF_INET, ("127.0.0.1", port)),
    "a local server": lambda: connects(socket.AF_UNIX, local),
    "a packet socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0),
    "another network": lambda: connects(socket.AF_INET, ("192.0.2.1", 80)),
    "memory of another process": lambda: reads(f"/proc/{pid}/mem"),
    "a file that another process has open": lambda: reads(f"/proc/{pid}/fd/0"),
    "variables of another process": lambda: reads(f"/proc/{pid}/environ"),
    "a traced process": lambda: call("ptrace", 16, pid, 0, 0),
    "words typed for the user": types,
    "another root": lambda: os.setuid(0) if os.getuid() else os.chroot("/tmp"),
    "its limits": lambda: resource.setrlimit(resource.RLIMIT_DATA, (-1, -1)),
    "limits of another process": lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
}
if sys.argv[6:7] == ["signals"]:
    attempts["a signal for another process"] = lambda: os.kill(pid, signal.SIGTERM)
for name, attempt in attempts.items():
    try:
        attempt()
        print("ESCAPED:", name)
    except (OSError, ValueError) as refusal:
        print("refused:", name, "-", refusal.strerror if isinstance(refusal, OSError) else refusal)
writes(os.path.join(os.environ["TMPDIR"], "own"))
print("its own memory is writable")
