"""Which addresses model endpoints may have: public ones, and those that settings name."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

import httpcore2
from django.conf import settings

from studio.domain.addresses import is_public
from studio.files.hosts import allowed_addresses, is_allowed, resolve

_NOT_IN_URLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\\]")


def url_problem(url: str) -> str:
    """Why this is not the URL of a service, as the end of a sentence; empty if it is one."""
    if _NOT_IN_URLS.search(url):
        return "contains a space, line break or other character that addresses do not have."
    if not url.startswith(("http://", "https://")):
        return "must begin with https:// or http://."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a valid address."
    if "@" in parts.netloc:
        return "holds a user or password; keys stay in the environment."
    return "" if host else "names no host."


def internal_problem(url: str) -> str:
    """Why settings do not allow the place this URL names, as it resolves now; empty if they do or it is unknown."""
    host = urlsplit(url).hostname or ""
    for address in resolve(host):
        if not is_allowed(host, address, settings.MODEL_NETWORKS):
            return (
                f"“{host}” is inside an internal network ({address}). "
                "An administrator can allow it with STUDIO_MODEL_NETWORKS."
            )
    return ""


def owner_problem(url: str) -> str:
    """Why owners may not connect this address, as a sentence; empty if they may. Administrators are not limited."""
    parts = urlsplit(url)
    host = (parts.hostname or "").casefold()
    patterns = [entry.strip().casefold() for entry in settings.MODEL_ADDRESSES]
    if patterns and not any(fnmatchcase(host, pattern) for pattern in patterns):
        return f"Owners can connect models at {', '.join(patterns)} here. An administrator can add “{host}”."
    if parts.scheme != "https" and not is_internal(url):
        return "The address must begin with https://, or the key would be readable on its way."
    return ""


def owner_key_problem(variable: str, url: str) -> str:
    """Why owners may not send this variable's key there: else they could send any key of the studio anywhere."""
    host = (urlsplit(url).hostname or "").casefold()
    if (variable, host) in granted_keys():
        return ""
    return (
        f"Owners may not use the key in {variable} at “{host}”. An administrator can allow it with STUDIO_OWNER_KEYS."
    )


def granted_keys() -> list[tuple[str, str]]:
    """Variables that owners may name, each with the one host its key may go to."""
    rows = (entry.strip().partition("@") for entry in settings.OWNER_KEYS)
    return [(variable, host.casefold()) for variable, _, host in rows if host]


def is_internal(url: str) -> bool:
    """Whether any address of the host is not public."""
    return any(not is_public(address) for address in resolve(urlsplit(url).hostname or ""))


class GuardedBackend(httpcore2.SyncBackend):
    """Connects only to allowed addresses, to exactly those it has checked: a name may resolve differently each time."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        *others, last = allowed_addresses(host, settings.MODEL_NETWORKS)
        for address in others:
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return super().connect_tcp(last, port, timeout, local_address, socket_options)


def connect_allowed(host: str, port: int, seconds: float | None) -> socket.socket:
    """Likewise, without httpcore2. Raises httpcore2.ConnectError and OSError."""
    *others, last = allowed_addresses(host, settings.MODEL_NETWORKS)
    for address in others:
        try:
            return socket.create_connection((address, port), seconds)
        except OSError:
            continue
    return socket.create_connection((last, port), seconds)
