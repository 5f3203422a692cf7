"""Certificate authorities: the TLS contexts of requests, by what the environment says whom to trust.

What a run's own environment does not name, the process's may.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from concerto.runtime.llm.sockets import HttpFailure


class Authorities(NamedTuple):
    """The file or the folder of whom to trust; neither for the system's."""

    file: str = ""
    folder: str = ""


def authorities(environment: Mapping[str, str]) -> Authorities:
    for names in (environment, os.environ):
        file, folder = names.get("SSL_CERT_FILE", ""), names.get("SSL_CERT_DIR", "")
        if file or folder:
            return Authorities(file, "" if file else folder)
    return Authorities()


@lru_cache(8)
def tls_context(trusted: Authorities) -> ssl.SSLContext:
    """Loaded once, which costs more than a request. Raises HttpFailure."""
    if trusted == Authorities():
        from httpx2 import create_ssl_context

        context = create_ssl_context(trust_env=False)
    else:
        try:
            context = ssl.create_default_context(cafile=trusted.file or None, capath=trusted.folder or None)
        except OSError as error:
            name, place = (
                ("SSL_CERT_FILE", trusted.file) if trusted.file else ("SSL_CERT_DIR", trusted.folder)
            )
            raise HttpFailure(f"`{name}`, `{place}`, cannot be read: {error.strerror or error}") from None
    context.set_alpn_protocols(["http/1.1"])
    return context
