"""Fingerprints: recognize the same finding in another scan or on another page, in spite of generated details.

A fingerprint identifies a check and one place: the element, file, header or cookie that an item of evidence names.
Groups, baselines and comparisons use it to tell new places from known ones (ADR 11). Fingerprints are stored outside of
reports, so the normal forms in this module must not change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit

from scanner.generated_names import is_generated, without_generated

DIGITS = 16
# A report keeps this many items of a finding's evidence. If it has this many, there may have been more.
EVIDENCE_ITEMS = 20

# Checks whose evidence explains a figure or describes the whole page. It does not name a place to fix.
OF_THE_PAGE = frozenset(
    {
        "cls",
        "cors-credentials",
        "css-weight",
        "doc-redirects",
        "font-weight",
        "http-to-https-redirect",
        "image-weight",
        "js-weight",
        "lcp",
        "lcp-lazy",
        "lcp-priority",
        "redirect-chain",
        "total-weight",
    }
)
# axe-core's `selector` is the shortest one that matches only that element, so it changes with the elements around it.
AXE_ELEMENT = ("ancestry", "snippet")
# Evidence names that identify a place. The first group applies of which an item has all names.
PLACES = (
    AXE_ELEMENT,
    ("selector", "snippet"),
    ("selector",),
    ("cookie", "host"),
    ("library", "url"),
    ("header",),
    ("source", "rule"),
    ("source",),
    ("crawler",),
    ("element", "attribute", "value"),
    ("element", "snippet"),
    ("element", "url"),
    ("text", "markup"),
    ("text",),
    ("hreflang",),
    ("family",),
    ("style_sheet", "imports"),
    ("version",),
    ("cipher",),
    ("shows",),
    ("where",),
    ("names",),
    ("comment",),
    ("script",),
    ("src",),
    ("action",),
    ("origin",),
    ("host",),
    ("path",),
    ("name",),
    ("missing",),
    ("url",),
    ("fault",),
    ("response_status",),
)

# Evidence names of elements, which are counted.
ELEMENT = frozenset({"ancestry", "element", "markup", "selector", "snippet", "text"})

# Types of files that builds generate: their names contain versions and digests. People choose the names of others.
BUILT = re.compile(r"\.(?:m?js|css|map|json|wasm|woff2?|ttf|otf|eot)$", re.IGNORECASE)
# The end of the scheme part of blob: and data: addresses, which contain, or stand for, their content.
END_OF_BLOB, END_OF_DATA = re.compile(r"[;,/]"), re.compile(r"[;,]")
PICTURE = re.compile(r"\.(?:avif|gif|ico|jpe?g|png|svg|webp|mp4|webm)$", re.IGNORECASE)
VERSION = re.compile(r"(?<![A-Za-z0-9])v?\d+(?:\.\d+)+(?:[-.](?:alpha|beta|rc)\.?\d*)?(?![A-Za-z0-9])", re.IGNORECASE)
STAMP = re.compile(r"(?<!\d)\d{8,}(?!\d)")
# Rollup's digests may contain hyphens.
ROLLUP = re.compile(r"[-.]([\w-]{8})(?=\.\w+$)")
ESBUILD = re.compile(r"-(?=[A-Z2-7]*[2-7])(?=[A-Z2-7]*[A-Z])[A-Z2-7]{8}(?=\.\w+$)")
BUILD_FOLDER = re.compile(r"v?\d{8,}|version\d+")

NUMBERED = re.compile(
    r":(?:nth-(?:last-)?(?:child|of-type)\([^)]{0,40}\)|(?:first|last|only)-(?:child|of-type))|"
    r"\[(?:_ng(?:content|host)-|data-v-|data-astro-cid-|data-s-)[^\]]{0,80}\]"
)
NAMED = re.compile(r"([#.])((?:\\.|[\w-]|[^\x00-\x7f])+)")
ESCAPED = re.compile(r"\\(.)")
START_TAG = re.compile(r'<\s*([\w:-]+)((?:\s+[^\s=>"]+(?:="[^"]*")?)*+)\s*/?>')
ATTRIBUTE = re.compile(r'\s([\w:-]+)="([^"]*)"')
# Attributes that distinguish an element from its neighbours and are written by people. Text, links and numbers are
# content.
KEPT = frozenset({"class", "http-equiv", "itemprop", "name", "property", "rel", "role", "type"})
# Classes for a temporary state of an element: the current slide, a loaded image.
STATE = re.compile(
    r"(?:is-|ui-state-)?(?:active|animated?|collapsed|current|disabled|entered|expanded|focus(?:ed|-visible)?|hover|"
    r"in-?view(?:port)?|lazy-?load(?:ed|ing)?|loaded|loading|open(?:ed)?|selected|show(?:n|ing)?|visible)"
    r"|current[-_](?:menu|page)[-_]\w+|aos-(?:init|animate)|ng-(?:star-inserted|untouched|touched|pristine|dirty|valid)"
    r"|(?:swiper|slick|splide|owl)[-_][\w-]{0,60}?(?:active|next|prev|current|cloned|duplicate|visible)[\w-]{0,60}"
)


def fingerprint(check_id: str, place: str = "") -> str:
    """Return 16 hexadecimal digits for a check and the normal form of a place; without a place, for the check alone."""
    return hashlib.sha256(f"{check_id}\n{place}".encode()).hexdigest()[:DIGITS]


def fingerprints(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> dict[str, str]:
    """Return the fingerprints of a failed or warned check on the page `url`, each with its first place.

    Never empty: a finding that names no place has one fingerprint, with an empty text.
    """
    return {each: texts[0] for each, texts in occurrences(check_id, evidence, url).items()}


def occurrences(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> dict[str, list[str]]:
    """Return the fingerprints as `fingerprints` does, each with all elements of the page that have it.

    So a fourth image of a kind differs from three. Other places occur once: how many files of a kind a page loads, or
    how many generated cookies it sets, changes by itself.
    """
    found: dict[str, list[str]] = {}
    if check_id not in OF_THE_PAGE:
        own = urlsplit(url)
        for item in evidence:
            names = next((group for group in PLACES if all(item.get(name) for name in group)), ())
            if names:
                place = " ".join(NORMAL_FORM.get(name, _as_it_is)(str(item[name]), own) for name in names)
                told = item.get("selector") or " ".join(str(item[name]) for name in names)
                texts = found.setdefault(fingerprint(check_id, place), [])
                if not texts or not ELEMENT.isdisjoint(names):
                    texts.append(str(told))
    return found or {fingerprint(check_id): [""]}


def page_path(url: str) -> str:
    """Return path and query: they identify the same page on another host, such as a preview."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _as_it_is(text: str, own: SplitResult) -> str:
    return text.strip().lower()


