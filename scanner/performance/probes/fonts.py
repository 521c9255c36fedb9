"""Which font files a page is sure to load, as far as that can be told without laying it out."""

from __future__ import annotations

from scanner.catalogue import probe
from scanner.page.references import ResourceKind
from scanner.performance.evidence import Fonts, Resource, Resources, Styles


@probe()
def fonts(resources: Resources, styles: Styles) -> Fonts:
    """In use are faces with Latin letters of the families that the document's own elements ask for first.

    Others may never be loaded, nor those for which the machine may have a font. Sure to be loaded is what is preloaded,
    and of each other family in use the lightest file: how many of its weights are needed only a browser knows.
    """
    faces = tuple(
        each for each in styles.faces if each.family in styles.families and each.is_latin and not each.is_local
    )
    # Those of frames, which are not fetched, are not the page's.
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
