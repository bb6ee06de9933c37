"""Which addresses model endpoints may have: public ones, and those that whoever runs the studio names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import urlsplit

from studio.domain.addresses import is_named, is_public
from studio.domain.hosts import is_allowed, resolve

_NOT_IN_URLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\\]")


@dataclass(frozen=True)
class Policy:
    """``networks``: networks and host names inside which models may be, beside public ones."""

    networks: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Patterns of hosts where owners may connect models; none: any. Administrators are not limited."""
    owner_keys: tuple[tuple[str, str], ...] = ()
    """Variables that owners may name, each with the one host its key may go to."""
    scripted_url: str = ""
    """Of the scripted model; without one, each process starts its own."""

    def internal_problem(self, url: str) -> str:
        """Why the place this URL names, as it resolves now, is not allowed; empty if it is or is unknown."""
        host = urlsplit(url).hostname or ""
        for address in resolve(host):
            if not is_allowed(host, address, self.networks):
                return (
                    f"“{host}” is inside an internal network ({address}). "
                    "An administrator can allow it with STUDIO_MODEL_NETWORKS."
                )
        return ""

    def owner_problem(self, url: str) -> str:
        """Why owners may not connect this address, as a sentence; empty if they may. Tells nothing of what an internal
        name resolves to: only a connection finds out."""
        parts = urlsplit(url)
        host = (parts.hostname or "").casefold()
        patterns = [pattern.casefold() for pattern in self.hosts]
        if patterns and not any(fnmatchcase(host, pattern) for pattern in patterns):
            return f"Owners can connect models at {', '.join(patterns)} here. An administrator can add “{host}”."
        if parts.scheme != "https" and not self._is_named(host):
            return "The address must begin with https://, or the key would be readable on its way."
        return self.internal_problem(url) if _is_literal(host) else ""

    def _is_named(self, host: str) -> bool:
        """Whether the host is in one of the internal networks that settings name."""
        addresses = resolve(host)
        return bool(addresses) and all(
            is_named(host, address, self.networks) and not is_public(address) for address in addresses
        )

    def owner_key_problem(self, variable: str, url: str) -> str:
        """Why owners may not send this variable's key there: else they could send any key of the studio anywhere."""
        host = (urlsplit(url).hostname or "").casefold()
        if (variable, host) in self.owner_keys:
            return ""
        return (
            f"Owners may not use the key in {variable} at “{host}”. "
            "An administrator can allow it with STUDIO_OWNER_KEYS."
        )


ANYWHERE = Policy(networks=("0.0.0.0/0", "::/0"))
"""For who runs models on their own machine."""


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


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_internal(url: str) -> bool:
    """Whether any address of the host is not public."""
    return any(not is_public(address) for address in resolve(urlsplit(url).hostname or ""))
