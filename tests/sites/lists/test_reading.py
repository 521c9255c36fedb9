"""Parsing of uploaded sites: every supported form, every error with its line, and limits for hostile files."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.api.errors import InvalidParams
from sites.lists.tags import MAX_TAGS
from sites.lists.uploads import MAX_LINE, MAX_ROWS, InvalidEntries, Row, read_rows
from website_scan.net.policy import Policy

POLICY = Policy(blocked_domains=("blocked.example.net",))
CSV, TEXT, JSON = "text/csv", "text/plain", "application/json"


def read(upload: str | bytes, media_type: str = CSV) -> list[Row]:
    return read_rows(upload if isinstance(upload, bytes) else upload.encode(), media_type, POLICY)


def cells(upload: str, media_type: str = CSV) -> list[tuple[str, tuple[str, ...], str]]:
    return [(row.url, row.tags, row.note) for row in read(upload, media_type)]


def faults(upload: str | bytes, media_type: str = CSV) -> list[tuple[int, str, str]]:
    """Return line, code and message of each invalid line."""
    with pytest.raises(InvalidEntries) as refused:
        read(upload, media_type)
    details: Any = refused.value.details
    told = details["entries"]
    assert details["count"] >= len(told)
    return [(each["line"], each["code"], each["error"]) for each in told]


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
def test_csv_is_parsed_in_all_supported_forms(upload: str) -> None:
    assert cells(upload) == ONE


def test_delimiter_is_detected_after_first_cells() -> None:
    assert cells("a.com;x;Hello, world\nb.com;y;\n") == [
        ("https://a.com/", ("x",), "Hello, world"),
        ("https://b.com/", ("y",), ""),
    ]
    assert cells("a.com/x;y\na.com,b\nb.com,c") == [
        ("https://a.com/x;y", (), ""),
        ("https://a.com/", ("b",), ""),
        ("https://b.com/", ("c",), ""),
    ]


def test_plain_text_has_a_url_on_each_line() -> None:
    assert cells("a.com\n\n http://b.com/x,y;z?q=1 \n", TEXT) == [
        ("https://a.com/", (), ""),
        ("http://b.com/x,y;z?q=1", (), ""),
    ]


def test_json_entries_are_parsed() -> None:
    body = {"entries": [{"url": "a.com", "tags": ["x", " y  z "], "note": " n "}, {"url": "http://b.com/"}]}
    assert cells(json.dumps(body), JSON) == [("https://a.com/", ("x", "y z"), "n"), ("http://b.com/", (), "")]
    assert read('{"entries": []}', JSON) == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('[{"url": "a.com"}]', "object with the field entries"),
        ('{"entries": {}}', "object with the field entries"),
        ('{"entries": [], "x": 1}', "'x' is no field here; there are entries"),
        ('{"entries": [' + "[]," * 1_000_000 + "[]]}", "At most 100,000 sites"),
        ('{"entries": [' + "0," * 100_000 + "0]}", "100,001 items"),
    ],
)
def test_json_of_another_form_is_refused(body: str, error: str) -> None:
    with pytest.raises(InvalidParams, match=error):
        read(body, JSON)


def test_invalid_json_item_is_reported_with_its_error() -> None:
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
    told = faults(json.dumps({"entries": items}), JSON)
    assert [line for line, _, _ in told] == list(range(1, 10))
    assert [code for _, code, _ in told if code != "INVALID_PARAMS"] == ["INVALID_URL"] * 3
    assert told[6][2] == "'name' is no field of an entry; there are url, tags, note."


def test_hosts_keep_ports_and_become_punycode() -> None:
    policy = Policy(allowed_ports=frozenset({80, 443, 8443}))
    rows = read_rows("münchen.de\nexample.com:8443/x\n".encode(), TEXT, policy)
    assert [(row.url, row.host) for row in rows] == [
        ("https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de"),
        ("https://example.com:8443/x", "example.com:8443"),
    ]


BAD_LINES = {
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


def test_invalid_line_is_reported_with_its_number() -> None:
    lines = [line for bad in BAD_LINES for line in ("good.com", bad)]
    told = faults("\n".join(lines))
    assert [(line, code) for line, code, _ in told] == [
        (2 * number, code) for number, code in enumerate(BAD_LINES.values(), 1)
    ]
    assert all(error.endswith(".") and len(error) < 200 for _, _, error in told)


def test_first_hundred_invalid_lines_are_reported_and_all_are_counted() -> None:
    with pytest.raises(
        InvalidEntries, match=r"^1,000 lines are not valid, so nothing was changed\. Line 1: "
    ) as refused:
        read("localhost\n" * 1_000)
    told: Any = refused.value.details["entries"]
    assert (len(told), refused.value.details["count"]) == (100, 1_000)


def test_merged_tags_of_duplicate_rows_are_limited() -> None:
    lines = [f"example.com,t{number}" for number in range(MAX_TAGS + 1)]
    assert faults("\n".join(lines)) == [(21, "INVALID_PARAMS", "A site may have 20 tags, not 21.")]


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
def test_hostile_uploads_are_refused_in_bounded_time(upload: bytes, line: int, error: str | None) -> None:
    before = time.process_time()
    told = faults(upload)
    assert time.process_time() - before < 5
    assert told[0][0] == line
    if error is not None:
        assert told[0][2].startswith(error)
    assert sum(len(text) for _, _, text in told) < 50_000


@pytest.mark.parametrize("media_type", ["text/csv; charset=ISO-8859-1", 'text/plain;charset="utf-16"'])
def test_other_charsets_than_utf8_are_refused(media_type: str) -> None:
    with pytest.raises(InvalidParams, match="send the text in UTF-8"):
        read("a.com", media_type)
    assert read("a.com", "text/csv; header=absent; charset=UTF-8")


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode), st.sampled_from([CSV, TEXT, JSON]))
def test_arbitrary_input_is_parsed_or_refused(upload: bytes, media_type: str) -> None:
    try:
        rows = read(upload, media_type)
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
def test_csv_written_by_spreadsheets_is_parsed(sites: list[tuple[str, list[str]]], delimiter: str) -> None:
    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"'

    lines = [f"{host}{delimiter}{quoted(';'.join(tags))}{delimiter}" for host, tags in sites]
    merged: dict[str, dict[str, None]] = {}
    for host, tags in sites:
        merged.setdefault(host, {}).update(dict.fromkeys(" ".join(each.split()) for each in tags))
    if any(len(tags) > MAX_TAGS for tags in merged.values()):
        return
    assert [(row.url, list(row.tags)) for row in read("\r\n".join(lines))] == [
        (f"https://{host}/", list(tags)) for host, tags in merged.items()
    ]
