"""Starts, watches and stops an Apache httpd of its own, with mod_oai and the modules that most servers have.

It shares nothing with the system's httpd but the programs: configuration, logs and state are in one folder.
"""

import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from program import STOP_SECONDS, TICKS, BenchError, free_port

PROGRAM = "/usr/sbin/apache2"
MODULES = Path("/usr/lib/apache2/modules")
WORKER = "www-data"
START_SECONDS = 30
MPMS = ("event", "prefork")
USUAL = """authz_core authz_host authn_core auth_basic authn_file authz_user mime dir alias autoindex negotiation setenvif
deflate filter env reqtimeout status headers""".split()

# What Debian's files say of these modules, without the alias for icons: those are no files of the site.
CONFIGURATION = """
ServerRoot {folder}
{modules}
LoadModule oai_module {module}
Listen 127.0.0.1:{port}
ServerName localhost
PidFile {folder}/pid
ErrorLog {folder}/error.log
DefaultRuntimeDir {folder}
Mutex file:{folder}
TypesConfig /etc/mime.types
{worker}
DirectoryIndex index.html index.cgi index.pl index.php index.xhtml index.htm
IndexIgnore .??* *~ *# RCS CVS *,v *,t
AddOutputFilterByType DEFLATE text/html text/plain text/xml text/css text/javascript application/xml
RequestReadTimeout header=20-40,minrate=500
RequestReadTimeout body=10,minrate=500
BrowserMatch "Mozilla/2" nokeepalive
BrowserMatch "Java/1\\.0" force-response-1.0
<FilesMatch "^\\.ht">
    Require all denied
</FilesMatch>
<Directory />
    AllowOverride None
    Require all denied
</Directory>
DocumentRoot {site}
<Directory {site}>
    Options Indexes FollowSymLinks
    {access}
</Directory>
<Location /server-status>
    SetHandler server-status
    Require local
</Location>
OaiStateDir {folder}/state
{directives}
<Location /modoai>
    SetHandler oai
    Require all granted
</Location>
"""
OPEN = "AllowOverride None\n    Require all granted"


class Httpd:
    """One httpd over one directory. `access` is what its <Directory> says, `directives` what is said of mod_oai."""

    def __init__(self, module, mpm, site, folder, directives="", access=OPEN):
        self.folder, self.mpm, self.port = Path(folder), mpm, free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        loaded = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in [f"mpm_{mpm}", *USUAL])
        worker = f"User {WORKER}\nGroup {WORKER}" if os.geteuid() == 0 else ""
        (self.folder / "httpd.conf").write_text(CONFIGURATION.format(
            folder=self.folder, modules=loaded, module=module, port=self.port, worker=worker, site=site, access=access,
            directives=directives,
        ))

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        self.stop(quiet=kind is not None)

    def start(self):
        command = [PROGRAM, "-f", str(self.folder / "httpd.conf"), "-DFOREGROUND"]
        with open(self.folder / "output", "wb") as output:
            # A session of its own: when it ends, prefork's parent sends SIGTERM to its whole process group.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop(quiet=True)
            raise
        return self

    def _wait_until_ready(self):
        """Asks for what needs no repository, so that the first list still finds everything to be done."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None:
                raise BenchError(self._explain(f"httpd ended with {self.process.returncode}"))
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/server-status", timeout=5).read()
                return
            except (urllib.error.URLError, ConnectionError) as error:
                if time.monotonic() > deadline:
                    raise BenchError(self._explain(f"httpd does not answer after {START_SECONDS} s: {error}")) from error
            time.sleep(0.02)

    def stop(self, quiet=False):
        process, self.process = self.process, None
        if process is None:
            return
        # Looked for before the end: event's children, with or without mod_oai, sometimes crash while they are stopped.
        crash = re.search(r".*exit signal.*", self._log("error.log"))
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"no end within {STOP_SECONDS} s of SIGTERM"
        if quiet:
            return
        if code != 0:
            raise BenchError(self._explain(f"expected exit code 0 after SIGTERM, got {code}"))
        if crash:
            raise BenchError(f"a child of httpd crashed: {crash[0]}")

    def settle(self):
        """Waits until the server is idle, so that work left over is not counted as an answer's cost."""
        idle, before, deadline = 0, self.cpu_seconds(), time.monotonic() + 60
        while idle < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
            now = self.cpu_seconds()
            idle = idle + 1 if now - before <= 0.011 else 0
            before = now

    def cpu_seconds(self):
        """User and system time of the parent and all its children, also those that have ended."""
        parent = self._pid()
        fields = _stat(parent)
        ticks = sum(int(field) for field in fields[11:15])  # utime, stime, and those of the children waited for
        for pid in self.children():
            if fields := _stat(pid):
                ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def children(self):
        parent = str(self._pid())
        found = (int(name) for name in os.listdir("/proc") if name.isdigit())
        return [pid for pid in found if (fields := _stat(pid)) and fields[1] == parent]

    def memory(self):
        """Memory in bytes of the child that has the most: the one that answered."""
        return max((_memory(pid) for pid in self.children()), key=lambda memory: memory["VmRSS"])

    def _pid(self):
        if self.process is None or self.process.poll() is not None:
            raise BenchError(self._explain("httpd ended while it was being measured"))
        return self.process.pid

    def _log(self, name):
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""

    def _explain(self, what):
        tail = (self._log("output") + self._log("error.log"))[-2000:].strip()
        return f"{what}\n--- end of its log ---\n{tail or '(nothing)'}"


def _stat(pid):
    """The fields of /proc/PID/stat from the state on, or none if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _memory(pid):
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status if ":" in line)
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM", "RssAnon", "RssFile")}
