"""A Hub on this machine: the few addresses that fetching a model asks."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

VERSION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Models by id, and what was asked of them.

    Attributes:
        folders: where each model's files lie; refused: (status, error code) of ids that are not given.
        gated: ids whose listing is open and whose files are not.
        asked: the files that were fetched, in order; address: where the Hub answers.
    """

    folders: dict[str, Path] = field(default_factory=dict)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The Hub, answering while the block runs."""

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    served: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path).path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self._listing("/".join(parts[2:4]))
        return self._file("/".join(parts[:2]), "/".join(parts[4:]))

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing on the screen."""

    def _listing(self, name: str) -> None:
        if name in self.served.refused or name not in self.served.folders:
            return self._refuse(*self.served.refused.get(name, (401, "RepoNotFound")))
        files = [path for path in sorted(self.served.folders[name].rglob("*")) if path.is_file()]
        siblings = [
            {"rfilename": path.relative_to(self.served.folders[name]).as_posix(), "size": path.stat().st_size}
            for path in files
        ]
        return self._answer(json.dumps({"id": name, "sha": VERSION, "siblings": siblings}).encode())

    def _file(self, name: str, file: str) -> None:
        if name in self.served.gated:
            return self._refuse(403, "GatedRepo")
        path = self.served.folders.get(name, Path("/nowhere")) / file
        if not path.is_file():
            return self._refuse(404, "EntryNotFound")
        data = path.read_bytes()
        if self.command == "GET":
            self.served.asked.append(file)
        return self._answer(data, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": VERSION})

    def _refuse(self, status: int, code: str) -> None:
        self._answer(b"{}", {"X-Error-Code": code} if code else {}, status)

    def _answer(self, data: bytes, headers: dict[str, str] | None = None, status: int = 200) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(data)
            except OSError:  # Who asked has gone.
                self.close_connection = True
