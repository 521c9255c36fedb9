"""Tests for sitemap entries.

The cases are from sitemaps.org, W3C and Google.
"""

from __future__ import annotations

import pytest

from website_scan.crawl.sitemap_entries import MAX_PARSED_LINKS, SitemapEntries, find_date_fault
from website_scan.crawl.sitemaps import parse_sitemap

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
PAGE = "https://site.example.com/en/"
LOC = "<loc>https://site.example.com/a</loc>"
NAMESPACES = (
    f'xmlns="{NAMESPACE}" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:other="urn:other"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
)


def read_entries(markup: str, root: str = "urlset", namespaces: str = NAMESPACES) -> SitemapEntries:
    content = f"<{root} {namespaces}>\n{markup}\n</{root}>".encode()
    return parse_sitemap(content, is_cut=False, pages=frozenset({PAGE})).entries


# W3C, “Date and Time Formats” (NOTE-datetime).
DATES = {
    "2026": "",
    "2026-01": "",
    "2026-01-05": "",
    "2026-01-05T15:35Z": "",
    "2026-01-05T15:35+01:00": "",
    "2026-01-05T15:35:12Z": "",
    "2026-01-05T15:35:12-08:00": "",
    "2026-01-05T15:35:12.45+01:00": "",
    "2024-02-29": "",
    "2026-01-05T00:00:00Z": "",
    "": "is not a W3C date",
    "2026-01-05 15:35:12": "is not a W3C date",
    "2026-01-05T15:35:12": "has a time without a time zone",
    "2026-01-05T15:35": "has a time without a time zone",
    "2026-01-05T15Z": "is not a W3C date",
    "2026-01-05T15:35:12+0100": "is not a W3C date",
    "2026-01-05T15:35:12+01": "is not a W3C date",
    "2026-01-05T15:35:12 UTC": "is not a W3C date",
    "2026-01-05T24:00:00Z": "is not a W3C date",
    "2026-01-05T15:60:00Z": "is not a W3C date",
    "2026-1-5": "is not a W3C date",
    "05.01.2026": "is not a W3C date",
    "01/05/2026": "is not a W3C date",
    "20260105": "is not a W3C date",
    "Mon, 05 Jan 2026 15:35:12 GMT": "is not a W3C date",
    "1767627312": "is not a W3C date",
    "-0001-11-30T00:00:00+00:00": "is not a W3C date",
    "0000-00-00": "is not in the calendar",
    "2026-13-01": "is not in the calendar",
    "2026-02-30": "is not in the calendar",
    "2025-02-29T10:00:00Z": "is not in the calendar",
    "٢٠٢٦-01-05": "is not a W3C date",
}


@pytest.mark.parametrize(("text", "fault"), DATES.items(), ids=[text or "empty" for text in DATES])
def test_date_follows_the_w3c_formats(text: str, fault: str) -> None:
    assert find_date_fault(text) == fault


# sitemaps.org, “XML tag definitions”: the elements of an entry, the expected fault, and whether crawlers drop the
# entry.
ENTRIES: dict[str, tuple[str, str, bool]] = {
    "only loc": (LOC, "", False),
    "all elements in any order": (
        f"<priority>0.5</priority><changefreq>daily</changefreq>{LOC}<lastmod>2026-01-05</lastmod>",
        "",
        False,
    ),
    "space around values": (f"{LOC}<lastmod>\n 2026-01-05\n</lastmod><changefreq> never </changefreq>", "", False),
    "elements of other namespaces": (f"{LOC}<other:loc>x</other:loc><other:lastmod>x</other:lastmod>", "", False),
    "comment and character data": (f"<!-- a -->{LOC}<lastmod><![CDATA[2026-01-05]]></lastmod>", "", False),
    "no loc": ("<lastmod>2026-01-01</lastmod>", "<url> has no <loc>", True),
    "no elements": ("", "<url> has no <loc>", True),
    "empty loc": ("<loc> </loc>", "<loc> is empty", True),
    "two locs": (LOC * 2, "<loc> appears twice", True),
    "loc of another namespace": ("<image:loc>https://site.example.com/a</image:loc>", "<url> has no <loc>", True),
    "two dates": (f"{LOC}{'<lastmod>2026-01-05</lastmod>' * 2}", "<lastmod> appears twice", False),
    "date without zone": (
        f"{LOC}<lastmod>2026-01-05T15:35:12</lastmod>",
        "lastmod “2026-01-05T15:35:12” has a time without a time zone",
        False,
    ),
    "empty date": (f"{LOC}<lastmod/>", "lastmod (empty) is not a W3C date", False),
    "unknown element": (f"{LOC}<lastMod>2026-01-05</lastMod>", "<lastMod> is not an element of <url>", False),
    "worst fault first": ("<lastmod>x</lastmod>", "<url> has no <loc>", True),
    **{
        f"changefreq {word}": (f"{LOC}<changefreq>{word}</changefreq>", "", False)
        for word in ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
    },
    **{
        f"changefreq {word or 'empty'}": (
            f"{LOC}<changefreq>{word}</changefreq>",
            f"changefreq {f'“{word}”' if word else '(empty)'} is not one of the protocol's words",
            False,
        )
        for word in ("Daily", "annually", "")
    },
    **{
        f"priority {number}": (f"{LOC}<priority>{number}</priority>", "", False)
        for number in ("0", "1", "0.0", "1.0", "1.00", "0.85", ".5", "+0.5", "0.", "00.5")
    },
    **{
        f"priority {number or 'empty'}": (
            f"{LOC}<priority>{number}</priority>",
            f"priority {f'“{number}”' if number else '(empty)'} is not a number from 0.0 to 1.0",
            False,
        )
        for number in ("1.1", "2", "-0.5", "0,5", "80%", "high", "1e-1", "")
    },
}


