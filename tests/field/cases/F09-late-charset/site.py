from __future__ import annotations

from tests.targets.server import Answer, Route, Site

STYLE = f"<style>{'/* pier */ ' * 110}</style>"
TITLE = "<title>Мастерская лодок около порта</title>"
HTTP_EQUIV = '<meta content="text/html; charset=windows-1251" http-equiv="Content-Type">'
PAGES = {
    "/head": f"<head>{STYLE}<meta charset=windows-1251>{TITLE}</head>".encode("cp1251"),
    "/http-equiv": f"<head>{STYLE}{TITLE}{HTTP_EQUIV}</head>".encode("cp1251"),
    "/body": f"<head>{STYLE}{TITLE}</head><body><div>{HTTP_EQUIV}</div>".encode("cp1251"),
    # Chromium ignores the charset declaration of a pasted e-mail.
    "/pasted-mail": f"<head>{STYLE}<title>Größe und Übersicht der Boote</title></head><body>{HTTP_EQUIV}".encode(),
}


def routes(site: Site) -> dict[str, Route]:
    html = {"Content-Type": "text/html"}
    return {path: Answer(b"<!doctype html>" + body, headers=html) for path, body in PAGES.items()}
