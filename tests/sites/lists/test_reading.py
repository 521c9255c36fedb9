"""Tests for parsing uploaded sites."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.api.errors import InvalidParams
from sites.lists.tags import MAX_TAGS
from sites.lists.upload_faults import InvalidEntries
from sites.lists.upload_tables import MAX_LINE, MAX_ROWS
from sites.lists.uploads import Row, parse_upload, read_rows
from website_scan.net.policy import Policy

POLICY = Policy(blocked_domains=("blocked.example.net",))
CSV, TEXT, JSON = "text/csv", "text/plain", "application/json"


def parse_rows(upload: str | bytes, media_type: str = CSV) -> list[Row]:
    return read_rows(upload if isinstance(upload, bytes) else upload.encode(), media_type, POLICY)


def parse_cells(upload: str, media_type: str = CSV) -> list[tuple[str, tuple[str, ...], str]]:
    return [(row.url, row.tags, row.note) for row in parse_rows(upload, media_type)]


def parse_errors(upload: str | bytes, media_type: str = CSV) -> list[tuple[int, str, str]]:
    """Return the line, code and message of invalid lines."""
    with pytest.raises(InvalidEntries) as refused:
        parse_rows(upload, media_type)
    details: Any = refused.value.details
    errors = details["entries"]
    assert details["count"] >= len(errors)
    return [(fault["line"], fault["code"], fault["error"]) for fault in errors]


ONE = [("https://example.com/", ("a", "b c"), "Main site")]


@pytest.mark.parametrize(
    "upload",
    [
        "example.com,a;b c,Main site",
        "example.com,a;b c,Main site\r\n",
        "\ufeffexample.com,a;b c,Main site\r",
        "\n\n  example.com , a ; b  c ,  Main   site \n,,\n",
        '"example.com","a;b c","Main site"',
        'https://EXAMPLE.com:443#top;"a;b c";Main site',
        "example.com\ta;b c\tMain site",
        "url,tags,note\nexample.com,a;b c,Main site",
        'Note;Website;Labels\nMain site;example.com;"a;b c"',
        "Ministry\tURL\tTags\tBudget\tComment\nX\texample.com\ta;b c\t100,000\tMain site",
        '"URL","Tags","Note","Score"\n"example.com","a;b c","Main site","12"\n',
        "domain,tag,notes\nexample.com,a;b c,Main site,,,",
        "example.com,a,\nhttps://example.com,b c,Main site",
        "example.com,a;b c,Main site\nhttps://example.com/#x,a,Another note",
    ],
)
def test_csv_is_parsed_in_all_forms(upload: str) -> None:
    assert parse_cells(upload) == ONE


HEADERS = {
    "Webseite\nexample.com": ("The first line is a header: “Webseite” is url.", ["https://example.com/"]),
    "Domain Name\nexample.com\n": ("The first line is a header: “Domain Name” is url.", ["https://example.com/"]),
    "Website\nexample.com": ("The first line is a header: “Website” is url.", ["https://example.com/"]),
    "Ort;Internetauftritt;Tags\nKöln;koeln.de;nrw\nBonn;www.bonn.de;nrw": (
        "The first line is a header: “Internetauftritt” is url, “Tags” is tags. Ignored: “Ort”.",
        ["https://koeln.de/", "https://www.bonn.de/"],
    ),
    "URL\tTags\tKommentar\nexample.com\tx\tGut": (
        "The first line is a header: “URL” is url, “Tags” is tags. Ignored: “Kommentar”.",
        ["https://example.com/"],
    ),
    "Nr.,Web address of the town,Population\n1,example.com,12\n2,example.org,13": (
        "The first line is a header: “Web address of the town” is url. Ignored: “Nr.”, “Population”.",
        ["https://example.com/", "https://example.org/"],
    ),
    "sep=;\r\nSeite;Note\r\nexample.com;Erste\r\n": (
        "The first line is a header: “Seite” is url, “Note” is note.",
        ["https://example.com/"],
    ),
    "example.org\nexample.com": (None, ["https://example.org/", "https://example.com/"]),
    "Köln\tkoeln.de\nBonn\tbonn.de": (None, None),
    "user:secret@example.org\nexample.com": (None, None),
    "http:/example.org\nexample.com": (None, None),
    "10.0.0.1\nexample.com": (None, None),
    "localhost\nexample.com": (None, None),
    "printer\nscanner": (None, None),
}


@pytest.mark.parametrize("upload", HEADERS)
def test_line_without_an_address_is_a_header(upload: str) -> None:
    """A first line without an address is a header if a later line has an address.

    Unknown columns are ignored.
    """
    text, urls = HEADERS[upload]
    parsed = parse_upload(upload.encode(), CSV, POLICY)
    assert (parsed.columns and parsed.columns.text) == text
    if urls is None:
        assert parsed.faults.reported[0].line == 1
    else:
        assert ([row.url for row in parsed.rows], parsed.faults.count) == (urls, 0)


def test_error_names_the_guessed_columns() -> None:
    with pytest.raises(InvalidEntries, match=r"Line 3: .* “Webseite” is url\. Ignored: “Ort”\.$"):
        parse_rows("Webseite;Ort\nexample.com;Köln\nexample.com:22;Bonn")


@pytest.mark.parametrize(
    "upload",
    [
        "sep=;\nexample.com;a;Main, site",
        "SEP=;\r\n\r\nexample.com;a;Main, site",
        '"sep=;"\nurl;tags;note\nexample.com;a;Main, site',
        '\ufeffsep=,\nurl,tags,note\nexample.com,a,"Main, site"',
        "sep=\t\nexample.com\ta\tMain, site",
        "sep=|\nexample.com|a|Main, site",
        "sep=;;;\nexample.com;a;Main, site",
    ],
)
def test_excel_delimiter_line_is_supported(upload: str) -> None:
    """A first line `sep=;` names the delimiter.

    Excel reads it, and some programs write it.
    """
    assert parse_cells(upload) == [("https://example.com/", ("a",), "Main, site")]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("\u200bexample.com", "https://example.com/"),
        ("https://example.com/pa\u200bth\u200b", "https://example.com/path"),
        ("https://example.com/a\u00ad\u2060b?q=\ufeff1", "https://example.com/ab?q=1"),
        ("\u202ahttps://example.com/a\u202c", "https://example.com/a"),
        ("example.com/\u200d\u200ca", "https://example.com/a"),
        (
            "https://example.com/\u0646\u0627\u0645\u0647\u200c\u0627\u06cc",
            "https://example.com/%D9%86%D8%A7%D9%85%D9%87%E2%80%8C%D8%A7%DB%8C",
        ),
        ("\u00a0example.com\u00a0", "https://example.com/"),
    ],
)
def test_invisible_characters_are_removed(address: str, url: str) -> None:
    """Some scripts use joiners within words.

    They stand between letters that are not ASCII (RFC 5892, appendices A.1 and A.2).
    """
    assert parse_cells(address) == [(url, (), "")]


def test_delimiter_is_detected() -> None:
    assert parse_cells("a.com;x;Hello, world\nb.com;y;\n") == [
        ("https://a.com/", ("x",), "Hello, world"),
        ("https://b.com/", ("y",), ""),
    ]
    assert parse_cells("a.com/x;y\na.com,b\nb.com,c") == [
        ("https://a.com/x;y", (), ""),
        ("https://a.com/", ("b",), ""),
        ("https://b.com/", ("c",), ""),
    ]


def test_plain_text_has_one_url_per_line() -> None:
    assert parse_cells("a.com\n\n http://b.com/x,y;z?q=1 \n", TEXT) == [
        ("https://a.com/", (), ""),
        ("http://b.com/x,y;z?q=1", (), ""),
    ]


def test_json_entries_are_parsed() -> None:
    body = {"entries": [{"url": "a.com", "tags": ["x", " y  z "], "note": " n "}, {"url": "http://b.com/"}]}
    assert parse_cells(json.dumps(body), JSON) == [("https://a.com/", ("x", "y z"), "n"), ("http://b.com/", (), "")]
    assert parse_rows('{"entries": []}', JSON) == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('[{"url": "a.com"}]', "object with the field entries"),
        ('{"entries": {}}', "object with the field entries"),
        ('{"entries": [], "x": 1}', "Unknown field 'x'. Allowed: entries"),
        ('{"entries": [' + "[]," * 1_000_000 + "[]]}", "At most 100,000 sites"),
        ('{"entries": [' + "0," * 100_000 + "0]}", "100,001 items"),
    ],
)
def test_unknown_json_structure_is_refused(body: str, error: str) -> None:
    with pytest.raises(InvalidParams, match=error):
        parse_rows(body, JSON)


def test_invalid_json_item_is_reported() -> None:
    items = [
        *(5, {}, {"url": None}, {"url": "a.com", "tags": "x"}, {"url": "a.com", "tags": [5]}),
        *(
            {"url": "a.com", "note": None},
            {"url": "a.com", "name": "x"},
            {"url": "\ud800"},
            {"url": "a.com", "tags": ["\0"]},
        ),
        {"url": "ok.com"},
    ]
    errors = parse_errors(json.dumps({"entries": items}), JSON)
    assert [line for line, _, _ in errors] == list(range(1, 10))
    assert [code for _, code, _ in errors if code != "INVALID_PARAMS"] == ["INVALID_URL"] * 3
    assert errors[6][2] == "Unknown field 'name'. Allowed: url, tags, note."


def test_hosts_become_punycode() -> None:
    policy = Policy(allowed_ports=frozenset({80, 443, 8443}))
    rows = read_rows("münchen.de\nexample.com:8443/x\n".encode(), TEXT, policy)
    assert [(row.url, row.host) for row in rows] == [
        ("https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de"),
        ("https://example.com:8443/x", "example.com:8443"),
    ]


INVALID_LINES = {
    "http:/example.com": "INVALID_URL",
    "http:example.com": "INVALID_URL",
    "https//example.com": "INVALID_URL",
    "http:\\\\example.com": "INVALID_URL",
    "http:": "INVALID_URL",
    "mailto:ann@example.com": "INVALID_URL",
    "javascript:alert(1)": "INVALID_URL",
    "https://": "INVALID_URL",
    "ftp://example.com": "INVALID_URL",
    "user:secret@example.com": "INVALID_URL",
    "example.com:22": "INVALID_URL",
    "exa mple.com": "INVALID_URL",
    "example.com\0": "INVALID_URL",
    ",gov,note without address": "INVALID_URL",
    '=HYPERLINK("https://evil.com")': "INVALID_URL",
    "https://example.com/" + "a" * 2040: "INVALID_URL",
    "localhost": "DOMAIN_BLOCKED",
    "printer": "DOMAIN_BLOCKED",
    "10.0.0.1": "DOMAIN_BLOCKED",
    "http://2130706433/": "DOMAIN_BLOCKED",
    "http://[::1]/": "DOMAIN_BLOCKED",
    "www.blocked.example.net": "DOMAIN_BLOCKED",
    "example.com,=cmd|' /C calc'!A1": "INVALID_PARAMS",
    "example.com,ok,=1+1": "INVALID_PARAMS",
    "example.com," + "t" * 61: "INVALID_PARAMS",
    "example.com," + ";".join(map(str, range(MAX_TAGS + 1))): "INVALID_PARAMS",
    "example.com,a\u202eb": "INVALID_PARAMS",
    "example.com,," + "n" * 501: "INVALID_PARAMS",
    "example.com,,note,more,columns": "INVALID_PARAMS",
    'example.com,"a': "INVALID_PARAMS",
    'example.com,"a" b': "INVALID_PARAMS",
    "example.com," + '"' * 1_001: "INVALID_PARAMS",
    "example.com," + "x" * MAX_LINE: "INVALID_PARAMS",
}


def test_invalid_line_has_its_number() -> None:
    lines = [line for bad in INVALID_LINES for line in ("good.com", bad)]
    errors = parse_errors("\n".join(lines))
    assert [(line, code) for line, code, _ in errors] == [
        (2 * number, code) for number, code in enumerate(INVALID_LINES.values(), 1)
    ]
    assert all(error.endswith(".") and len(error) < 200 for _, _, error in errors)


def test_first_hundred_invalid_lines_are_reported() -> None:
    with pytest.raises(
        InvalidEntries, match=r"^1,000 lines are not valid, so nothing was changed\. Line 1: "
    ) as refused:
        parse_rows("localhost\n" * 1_000)
    errors: Any = refused.value.details["entries"]
    assert (len(errors), refused.value.details["count"]) == (100, 1_000)


def test_merged_tags_are_limited() -> None:
    lines = [f"example.com,t{number}" for number in range(MAX_TAGS + 1)]
    assert parse_errors("\n".join(lines)) == [(21, "INVALID_PARAMS", "A site may have 20 tags, not 21.")]


@pytest.mark.parametrize(
    ("upload", "line", "error"),
    [
        ("example.com".encode("utf-16"), 1, "The file is text in UTF-16. Save it as CSV in UTF-8."),
        ("example.com".encode("utf-32-be"), 1, None),
        ("a.com\r\nb.com,caf\xe9\n".encode("latin-1"), 2, "The line has a character that is not in UTF-8."),
        (b"\xef\xbb\xbfa.com\nb.com\rc.com,\xff", 3, "The line has a character that is not in UTF-8."),
        (b"PK\x03\x04" + b"\0" * 100, 1, "The file is a workbook or an archive. Save it as CSV in UTF-8."),
        (b"\x1f\x8b\x08\0", 1, "The file is compressed."),
        (b"\0" * 5_000_000, 1, "The line has 5,000,000 characters"),
        (b"a" * 10_000_000, 1, "The line has 10,000,000 characters"),
        (b'"' * 10_000_000, 1, "The line has 10,000,000 characters"),
        (b'","\n' * 50_000, 1, None),
        (b'example.com,"' + b"\nx.com" * 3, 1, "The quotation marks of the line are not in pairs"),
        (b"\n" * 16_000_000, 1, "There is no address."),
        (b"a.com\n" * (MAX_ROWS + 2), MAX_ROWS + 2, "There are 100,002 lines; at most 100,000 sites"),
        (b"", 1, "There is no address."),
        (b" \r\n\t\r\n", 1, "There is no address."),
        (b"url,tags\n\n", 1, "There is no address."),
        (b",,\n,", 1, "There is no address."),
    ],
)
def test_hostile_uploads_are_refused_quickly(upload: bytes, line: int, error: str | None) -> None:
    before = time.process_time()
    errors = parse_errors(upload)
    assert time.process_time() - before < 5
    assert errors[0][0] == line
    if error is not None:
        assert errors[0][2].startswith(error)
    assert sum(len(text) for _, _, text in errors) < 50_000


@pytest.mark.parametrize("media_type", ["text/csv; charset=ISO-8859-1", 'text/plain;charset="utf-16"'])
def test_other_charsets_are_refused(media_type: str) -> None:
    with pytest.raises(InvalidParams, match="send the text in UTF-8"):
        parse_rows("a.com", media_type)
    assert parse_rows("a.com", "text/csv; header=absent; charset=UTF-8")


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode), st.sampled_from([CSV, TEXT, JSON]))
def test_arbitrary_input_is_parsed_or_refused(upload: bytes, media_type: str) -> None:
    try:
        rows = parse_rows(upload, media_type)
    except (InvalidEntries, InvalidParams):
        return
    assert all(row.url.startswith(("https://", "http://")) for row in rows)


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z]{1,20}\.(com|org)", fullmatch=True),
            st.lists(st.from_regex(r'[A-Za-z ,"]{0,10}[A-Za-z]', fullmatch=True), max_size=3),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(",;\t"),
)
def test_spreadsheet_csv_is_parsed(sites: list[tuple[str, list[str]]], delimiter: str) -> None:
    def quote_cell(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"'

    lines = [f"{host}{delimiter}{quote_cell(';'.join(tags))}{delimiter}" for host, tags in sites]
    merged: dict[str, dict[str, None]] = {}
    for host, tags in sites:
        merged.setdefault(host, {}).update(dict.fromkeys(" ".join(tag.split()) for tag in tags))
    if any(len(tags) > MAX_TAGS for tags in merged.values()):
        return
    assert [(row.url, list(row.tags)) for row in parse_rows("\r\n".join(lines))] == [
        (f"https://{host}/", list(tags)) for host, tags in merged.items()
    ]
