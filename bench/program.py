"""Starts, watches and stops the program under test.

Everything that can go wrong here is raised as `BenchError` with the end of the program's log, because the person
who reads it did not see the program run.
"""

import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import time

READY_SECONDS = 900
STOP_SECONDS = 60
COMMAND_SECONDS = 900
TICKS = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """A measurement that cannot be made, with the reason."""


class Garner:
    """`garner serve` over one directory, on one port of the loopback interface."""

    # What the log says when it answers.
    ready = rb"\bready\b[^\n]*\n"

    def __init__(self, binary, site, data, log, port, config=None):
        self.binary, self.site, self.data, self.log, self.port, self.config = binary, site, data, log, port, config
        self.process = None
        self.ready_after = None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        self.stop(quiet=kind is not None)

    def command(self):
        command = [str(self.binary), "serve", str(self.site), "--listen", f"127.0.0.1:{self.port}"]
        command += ["--data", str(self.data), "--admin-email", "bench@example.org"]
        if self.config:
            command += ["--config", str(self.config)]
        return command

    def start(self):
        command = self.command()
        started = time.perf_counter()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        try:
            self._wait_until_ready(started, command)
        except BaseException:
            self.stop(quiet=True)
            raise
        return self

    def _wait_until_ready(self, started, command):
        """Polls the log file: a reading thread would take processor time from the client in this process."""
        with open(self.log, "rb") as log:
            pending = b""
            while True:
                pending += log.read()
                if re.search(self.ready, pending, re.IGNORECASE):
                    self.ready_after = time.perf_counter() - started
                    return
                pending = pending[pending.rfind(b"\n") + 1 :]
                if self.process.poll() is not None:
                    raise BenchError(self._explain(f"`{' '.join(command)}` ended with {self.process.returncode}"))
                if time.perf_counter() - started > READY_SECONDS:
                    raise BenchError(self._explain(f"no line that says it is ready within {READY_SECONDS} s"))
                time.sleep(0.002)

    def stop(self, quiet=False):
        process, self.process = self.process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"no end within {STOP_SECONDS} s of SIGTERM"
        if code != 0 and not quiet:
            raise BenchError(self._explain(f"expected exit code 0 after SIGTERM, got {code}"))

    def settle(self, longest=600):
        """Waits until the program is idle, so that work left over from the start is not counted as an answer's cost."""
        started = time.perf_counter()
        idle, before = 0, self.cpu_seconds()
        while idle < 2 and time.perf_counter() - started < longest:
            time.sleep(0.25)
            now = self.cpu_seconds()
            idle = idle + 1 if now - before <= 0.011 else 0
            before = now
        return time.perf_counter() - started

    def cpu_seconds(self):
        """User and system time of the whole process so far, to a hundredth of a second."""
        with open(f"/proc/{self._pid()}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """Resident memory in bytes, now (VmRSS and its parts) and at its highest (VmHWM)."""
        with open(f"/proc/{self._pid()}/status") as status:
            fields = dict(line.split(":", 1) for line in status if ":" in line)
        names = ("VmRSS", "VmHWM", "RssAnon", "RssFile")
        return {name: int(fields[name].split()[0]) * 1024 for name in names if name in fields}

    def _pid(self):
        if self.process is None or self.process.poll() is not None:
            raise BenchError(self._explain("the program ended while it was being measured"))
        return self.process.pid

    def _explain(self, what):
        try:
            with open(self.log, errors="replace") as log:
                tail = log.read()[-2000:].strip()
        except OSError:
            tail = ""
        return f"{what}\n--- end of its log ---\n{tail or '(nothing)'}"


def measure(garner, work):
    """Runs `work` and returns its result with wall time and the processor time of client and server.

    The client is this process (http.client) or a child of it (wget, curl), so both are added.
    """
    server, client, started = garner.cpu_seconds(), _client_cpu(), time.perf_counter()
    result = work()
    wall = time.perf_counter() - started
    return result, {
        "wall_s": wall,
        "client_cpu_s": _client_cpu() - client,
        "server_cpu_s": garner.cpu_seconds() - server,
    }


def run(command, accept=(0,), stdout=subprocess.DEVNULL):
    """Runs a reference program to its end."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=COMMAND_SECONDS)
    except FileNotFoundError:
        raise BenchError(f"`{command[0]}` is needed for the comparison and is not installed") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"`{' '.join(command[:3])} …` did not end within {COMMAND_SECONDS} s") from None
    if done.returncode not in accept:
        error = done.stderr.decode(errors="replace")[-1000:]
        raise BenchError(f"`{' '.join(command[:3])} …` ended with {done.returncode}\n{error}")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def median(rounds):
    """The median of each figure over several rounds, plus the spread of the wall time."""
    merged = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    merged["wall_min_s"] = min(each["wall_s"] for each in rounds)
    merged["wall_max_s"] = max(each["wall_s"] for each in rounds)
    return merged


def _client_cpu():
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
