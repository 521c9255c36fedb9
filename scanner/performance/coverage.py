"""What of the scripts and style sheets was loaded for nothing, in bytes of the wire."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scanner.browser.evidence import Coverage, LoadedRequest
from scanner.page.references import ResourceKind


@dataclass(frozen=True, slots=True)
class Unused:
    """A file, what it weighs, and how much of that was not used."""

    url: str
    wire_bytes: int
    unused_bytes: float

    @property
    def share(self) -> float:
        """The unused part, 0 to 1."""
        return self.unused_bytes / self.wire_bytes


def unused_files(coverage: Coverage, requests: Iterable[LoadedRequest], kind: ResourceKind) -> list[Unused]:
    """The files of a kind that came over the network, the one with the largest waste first.

    What stands in documents is no file: its address is that of a request of another kind.
    """
    sizes: dict[str, int] = {}
    for each in requests:
        if each.kind is kind and each.wire_bytes > 0:
            sizes[each.url] = max(sizes.get(each.url, 0), each.wire_bytes)
    found = [
        Unused(each.url, sizes[each.url], sizes[each.url] * min(each.unused, each.length) / each.length)
        for each in coverage.files
        if each.kind is kind and each.length > 0 and each.url in sizes
    ]
    return sorted(found, key=lambda each: -each.unused_bytes)
