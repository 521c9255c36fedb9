"""Place that several SEO categories use."""

from __future__ import annotations

from typing import ClassVar, Self

from website_scan.messages import excerpt
from website_scan.net.http.response import Response
from website_scan.places import Place, PlaceUrl, Status


class RobotsTxtRow(Place, frozen=True):
    """robots.txt of an origin, with its HTTP status."""

    kind: ClassVar[str] = "robots-txt"

    url: PlaceUrl
    status: Status

    @classmethod
    def from_response(cls, response: Response) -> Self:
        return cls(excerpt(response.url), response.status)

    @property
    def label(self) -> str:
        """Return an empty label.

        The message of the finding already names robots.txt.
        """
        return ""
