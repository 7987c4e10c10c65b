"""The way to a model server: past proxies or through them, and whose certificates count.

Owns what is decided by where a server is, for everybody who asks one: the client of the model and the checks of the
setup. Proxies and certificates of the environment are used as httpx does, except for a server on this machine: a
loopback address never goes through a proxy. Redirects are not followed, the key would go to whoever they name.
Deliberately absent: what is asked, how long is waited, and the words of errors.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

    import httpx


def is_loopback(url: str) -> bool:
    """Whether this address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def http_client(
    url: str, timeout: httpx.Timeout, headers: Mapping[str, str] | None = None
) -> httpx.AsyncClient:
    """A client for the server at this address, connected to nothing yet.

    Raises ValueError with the reason if a proxy or certificate of the environment cannot be used.
    """
    import httpx  # here, because only the first request needs its 60 ms

    loopback = is_loopback(url)
    verify: bool | ssl.SSLContext = True
    try:
        if loopback:
            # Loading the certificates takes longer than all the rest; plain HTTP to this machine has no use for them,
            # as neither a proxy nor a redirect can bring TLS in. With HTTPS, those of the system count, and
            # $SSL_CERT_FILE, because a local server has no certificate of a public authority.
            verify = _system_certificates() if url.lower().startswith("https:") else False
        return httpx.AsyncClient(
            headers=headers, timeout=timeout, trust_env=not loopback, verify=verify, follow_redirects=False
        )
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        # A SOCKS proxy without its package, a malformed proxy address, a certificate file that is not there.
        raise ValueError(str(error)) from error


def _system_certificates() -> ssl.SSLContext:
    import ssl  # as httpx: only where a request needs it

    return ssl.create_default_context()
