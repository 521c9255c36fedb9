"""How the corpus is written: a page as its authors would have it, and what goes wrong with it in practice."""

from __future__ import annotations

from collections.abc import Sequence

Change = tuple[str, str]


MANY = 3  # variants, of which there is one more with all their faults


def family(name: str, page: str, **broken: Sequence[Change]) -> dict[str, str]:
    """A page and its variants by name; each variant is the page with some of its markup replaced wherever it stands."""
    found = {name: page}
    neglected = page
    for variant, changes in broken.items():
        markup = page
        for before, after in changes:
            assert before in markup, f"{name}-{variant}: no {before!r}"
            markup = markup.replace(before, after)
            neglected = neglected.replace(before, after)
        found[f"{name}-{variant.replace('_', '-')}"] = markup
    if len(broken) >= MANY:
        found[f"{name}-neglected"] = neglected
    return found


def document(title: str, body: str, *, head: str = "", lang: str = "en") -> str:
    """A page of today with the usual head."""
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
