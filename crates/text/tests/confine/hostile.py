"""What a document might make an engine do. Prints a line for each thing that could be done.

Arguments: a file of the user's, a process of the user's. Standard input is the document.
"""
import ctypes
import fcntl
import os
import platform
import resource
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
key, victim = sys.argv[1], int(sys.argv[2])
SHARED_KEY = 0x67617231


def attempt(name, deed):
    try:
        deed()
    except (OSError, ValueError):
        return
    print(name, flush=True)


def checked(name, *arguments):
    """Calls a function of the C library, or a system call by its number."""
    def call():
        function = libc.syscall if isinstance(name, int) else getattr(libc, name)
        given = (name, *arguments) if isinstance(name, int) else arguments
        if function(*given) == -1:
            raise OSError(ctypes.get_errno(), "refused")
    return call


def truncated_by_opening(flags):
    return lambda: os.close(os.open(key, flags | os.O_TRUNC))


own = os.getpid()
attempt("chmod", lambda: os.chmod(key, 0o666))
attempt("fchmod of the document", lambda: os.fchmod(0, 0o666))
attempt("chown", lambda: os.chown(key, os.getuid(), os.getgid()))
attempt("fchown of the document", lambda: os.fchown(0, os.getuid(), os.getgid()))
attempt("setxattr", lambda: os.setxattr(key, "user.garner", b"x"))
attempt("fsetxattr of the document", lambda: os.setxattr(0, "user.garner", b"x"))
attempt("removexattr", lambda: os.removexattr(key, "user.kept"))
attempt("utime", lambda: os.utime(key, (1, 1)))
attempt("utime of the document", lambda: os.utime(0, (1, 1)))
attempt("flags of the document", lambda: fcntl.ioctl(0, 0x40086602, struct.pack("l", 0x80)))
attempt("a lease on the document", lambda: fcntl.fcntl(0, 1024, fcntl.F_RDLCK))
attempt("the end of the lease", lambda: fcntl.fcntl(0, 1024, fcntl.F_UNLCK))
attempt("truncate", lambda: os.truncate(key, 0))
attempt("open and truncate for reading", truncated_by_opening(os.O_RDONLY))
attempt("open and truncate for writing", truncated_by_opening(os.O_WRONLY))
attempt("open and truncate for neither", truncated_by_opening(os.O_ACCMODE))
attempt("append", lambda: os.write(os.open(key, os.O_WRONLY | os.O_APPEND), b"x"))
attempt("the document for writing", lambda: os.open("/proc/self/fd/0", os.O_RDWR))
attempt("unlink", lambda: os.unlink(key))
attempt("rename", lambda: os.rename(key, key + ".taken"))
attempt("link", lambda: os.link(key, "linked"))
attempt("symlink", lambda: os.symlink(key, key + ".link"))
attempt("mkdir", lambda: os.mkdir(key + ".directory"))
attempt("mkfifo", lambda: os.mkfifo(key + ".fifo"))
attempt("a file without a name", lambda: os.open(".", os.O_TMPFILE | os.O_RDWR))
attempt("a file in memory", lambda: os.memfd_create("x"))

attempt("kill everybody", lambda: os.kill(-1, 0))
attempt("kill the parent's group", lambda: os.kill(-os.getpgid(os.getppid()), 0))
attempt("pidfd_open", lambda: os.pidfd_open(victim))
attempt("prlimit", lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (9, 9)))
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
attempt("sched_setaffinity", lambda: os.sched_setaffinity(victim, {0}))
attempt("sched_setscheduler", lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0)))
# Signals by way of a pipe that somebody else is said to own.
pipe, _ = os.pipe()
attempt("F_SETOWN", lambda: fcntl.fcntl(pipe, 8, victim))
attempt("F_SETSIG", lambda: fcntl.fcntl(pipe, 10, signal.SIGTERM))
attempt("kill", lambda: os.kill(victim, signal.SIGTERM))
attempt("another group", lambda: os.setpgid(0, os.getpgid(os.getppid())))
attempt("another session", os.setsid)
attempt("life without the parent", checked("prctl", 1, 0, 0, 0, 0))
attempt("fork", lambda: os.fork() or os._exit(0))

attempt("shmget", checked("shmget", SHARED_KEY, 4096, 0o1600))
attempt("semget", checked("semget", SHARED_KEY, 1, 0o1600))
attempt("msgget", checked("msgget", SHARED_KEY, 0o1600))
attempt("mq_open", checked("mq_open", b"/garner-hostile", os.O_RDWR | os.O_CREAT, 0o600, None))
attempt("unshare", checked("unshare", 0x10000000))
attempt("mount", checked("mount", b"none", b"/tmp", b"tmpfs", 0, None))
attempt("socket", checked("socket", 1, 1, 0))
attempt("inotify", checked("inotify_init1", 0))

if platform.machine() == "x86_64":
    path = key.encode()
    numbered = {
        "chmod by number": (90, path, 0o666),
        "fchmodat2": (452, -100, path, 0o666, 0),
        "setxattrat": (463, -100, path, 0, b"user.garner", None, 0),
        "file_setattr": (469, -100, path, b"\0" * 24, 24, 0),
        "openat2": (437, -100, path, struct.pack("QQQ", os.O_WRONLY, 0, 0), 24),
        "creat": (85, path, 0o600),
        "tgkill": (234, victim, victim, signal.SIGTERM),
        "rt_sigqueueinfo": (129, victim, signal.SIGTERM, b"\0" * 128),
        "add_key": (248, b"user", b"garner-hostile", b"x", 1, -5),
        "keyctl": (250, 0, -3, 1),
        "setns": (308, 0, 0),
        "bpf": (321, 0, b"\0" * 128, 128),
        "perf_event_open": (298, b"\0" * 128, 0, -1, -1, 0),
        "userfaultfd": (323, 1),
        "io_uring": (425, 1, b"\0" * 128),
        "clone": (56, 17, 0, 0, 0, 0),
        "clone3": (435, struct.pack("11Q", *[0] * 4, 17, *[0] * 6), 88),
        # The same once more for short pointers, where the kernel has them.
        "chmod of x32": (0x40000000 | 90, path, 0o666),
        "fork of x32": (0x40000000 | 57,),
    }
    for name, call in numbered.items():
        attempt(name, checked(*call))

# It can still end itself, as programs do that find they are broken.
os.kill(own, 0)
