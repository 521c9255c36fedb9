from __future__ import annotations

from tests.targets.server import Answer, Route, Site

HEAD = '<!doctype html><html lang="{}"><meta charset="utf-8"><title>Tea and cups by post</title>'


def routes(site: Site) -> dict[str, Route]:
    def english(name: str) -> Answer:
        link = f'<link rel="alternate" hreflang="fr" href="{site.url}/fr/{name}">'
        return Answer(f"{HEAD.format('en')}{link}<h1>Tea and cups</h1><p>By post, in thirty kinds.")

    french = Answer(f"{HEAD.format('fr')}<h1>Du thé et des tasses</h1><p>Par la poste, de trente sortes.")
    return {"/en/tea": english("tea"), "/en/cups": english("cups"), "/fr/tea": french, "/fr/cups": french}
