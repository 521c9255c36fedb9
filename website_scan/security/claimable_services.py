"""Hosting services at which anybody can claim a name that a site's DNS still points to."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec import Struct

FILE = Path(__file__).with_name("claimable_services.toml")


class ClaimableService(Struct, frozen=True):
    """Hosting service, as claimable_services.toml describes it.

    `may_be_reserved`: the owner of the domain may have reserved its names at the service, which nobody else can see.
    """

    name: str
    suffixes: tuple[str, ...]
    source: str
    missing_is_free: bool = False
    wildcard_is_free: bool = False
    may_be_reserved: bool = False
    unused_text: str = ""

    def hosts(self, target: str) -> bool:
        """Return True if the target of an alias belongs to the service."""
        return any(target.endswith(f".{suffix}") for suffix in self.suffixes)


@cache
def claimable_services() -> tuple[ClaimableService, ...]:
    """Return the services in the order of the file."""
    import tomllib  # Many scans need none of the services.

    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["service"]
    return tuple(ClaimableService(**entry | {"suffixes": tuple(entry["suffixes"])}) for entry in entries)


def service_of(target: str) -> ClaimableService | None:
    """Return the service that hosts the target of an alias, None if it is not known."""
    return next((service for service in claimable_services() if service.hosts(target.lower().rstrip("."))), None)
