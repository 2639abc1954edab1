"""Where the harvesters harvest: our own provider, and a server that only has to send pages that were made before."""

import html
import re
import shutil
import subprocess
import time
from urllib.parse import quote, urlencode
from urllib.request import urlopen

from client import TOKEN
from program import BenchError, Garner, free_port

NGINX = "nginx"
SINGLE_PAGES = ("Identify", "ListMetadataFormats", "ListSets")
START_SECONDS = 30


class Provider:
    """`garner serve` over a site, as a repository."""

    def __init__(self, bench, site, folder, config):
        folder.mkdir()
        self.garner = Garner(bench.binary, site.root, folder / "data", folder / "log", free_port(), bench.config(folder, config))

    def __enter__(self):
        self.garner.start()
        self.garner.settle()
        self.base_url = f"http://127.0.0.1:{self.garner.port}/modoai"
        return self

    def __exit__(self, *error):
        self.garner.__exit__(*error)

    def pages(self, query):
        """Yields the query and the text of each page of a list."""
        verb, query = query["verb"], urlencode(query)
        while query:
            with urlopen(f"{self.base_url}?{query}") as answer:
                text = answer.read()
            yield query, text
            token = _token(text)
            query = f"verb={verb}&resumptionToken={quote(token, safe='')}" if token else None


class StaticPages:
    """The pages of a provider as files that nginx sends, found by verb and token. The tokens are made short for that."""

    # Where it answers.
    location = "location = /oai"

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.files = folder / "pages"
        self.files.mkdir(parents=True)
        self.base_url = f"http://127.0.0.1:{self.port}/oai"
        self.process = None

    def take(self, provider, query):
        """Takes all pages of a list, and the answers that stand for themselves."""
        for verb in SINGLE_PAGES:
            with urlopen(f"{provider.base_url}?verb={verb}") as answer:
                (self.files / f"{verb}-").write_bytes(answer.read())
        for number, (_, text) in enumerate(provider.pages(query)):
            token = _token(text)
            if token:
                last = None
                for last in TOKEN.finditer(text):
                    pass
                text = text[: last.start(1)] + f"p{number + 1}".encode() + text[last.end(1) :]
            name = f"p{number}" if number else ""
            (self.files / f"{query['verb']}-{name}").write_bytes(text)

    def queries(self, query):
        """The queries of all pages of a list, in order."""
        pages = len(list(self.files.glob(f"{query['verb']}-*")))
        return [urlencode(query)] + [f"verb={query['verb']}&resumptionToken=p{number}" for number in range(1, pages)]

    def __enter__(self):
        config, place = self.folder / "nginx.conf", self.folder
        temporary = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config.write_text(
            f"daemon off;\nmaster_process off;\nerror_log {place}/error.log;\npid {place}/pid;\nevents {{}}\n"
            f"http {{\naccess_log off;\nsendfile on;\ntcp_nopush on;\nkeepalive_requests 1000000;\n{temporary}default_type text/xml;\n"
            f"open_file_cache max=10000;\nserver {{\nlisten 127.0.0.1:{self.port};\nroot {self.files};\n"
            f"{self.location} {{ try_files /$arg_verb-$arg_resumptionToken =404; }}\n}}\n}}\n"
        )
        self.process = subprocess.Popen([NGINX, "-e", str(place / "error.log"), "-c", str(config)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()
        return self

    def _wait(self):
        started = time.monotonic()
        while True:
            try:
                with urlopen(f"{self.base_url}?verb=Identify"):
                    return
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() - started > START_SECONDS:
                    log = (self.folder / "error.log").read_text(errors="replace")[-1000:]
                    raise BenchError(f"nginx does not answer: {error}\n{log}") from None
            time.sleep(0.02)

    def __exit__(self, *_):
        process, self.process = self.process, None
        process.terminate()
        process.wait()


def check_tool(parser, tool, section, group):
    if not shutil.which(tool):
        parser.error(f"`{tool}` is needed for the section `{section}` and is not installed; `scripts/setup {group}` does it")


def _token(text):
    found = None
    for found in re.finditer(TOKEN, text[-4096:]):
        pass
    return html.unescape((found[1] or b"").decode()).strip() if found else ""
