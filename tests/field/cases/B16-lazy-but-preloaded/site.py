"""Site with a large image on the first screen."""

from __future__ import annotations

from tests.targets.server import Answer, Route, Site

# Images with few bits per pixel do not count as largest contentful paint.
PADDING = f"<!--{'lake ' * 2_000}-->"
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="360" height="500">'
    f'{PADDING}<path fill="#146" d="M0 0h360v300H0z"/>'
    '<path fill="#eda" d="M0 300h360v200H0z"/></svg>'
)


def routes(site: Site) -> dict[str, Route]:
    return {"/lake.svg": Answer(PICTURE, headers={"Content-Type": "image/svg+xml"})}
