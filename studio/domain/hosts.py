"""Which addresses a host has, and which of them the studio may connect to."""

from __future__ import annotations

import socket
from collections.abc import Collection
from ipaddress import ip_address

import httpcore2

from studio.domain.addresses import Address, is_named, is_public


class InternalAddressError(httpcore2.ConnectError):
    """The host is inside an internal network that settings do not name."""


def allowed_addresses(host: str, networks: Collection[str]) -> list[str]:
    """Of the host, those that are public or in ``networks`` (networks and host names); at least one. Connect to exactly
    these: a name may resolve differently each time. Raises httpcore2.ConnectError."""
    addresses = resolve(host)
    if not addresses:
        raise httpcore2.ConnectError(f"{host} has no address.")
    allowed = [str(address) for address in addresses if is_allowed(host, address, networks)]
    if not allowed:
        raise InternalAddressError(f"{host} is inside an internal network.")
    return allowed


def is_allowed(host: str, address: Address, networks: Collection[str]) -> bool:
    return is_public(address) or is_named(host, address, networks)


def resolve(host: str) -> list[Address]:
    """As it resolves now; empty if it does not."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(ip_address(str(row[4][0]).partition("%")[0]) for row in found))
