"""Name resolution and SSRF guard: where a host's name leads, and whether a run may go there.

Who owns a name decides what it leads to, and may change that at any time: a public name must be no way to the
servers of this machine or of the network around it. So a name is looked up once, what was found is judged,
and the connection goes to what was judged.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

from concerto.effects.permissions import Permissions

Address: TypeAlias = IPv4Address | IPv6Address

_WRAPPING = [IPv6Network(each) for each in ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")]
"""Translation by RFC 6052 and RFC 2765, and what was once compatible: addresses of IPv4 at their end."""
_INNER = [IPv6Network(each) for each in ("64:ff9b:1::/48", "fec0::/10")]
"""Networks of one site, which Python takes for the outer world."""


async def permitted_addresses(host: str, port: int, permissions: Permissions) -> tuple[str, ...]:
    """The addresses of a permitted host that the run may connect to; raises OSError if it has none."""
    try:
        texts: tuple[str, ...] = (str(IPv4Address(host)),)  # Which takes no thread.
    except ValueError:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        texts = tuple(dict.fromkeys([str(entry[4][0]) for entry in found]))
    return tuple([text for text in texts if _may_reach(host, port, text, permissions)])


def _may_reach(host: str, port: int, text: str, permissions: Permissions) -> bool:
    """An address of the outer world is as good as its name. One of a private network has to be meant: by a
    name that stands on the allow list without a star. One of this machine stands there itself."""
    address = _plain(text)
    named = permissions.allows_host(host, port, by_name=True)
    if address.is_global and not address.is_multicast and not any(address in each for each in _INNER):
        return True
    if any(permissions.allows_host(each, port, by_name=True) for each in (text, str(address))):
        return True
    if address.is_loopback:
        return named and (host == "localhost" or host.endswith(".localhost"))
    if address.is_link_local or address.is_unspecified or address.is_multicast:
        return False
    return named


def _plain(text: str) -> Address:
    """An address without the wrappings under which IPv6 carries one of IPv4."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        if any(address in each for each in _WRAPPING) and not (address.is_loopback or address.is_unspecified):
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address
