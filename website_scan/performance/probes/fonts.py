"""Probe of the font files that a page is sure to load, as far as that is known without layout."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Fonts, Resource, Resources, Styles


@probe()
def fonts(resources: Resources, styles: Styles) -> Fonts:
    """Find the web fonts in use: faces with Latin letters whose family is first in a rule for the document's elements.

    Other faces may never be loaded, nor those that the machine may have as a local font. Files that are sure to be
    loaded are preloaded ones and, of each other family in use, the lightest: only a browser knows how many weights are
    needed.
    """
    faces = tuple(
        each for each in styles.faces if each.family in styles.families and each.is_latin and not each.is_local
    )
    # Fonts of frames are not fetched: they do not belong to the page.
    files = (each for each in resources.items if each.kind is ResourceKind.FONT and each.is_fetched)
    came = {each.url: each for each in files if each.status == 200}
    found = {each.url: each for each in came.values() if each.eager}
    families: dict[str, list[Resource]] = {}
    for face in faces:
        if face.url in came:
            families.setdefault(face.family, []).append(came[face.url])
    for of_family in families.values():
        if not any(each.url in found for each in of_family):
            lightest = min(of_family, key=lambda each: each.own_wire_bytes)
            found[lightest.url] = lightest
    return Fonts(faces, tuple(found.values()))