@pytest.mark.parametrize(("markup", "fault", "loses_entry"), ENTRIES.values(), ids=ENTRIES)
def test_entry_faults_follow_the_sitemap_protocol(markup: str, fault: str, loses_entry: bool) -> None:
    entries = read_entries(f"<url>{LOC}</url>\n<url>{markup}</url>")
    assert [entry.text for entry in entries.faults] == ([fault] if fault else [])
    assert (entries.fault_count, entries.loses_entries) == (bool(fault), loses_entry)
    assert [entry.line for entry in entries.faults] == ([3] if fault else [])


PUBLICATION = "<news:publication><news:name>News</news:name><news:language>en</news:language></news:publication>"
TITLE, DAY = "<news:title>A</news:title>", "<news:publication_date>2026-01-05</news:publication_date>"
THUMBNAIL = "<video:thumbnail_loc>https://site.example.com/a.jpg</video:thumbnail_loc>"
TEXTS = "<video:title>A</video:title><video:description>B</video:description>"
CONTENT = "<video:content_loc>https://site.example.com/a.mp4</video:content_loc>"
# Google Search Central: image, news and video sitemaps.
EXTENSIONS = {
    "image": ("<image:image><image:loc>https://site.example.com/a.png</image:loc></image:image>", ""),
    "image with title": ("<image:image><image:loc>/a.png</image:loc><image:title/></image:image>", ""),
    "image without loc": (
        "<image:image><image:title>A</image:title></image:image>",
        "<image:image> has no <image:loc>",
    ),
    "image with empty loc": ("<image:image><image:loc/></image:image>", "<image:image> has no <image:loc>"),
    "image with the page's loc": ("<image:image><loc>/a</loc></image:image>", "<image:image> has no <image:loc>"),
    "news": (f"<news:news>{PUBLICATION}{DAY}{TITLE}</news:news>", ""),
    "news without title": (f"<news:news>{PUBLICATION}{DAY}</news:news>", "<news:news> has no <news:title>"),
    "news without date": (f"<news:news>{PUBLICATION}{TITLE}</news:news>", "<news:news> has no <news:publication_date>"),
    "news without publication": (f"<news:news>{DAY}{TITLE}</news:news>", "<news:news> has no <news:publication>"),
    "news without language": (
        f"<news:news><news:publication><news:name>A</news:name></news:publication>{DAY}{TITLE}</news:news>",
        "<news:publication> has no <news:language>",
    ),
    "news with local date": (
        f"<news:news>{PUBLICATION}<news:publication_date>5 Jan 2026</news:publication_date>{TITLE}</news:news>",
        "news:publication_date “5 Jan 2026” is not a W3C date",
    ),
    "video": (f"<video:video>{THUMBNAIL}{TEXTS}{CONTENT}</video:video>", ""),
    "video with player": (
        f"<video:video>{THUMBNAIL}{TEXTS}<video:player_loc>/player</video:player_loc></video:video>",
        "",
    ),
    "video without thumbnail": (
        f"<video:video>{TEXTS}{CONTENT}</video:video>",
        "<video:video> has no <video:thumbnail_loc>",
    ),
    "video without address": (
        f"<video:video>{THUMBNAIL}{TEXTS}</video:video>",
        "<video:video> has no <video:content_loc> or <video:player_loc>",
    ),
    "video with invalid end": (
        f"<video:video>{THUMBNAIL}{TEXTS}{CONTENT}<video:expiration_date>soon</video:expiration_date></video:video>",
        "video:expiration_date “soon” is not a W3C date",
    ),
}


