"""Builders of the corpus: a page as its authors intended, and variants with faults that occur in practice."""

from __future__ import annotations

from collections.abc import Sequence

Change = tuple[str, str]


MIN_FOR_NEGLECTED = 3  # number of variants from which a family gets another variant with all faults


def family(name: str, page: str, **broken: Sequence[Change]) -> dict[str, str]:
    """Return a page and its variants by name. A variant replaces parts of the page's markup, wherever they occur."""
    pages = {name: page}
    neglected_page = page
    for variant, changes in broken.items():
        markup = page
        for old, new in changes:
            assert old in markup, f"{name}-{variant}: no {old!r}"
            markup = markup.replace(old, new)
            neglected_page = neglected_page.replace(old, new)
        pages[f"{name}-{variant.replace('_', '-')}"] = markup
    if len(broken) >= MIN_FOR_NEGLECTED:
        pages[f"{name}-neglected"] = neglected_page
    return pages


def document(title: str, body: str, *, head: str = "", lang: str = "en") -> str:
    """Return a modern HTML page with the usual head."""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}
</head>
<body>
{body}
</body>
</html>"""
