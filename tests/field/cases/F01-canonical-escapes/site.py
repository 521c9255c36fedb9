from __future__ import annotations

from tests.targets.server import Answer, Route, Site

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Rooms at the inn by the lake</title>'


def routes(site: Site) -> dict[str, Route]:
    def page(canonical: str, *alternates: str) -> Answer:
        url = f"{site.url}{canonical}"
        links = f'<link rel="canonical" href="{url}"><meta property="og:url" content="{url}">'
        for code, path in zip(("ja", "en"), alternates, strict=False):
            links += f'<link rel="alternate" hreflang="{code}" href="{site.url}{path}">'
        return Answer(f"{HEAD}{links}<h1>Rooms</h1><p>Twelve rooms with a view of the lake.")

    japanese = page("/ja/%e5%ae%bf/", "/ja/%e5%ae%bf/", "/en/")
    return {
        "/ja/%E5%AE%BF/": japanese,
        "/ja/%e5%ae%bf/": japanese,
        "/~inn/": page("/%7einn/", "/ja/", "/%7Einn/"),
        "/%7einn/": page("/%7einn/"),
        "/rooms/a": page("/rooms%2Fa", "/rooms/a", "/rooms%2Fa"),
        "/rooms%2Fa": page("/rooms%2Fa"),
    }
