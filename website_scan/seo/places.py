"""Places that checks of several categories name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from website_scan.messages import excerpt
from website_scan.net.http.response import Response
from website_scan.places import Place, PlaceUrl, Status


@dataclass(frozen=True, slots=True)
class AnsweredRobots(Place):
    """The robots.txt of an origin, with the status that it answered with."""

    kind: ClassVar[str] = "robots-txt"

    url: PlaceUrl
    status: Status

    @classmethod
    def of(cls, response: Response) -> Self:
        return cls(excerpt(response.url), response.status)

    @property
    def label(self) -> str:
        """Return no text, because the sentences name robots.txt."""
        return ""
