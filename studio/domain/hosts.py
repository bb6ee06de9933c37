"""Which addresses a host has, and which of them the studio may connect to."""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from typing import Any, NoReturn

import httpcore2

from studio.domain.addresses import Address, is_named, is_public


class NoAddressError(httpcore2.ConnectError):
    """The host has no address at which it may be connected to. Whether it has another is not everybody's business."""


class InternalAddressError(NoAddressError):
    """The host is inside an internal network that settings do not name."""


def allowed_addresses(host: str, networks: Collection[str]) -> list[str]:
    """Of the host, those that are public or in ``networks`` (networks and host names); at least one. Connect to exactly
    these: a name may resolve differently each time. Raises httpcore2.ConnectError."""
    addresses = resolve(host)
    if not addresses:
        raise NoAddressError(f"{host} has no address.")
    allowed = [str(address) for address in addresses if is_allowed(host, address, networks)]
    if not allowed:
        raise InternalAddressError(f"{host} is inside an internal network.")
    return allowed


class CheckedBackend(httpcore2.SyncBackend):
    """Connects only to allowed addresses. ``networks``: None for a host that needs no check."""

    def __init__(self, networks: Collection[str] | None) -> None:
        super().__init__()
        self._networks = networks

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        *others, last = addresses = [host] if self._networks is None else allowed_addresses(host, self._networks)
        each = timeout and timeout / len(addresses)
        for address in others:
            try:
                return super().connect_tcp(address, port, each, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return super().connect_tcp(last, port, each, local_address, socket_options)

    def connect_unix_socket(self, *_: Any, **__: Any) -> NoReturn:
        raise InternalAddressError("No service on the web is behind a socket file.")


def is_allowed(host: str, address: Address, networks: Collection[str]) -> bool:
    return is_public(address) or is_named(host, address, networks)


def resolve(host: str) -> list[Address]:
    """As it resolves now; empty if it does not."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(ip_address(str(row[4][0]).partition("%")[0]) for row in found))