@pytest.mark.parametrize(("markup", "fault"), EXTENSIONS.values(), ids=EXTENSIONS)
def test_missing_extension_elements_are_faults(markup: str, fault: str) -> None:
    entries = read_entries(f"<url>{LOC}{markup}</url>")
    assert [entry.text for entry in entries.faults] == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("root", "markup", "fault"),
    [
        ("urlset", LOC, "<loc> stands outside an entry"),
        ("urlset", f"<page>{LOC}</page>", "<page> stands in place of <url>"),
        ("sitemapindex", f"<sitemap>{LOC}<lastmod>2026-01-05</lastmod></sitemap>", ""),
        ("sitemapindex", "<sitemap><lastmod>2026-01-05</lastmod></sitemap>", "<sitemap> has no <loc>"),
        ("sitemapindex", f"<sitemap>{LOC}<lastmod>now</lastmod></sitemap>", "lastmod “now” is not a W3C date"),
        (
            "sitemapindex",
            f"<sitemap>{LOC}<priority>1</priority></sitemap>",
            "<priority> is not an element of <sitemap>",
        ),
        ("rss", "<channel><item><link>https://site.example.com/</link><lastmod>x</lastmod></item></channel>", ""),
    ],
)
def test_entries_of_every_sitemap_root_are_judged(root: str, markup: str, fault: str) -> None:
    assert [entry.text for entry in read_entries(markup, root).faults] == ([fault] if fault else [])


def test_same_url_in_two_entries_is_not_a_fault() -> None:
    """The sitemap protocol does not forbid two entries with the same URL."""
    assert read_entries(f"<url>{LOC}</url>" * 2).fault_count == 0


def test_only_a_few_faults_are_stored() -> None:
    entries = read_entries("<url/>" * 3000)
    assert (entries.fault_count, len(entries.faults)) == (3000, 5)


def test_incomplete_last_entry_is_not_judged() -> None:
    content = f"<urlset {NAMESPACES}><url>{LOC}</url><url><lastmod>2026".encode()
    assert parse_sitemap(content, is_cut=True).entries.fault_count == 0


def link(code: str, href: str, attributes: str = 'rel="alternate"') -> str:
    return f'<xhtml:link {attributes} hreflang="{code}" href="{href}"/>'


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (link("en", PAGE), True),
        (link("en", "HTTPS://site.example.com:443/%65n/"), True),
        (link("de", "https://site.example.com/de/") + link("x-default", PAGE), True),
        (link("en", "https://site.example.com/en"), False),
        (link("", PAGE), False),
        (link("en", PAGE, 'rel="canonical"'), False),
        (link("en", PAGE).replace("xhtml:link", "other:link"), False),
        (f"<other:a>{link('en', PAGE)}</other:a>", False),
        ("", False),
    ],
)
def test_sitemap_returns_language_version_links(links: str, expected: bool) -> None:
    """Google Search Central, “Localized versions”: the entry of every version needs `xhtml:link` elements."""
    german = "https://site.example.com/de/"
    for markup in (f"<loc>{german}</loc>{links}", f"{links}<loc>{german}</loc>"):
        entries = read_entries(f"<url>{LOC}</url><url>{markup}</url>")
        assert entries.returning == (frozenset({german}) if expected else frozenset())


def test_language_versions_come_from_the_page_entry() -> None:
    links = link("EN", PAGE) + link("de", "https://site.example.com/%64e/")
    entries = read_entries(f"<url><loc>{PAGE}</loc>{links}</url><url>{LOC}{link('fr', PAGE)}</url>")
    assert entries.page_versions == {"en": PAGE, "de": "https://site.example.com/de/"}
    assert entries.has_language_links


def test_unread_links_are_reported() -> None:
    links = link("en", "https://site.example.com/?a") * (MAX_PARSED_LINKS + 1)
    assert read_entries(f"<url>{LOC}{links}</url>").has_unread_links
    assert not read_entries(f"<url>{LOC}{link('en', PAGE) * 9}</url>").has_unread_links
