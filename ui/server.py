"""What the server adds to Streamlit's own: headers, and files that a browser may keep."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def _inline_scripts(page: str) -> str:
    # The few lines of script in Streamlit's own page are allowed by their hash; any other inline script is not.
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in hashes)


_PAGE = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")

# Streamlit runs component modules from blob: addresses and styles elements in place; all else stays on this server.
POLICY = "; ".join(
    [
        "default-src 'self'",
        f"script-src 'self' 'unsafe-eval' blob: {_inline_scripts(_PAGE)}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' ws: wss: blob: data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",  # An address carries the reader's text; it goes to nobody else.
}


class SecurityHeaders:
    """ASGI middleware that sets HEADERS on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def to_first_page(request: Request) -> Response:
    """The first page has the bare address; its name leads there too, with everything that the link carries."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


class ForeverFiles(StaticFiles):
    """Static files under an address that changes with their content: fetched once, kept for ever."""

    def file_response(self, *args, **kwargs) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
