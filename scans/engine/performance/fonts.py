"""Which font files a page is sure to load, as far as that can be told without laying it out."""

from __future__ import annotations

from scans.engine.page.references import ResourceKind
from scans.engine.performance.evidence import FontFace, Resource, Resources, Styles

# They send each browser other style sheets; to us, whom they do not know, old formats and whole fonts.
ADAPTING_HOSTS = frozenset({"fonts.gstatic.com", "fonts.googleapis.com", "use.typekit.net", "fast.fonts.net"})


def faces_in_use(styles: Styles) -> list[FontFace]:
    """The faces with Latin letters of the families that the document's own elements ask for first.

    Others may never be loaded, nor those for which the machine may have a font.
    """
    return [each for each in styles.faces if each.family in styles.families and each.is_latin and not each.is_local]


def certain_fonts(resources: Resources, styles: Styles) -> list[Resource]:
    """The fonts that are preloaded, and of each other family in use the lightest file: one of them is needed.

    How many of a family's weights and styles are needed only a browser knows, so there may be more.
    """
    # Those of frames, which are not fetched, are not the page's.
    fonts = (each for each in resources.items if each.kind is ResourceKind.FONT and each.is_fetched)
    came = {each.url: each for each in fonts if each.status == 200}
    found = {each.url: each for each in came.values() if each.eager}
    families: dict[str, list[Resource]] = {}
    for face in faces_in_use(styles):
        if face.url in came:
            families.setdefault(face.family, []).append(came[face.url])
    for files in families.values():
        if not any(each.url in found for each in files):
            lightest = min(files, key=lambda each: each.own_wire_bytes)
            found[lightest.url] = lightest
    return list(found.values())
