"""Build corpus pages with common accessibility faults."""

from __future__ import annotations

from collections.abc import Sequence

Change = tuple[str, str]


MIN_VARIANTS_FOR_NEGLECTED_PAGE = 3  # A family with this many variants gets another one with all of their faults.


def family(name: str, page: str, **broken: Sequence[Change]) -> dict[str, str]:
    """Return the page and its faulty variants by name.

    Every change of a variant replaces all occurrences of a text.
    """
    pages = {name: page}
    neglected_page = page
    for variant, changes in broken.items():
        markup = page
        for old, new in changes:
            assert old in markup, f"{name}-{variant}: no {old!r}"
            markup = markup.replace(old, new)
            neglected_page = neglected_page.replace(old, new)
        pages[f"{name}-{variant.replace('_', '-')}"] = markup
    if len(broken) >= MIN_VARIANTS_FOR_NEGLECTED_PAGE:
        pages[f"{name}-neglected"] = neglected_page
    return pages


def document(title: str, body: str, *, head: str = "", lang: str = "en") -> str:
    """Return an HTML5 document with a charset, a viewport and a title."""
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
