"""What a style sheet refers to: imports, fonts, images."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Comments, imports, addresses, strings and braces: enough to read references without parsing all of CSS.
# Possessive and bounded, so that a style sheet that is made to be slow is not.
TOKENS = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|(?P<import>@import\b)"
    r"|(?P<face>@font-face\b)"
    r"""|url\(\s*+(?:"(?P<double>[^"\n]*+)"|'(?P<single>[^'\n]*+)'|(?P<bare>[^\s"'()]*+))\s*+\)"""
    # A string that its line ends is none, and is passed over whole (CSS Syntax, "consume a string token").
    r"""|"(?P<dstring>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)(?:"|\Z)|'(?P<sstring>[^'\\\n]*+(?:\\.[^'\\\n]*+)*+)(?:'|\Z)"""
    r"""|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"""
    r"""|(?P<format>\bformat\(\s{0,9}["']?(?P<name>[\w-]{1,40})["']?[^)]{0,100}\))"""
    r"|(?P<mark>[{};])",
    re.IGNORECASE | re.DOTALL,
)
MAX_LENGTH = 1024 * 1024  # characters; what is beyond is not read
# What browsers of today take, whatever older formats stand beside it.
FONT_FORMATS = frozenset(
    {"woff2", "woff", "truetype", "opentype", "collection", "woff2-variations", "woff-variations"}
    | {"truetype-variations", "opentype-variations"}
)
FONT_ENDINGS = re.compile(r"\.(?:woff2?|ttf|otf|ttc)(?:[?#]|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StyleReferences:
    """Addresses as written. `fonts` holds of each @font-face what a browser would choose."""

    imports: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


def style_references(css: str) -> StyleReferences:
    """Read the references of a style sheet or a style attribute; `data:` and fragments are left out."""
    imports: list[str] = []
    fonts: list[str] = []
    images: list[str] = []
    sources: list[tuple[str, str]] | None = None  # of the @font-face that is being read
    in_import = False
    for token in TOKENS.finditer(css[:MAX_LENGTH]):
        address = next((token[name] for name in ("double", "single", "bare") if token[name] is not None), None)
        text = next((token[name] for name in ("dstring", "sstring") if token[name] is not None), None)
        if token["import"]:
            in_import = True
        elif token["face"]:
            sources = []
        elif in_import and (address is not None or text is not None):
            imports.append(address if address is not None else text or "")
            in_import = False
        elif address is not None and sources is not None:
            sources.append((address, ""))
        elif address is not None:
            images.append(address)
        elif token["format"] and sources:
            sources[-1] = (sources[-1][0], token["name"].lower())
        elif token["mark"]:
            in_import = in_import and token["mark"] != ";"
            if token["mark"] == "}" and sources is not None:
                if (chosen := _chosen(sources)) is not None:
                    fonts.append(chosen)
                sources = None
    return StyleReferences(_fetched(imports), _fetched(fonts), _fetched(images))


def _chosen(sources: list[tuple[str, str]]) -> str | None:
    """The first source in a format that browsers take; without a format the ending speaks."""
    for address, name in sources:
        if name in FONT_FORMATS or (not name and (FONT_ENDINGS.search(address) or "." not in address[-6:])):
            return address
    return None


def _fetched(addresses: list[str]) -> tuple[str, ...]:
    kept = (address.strip() for address in addresses)
    return tuple(
        address for address in kept if address and not address.startswith("#") and address[:5].lower() != "data:"
    )
