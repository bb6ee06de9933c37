"""Which network addresses are public. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
_HOLDING_IPV4 = tuple(IPv6Network(f"{start}/96") for start in ("64:ff9b::", "::", "::ffff:0:0:0"))
"""Their last four bytes are an address: behind NAT64 (RFC 6052), IPv4-compatible (RFC 4291), translated (RFC 2765)."""
_NEVER_PUBLIC = (
    IPv6Network("fec0::/10"),  # site-local, RFC 3879
    IPv6Network("64:ff9b:1::/48"),  # NAT64 of a local network, RFC 8215
    IPv6Network("::/96"),
    IPv6Network("::ffff:0:0:0/96"),
    IPv6Network("5f00::/16"),  # segments of an operator's own network, RFC 9602
    IPv4Network("168.63.129.16/32"),  # the host of a machine in Azure
    IPv4Network("192.88.99.0/24"),  # relays of 6to4, RFC 7526
)


def is_public(address: Address) -> bool:
    inner = inner_address(address)
    never = any(found in network for found in (address, inner) for network in _NEVER_PUBLIC)
    return inner.is_global and not inner.is_multicast and not never


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
    if any(address in network for network in _HOLDING_IPV4):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address
