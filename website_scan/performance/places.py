"""Place that several performance checks use: a file that the page loads."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from website_scan.messages import excerpt
from website_scan.performance.evidence import Resource
from website_scan.places import Column, Place, PlaceUrl, WireBytes

ResourceType = Annotated[str | None, Column("Type", "short")]


class LoadedFile(Place, frozen=True):
    """File that the page loads.

    `wire_bytes` is None if the transferred size is unknown.
    """

    kind: ClassVar[str] = "loaded-file"

    url: PlaceUrl
    type: ResourceType = None
    wire_bytes: WireBytes = None

    @classmethod
    def from_resource(cls, resource: Resource) -> Self:
        return cls(excerpt(resource.url), resource.kind.value, resource.wire_bytes)
