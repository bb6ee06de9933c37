"""Which network addresses are public. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    inner = inner_address(address)
    return inner.is_global and not inner.is_multicast


def is_named(host: str, address: Address, entries: Iterable[str]) -> bool:
    """Whether ``entries``, networks and host names, hold this host at this address."""
    inner = inner_address(address)
    for entry in entries:
        try:
            network: IPv4Network | IPv6Network = ip_network(entry.strip(), strict=False)
        except ValueError:
            if entry.strip().casefold() == host.casefold():
                return True
        else:
            if inner in network or address in network:
                return True
    return False


def inner_address(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address