def _prose(text: str, own: SplitResult) -> str:
    """Normalize a sentence: its numbers are positions, counts and dates, which change."""
    return re.sub(r"\d+", "*", " ".join(text.split()).lower())


def _name(text: str, own: SplitResult) -> str:
    return without_generated(text)


def _host(text: str, own: SplitResult) -> str:
    host = text.strip().lower().lstrip(".")
    return "" if host == own.hostname else host


def _address(text: str, own: SplitResult) -> str:
    """Return host and path of an address. Omits the page's own host and path, which differ on every page."""
    if text.startswith(("data:", "blob:")):
        return (END_OF_BLOB if text.startswith("blob:") else END_OF_DATA).split(text, maxsplit=1)[0]
    try:
        parts = urlsplit(urljoin(own.geturl(), text))
        host = f"//{parts.netloc.rpartition('@')[2].lower()}"
    except ValueError:
        return text
    path = parts.path.partition(";")[0] or "/"
    is_own = parts.netloc == own.netloc
    if path == (own.path or "/") and (is_own or path != "/"):
        path = "/{page}"
    elif BUILT.search(path) or PICTURE.search(path):
        path = _file(path)
    return path if is_own else host + path


def _file(path: str) -> str:
    """Return a path without the versions and digests that a build puts into it."""
    *folders, name = path.split("/")
    kept = ["*" if BUILD_FOLDER.fullmatch(each) or is_generated(each) else VERSION.sub("*", each) for each in folders]
    if BUILT.search(name):
        name = STAMP.sub("*", ESBUILD.sub("-*", ROLLUP.sub(_digest, name)))
    stem, _, suffix = name.rpartition(".")
    stem = re.sub(r"[^-_.~@!+]+", lambda found: "*" if is_generated(found[0]) else found[0], VERSION.sub("*", stem))
    return "/".join([*kept, f"{stem}.{suffix}"])


def _digest(found: re.Match[str]) -> str:
    is_mixed = len({("a" if each.islower() else "A" if each.isupper() else "0") for each in found[1]}) == 3
    parts = [part for part in re.split(r"[-_]", found[1]) if part]
    return f"{found[0][0]}*" if is_mixed and any(is_generated(part, least=2) for part in parts) else found[0]


def _selector(text: str, own: SplitResult) -> str:
    """Return a CSS selector without positions among siblings and without generated parts of IDs and classes."""
    steps = [each.strip() for each in NUMBERED.sub("", text).split(" > ")]
    return " > ".join(_compound(step) for step in steps)


@lru_cache(maxsize=4096)  # the selectors of a page share a few compounds
def _compound(step: str) -> str:
    if "#" not in step and "." not in step:
        return step
    names: list[str] = []
    classes: list[str] = []
    for sign, raw in NAMED.findall(step):
        plain = ESCAPED.sub(r"\1", raw)
        if sign == "#":
            names.append(f"#{without_generated(plain)}")
        else:
            classes.append(plain)
    return "".join([NAMED.sub("", step), *names, *(f".{each}" for each in _classes(classes))])


def _classes(names: Iterable[str]) -> list[str]:
    """Return the classes sorted, without states. styled-components adds a class that is a mere digest: omit it, too."""
    every = [each for each in names if not STATE.fullmatch(each)]
    is_styled = any(re.fullmatch(r"sc-[A-Za-z0-9-]+", each) for each in every)
    kept = (
        without_generated(each)
        for each in every
        if not (is_styled and re.fullmatch(r"(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z]{5,7}", each))
    )
    return sorted(set(kept))


def _tag(text: str, own: SplitResult) -> str:
    """Return a start tag's name with the attributes in KEPT; only the name if the tag was cut."""
    found = START_TAG.match(text)
    if found is None:
        return (re.match(r"<\s*([\w:-]+)", text) or [text, text])[1].lower()
    kept = []
    for attribute, value in ATTRIBUTE.findall(found[2]):
        if attribute in KEPT and not value.endswith("…"):
            shown = " ".join(_classes(value.split())) if attribute == "class" else without_generated(value)
            kept.append(f"{attribute}={shown}" if shown else "")
    return " ".join([found[1].lower(), *sorted(filter(None, kept))])


NORMAL_FORM: Mapping[str, Callable[[str, SplitResult], str]] = {
    "selector": _selector,
    "ancestry": _selector,
    "snippet": _tag,
    "markup": _tag,
    "cookie": _name,
    "host": _host,
    "path": _address,
    "url": _address,
    "src": _address,
    "action": _address,
    "value": _address,
    "style_sheet": _address,
    "imports": _address,
    "text": _prose,
    "names": _prose,
    "comment": _prose,
    "script": _prose,
    "where": _prose,
    "shows": _prose,
    "fault": _prose,
}
