"""Corpus of realistic pages with and without faults."""

from __future__ import annotations

from tests.website_scan.accessibility.corpus import (
    dashboards,
    dialogs,
    docs,
    forms,
    languages,
    layouts,
    legacy,
    media,
    navigation,
    news,
    shops,
    tables,
    templates,
    widgets,
)

MODULES = (
    shops,
    news,
    forms,
    dashboards,
    tables,
    docs,
    navigation,
    dialogs,
    widgets,
    media,
    languages,
    layouts,
    legacy,
    templates,
)
PAGES: dict[str, str] = {
    f"{module.__name__.rpartition('.')[2]}/{name}": markup
    for module in MODULES
    for name, markup in module.PAGES.items()
}
# Files that the pages load, by path: media type and content.
FILES: dict[str, tuple[str, bytes]] = media.FILES
