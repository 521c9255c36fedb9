"""Probe for the font files that a page certainly loads.

Without a layout, it cannot find all of them.
"""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Fonts, Resource, Resources, Styles


@probe()
def fonts(resources: Resources, styles: Styles) -> Fonts:
    """Find the web fonts in use.

    They are faces with Latin letters whose family comes first in a CSS rule for an element. Other faces may never be
    loaded, nor faces that the machine may have as a local font. Sure to be loaded are preloaded files and, of each
    other family in use, the lightest file: without layout, the weights in use are unknown.
    """
    faces = tuple(
        face for face in styles.faces if face.family in styles.families and face.has_latin_letters and not face.is_local
    )
    # Fonts of frames do not count, because they do not belong to the page.
    files = (resource for resource in resources.items if resource.kind is ResourceKind.FONT and resource.is_fetched)
    loaded = {file.url: file for file in files if file.status == 200}
    certain = {file.url: file for file in loaded.values() if file.eager}
    families: dict[str, list[Resource]] = {}
    for face in faces:
        if face.url in loaded:
            families.setdefault(face.family, []).append(loaded[face.url])
    for family_files in families.values():
        if not any(file.url in certain for file in family_files):
            lightest = min(family_files, key=lambda file: file.last_response_wire_bytes)
            certain[lightest.url] = lightest
    return Fonts(faces, tuple(certain.values()))
