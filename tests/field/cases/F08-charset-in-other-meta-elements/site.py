from __future__ import annotations

from tests.targets.server import Answer, Route, Site

TITLE = "<title>Größe und Übersicht für alle Boote</title><h1>Boote</h1>"
BEGINNINGS = {
    "/og-url": '<meta property="og:url" content="https://example.org/?charset=koi8-r"><meta charset="utf-8">',
    "/keywords": '<meta name="keywords" content="charset=gbk explained"><meta charset="utf-8">',
    "/description-alone": '<meta name="description" content="What charset=windows-1251 means">',
    "/refresh": '<meta http-equiv="refresh" content="900; url=/?charset=koi8-r">',
    "/script": "<script>const old = '<meta charset=koi8-r>'</script><meta charset=utf-8>",
}


def routes(site: Site) -> dict[str, Route]:
    return {
        path: Answer(f"<!doctype html>{beginning}{TITLE}", headers={"Content-Type": "text/html"})
        for path, beginning in BEGINNINGS.items()
    }
