"""The page at `/`: a conversation with an agent in a browser, over AG-UI."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from concerto.resources import code_folder


def page_routes() -> list[Route]:
    html = (code_folder("serving") / "page.html").read_text(encoding="utf-8")
    style, script = (
        _hash(found[1]) for name in ("style", "script") if (found := _element(name, html)) is not None
    )
    policy = f"default-src 'none'; connect-src 'self'; style-src '{style}'; script-src '{script}'"
    headers = {
        "content-security-policy": f"{policy}; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(html, headers=headers)

    return [Route("/", page)]


def _element(name: str, html: str) -> re.Match[str] | None:
    return re.search(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
