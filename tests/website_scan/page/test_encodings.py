"""Test that text is decoded like in browsers.

The expected encodings are those of Chromium 156.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.net.http.response import Headers, Response
from website_scan.page.encodings import charset, decode, decode_style_sheet, encoding_of_label

# WHATWG Encoding Standard, section 4.2, "Names and labels": all labels of every encoding.
LABELS = {
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "euc-kr": (
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
    ),
    "gb18030": "gb18030",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "ibm866": "866 cp866 csibm866 ibm866",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "iso-8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso-8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "iso-8859-16",
    "iso-8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
        "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
    ),
    "iso-8859-7": (
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
        "iso_8859-7:1987 sun_eu_greek"
    ),
    "iso-8859-8": (
        "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
        "iso_8859-8:1988 visual"
    ),
    "iso-8859-8-i": "csiso88598i iso-8859-8-i logical",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "utf-16be": "unicodefffe utf-16be",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    "windows-1252": (
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
        "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
    ),
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": (
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
        "windows-1254 x-cp1254"
    ),
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "x-user-defined": "x-user-defined",
}
KOI = "<meta charset=koi8-r>"
UTF = "<meta charset=utf-8>"
KOI_HTTP_EQUIV = '<meta http-equiv=content-type content="text/html; charset=koi8-r">'
KOI_XML = '<?xml version="1.0" encoding="koi8-r"?>'
LONG = "/* pier */ " * 110
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="{}"/><title>x</title></head></html>'


def http_response(body: bytes | str, content_type: str = "text/html", *, truncated: bool = False) -> Response:
    headers = Headers((("Content-Type", content_type),) if content_type else ())
    content = body.encode() if isinstance(body, str) else body
    return Response("https://a.example.com/", 200, headers, content, truncated=truncated)


def encoding(body: bytes | str, content_type: str = "text/html") -> str:
    return decode(http_response(body, content_type))[1]


def test_every_standard_label_selects_its_encoding() -> None:
    names = {label: name for name, labels in LABELS.items() for label in labels.split()}
    assert len(names) == 228
    assert {label: encoding_of_label(label) for label in names} == names
    assert {encoding_of_label(f" \t{label.upper()}\n") for label in names} == set(LABELS)


@pytest.mark.parametrize(
    "label", ["utf-8x", "none", "", "utf-7", "utf_8", "cp65001", "base64", "unicode-escape", "\u017fjis"]
)
def test_unknown_label_has_no_encoding(label: str) -> None:
    assert encoding_of_label(label) == ""


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-874", "cp874", "ร้านซ่อมเรือ"),
        ("x-sjis", "cp932", "港の船①㈱"),
        ("windows-31j", "cp932", "髙島屋"),
        ("x-mac-cyrillic", "mac-cyrillic", "лодка"),
        ("iso-8859-8-i", "iso8859-8", "סירה"),
        ("logical", "iso8859-8", "סירה"),
        ("windows-949", "cp949", "똠방각하"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("gb2312", "gb18030", "镕㐀"),
        ("gbk", "gb18030", "€𠀀"),
        ("big5", "big5hkscs", "船塢"),
        ("dos-874", "cp874", "เรือ"),
        ("iso-8859-1", "cp1252", "„Größe“ €"),
        ("latin5", "cp1254", "ğüş"),
        ("koi", "koi8-r", "лодка"),
        ("unicode11utf8", "utf-8", "Größe"),
        ("iso-2022-jp", "iso2022_jp", "船の修理"),
    ],
)
def test_label_in_the_meta_element_is_used(label: str, codec: str, text: str) -> None:
    body = f"<!doctype html><meta charset={label}><title>{text}</title>"
    assert decode(http_response(body.encode(codec)))[0] == body


@pytest.mark.parametrize("label", ["euc-jp", "x-euc-jp", "cseucpkdfmtjapanese"])
def test_japanese_text_is_decoded_like_in_browsers(label: str) -> None:
    """Python's codec does not know the NEC and IBM extensions, such as ① and ㈱, and decodes the tilde differently."""
    body = b"\xc1\xa5\xad\xa1 \xad\xea \xfc\xe2 \xa1\xc1 \xff"
    text = "船\N{CIRCLED DIGIT ONE} \N{PARENTHESIZED IDEOGRAPH STOCK} 髙 \N{FULLWIDTH TILDE} \N{REPLACEMENT CHARACTER}"
    assert decode(http_response(body, f"text/html; charset={label}"))[0] == text


@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "csiso2022kr", "iso-2022-cn", "replacement"])
def test_refused_encodings_show_a_replacement_character(label: str) -> None:
    assert decode(http_response("<title>Boats</title>", f"text/html; charset={label}")) == ("\ufffd", "replacement")


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        pytest.param(b"\xef\xbb\xbf<p>x", "text/html; charset=koi8-r", "utf-8", id="byte-order-mark-beats-header"),
        pytest.param("<p>ü".encode("utf-16"), "text/html", "utf-16le", id="mark-of-utf-16"),
        pytest.param(KOI, "text/html; charset=windows-1251", "windows-1251", id="header-beats-meta"),
        pytest.param(KOI, "text/html; charset=utf-8x", "koi8-r", id="unknown-label-in-header"),
        pytest.param(KOI, "text/html; charset=", "koi8-r", id="empty-label-in-header"),
        pytest.param(KOI, 'text/html; charset="windows-1251"', "windows-1251", id="quoted-in-header"),
        pytest.param(KOI, "text/html; charset='windows-1251'", "koi8-r", id="single-quotes-in-header"),
        pytest.param(KOI, "text/html; charset = windows-1251", "koi8-r", id="spaces-around-equals-sign-in-header"),
        pytest.param(KOI, "text/html; charset= windows-1251", "windows-1251", id="space-before-label-in-header"),
        pytest.param(KOI, "Text/HTML;CHARSET=Windows-1251", "windows-1251", id="capitals-in-header"),
        pytest.param(KOI, "text/html; xcharset=windows-1251", "koi8-r", id="other-parameter-in-header"),
        pytest.param(KOI, "text/html; charset=windows-1251, text/html", "windows-1251", id="repeated-header"),
        pytest.param(KOI, "text/html, text/html; charset=windows-1251", "windows-1251", id="second-of-two-headers"),
        pytest.param(KOI, "text/html; charset=windows-1251; charset=koi8-u", "windows-1251", id="first-charset"),
        pytest.param(KOI, "text/html; charset=utf-8x; charset=koi8-u", "koi8-r", id="unknown-first-charset"),
        pytest.param(KOI, "text/html; boundary=x; charset=windows-1251", "windows-1251", id="second-parameter"),
        pytest.param(KOI, 'text/html; x="; charset=koi8-u"; charset=windows-1251', "windows-1251", id="in-quotes"),
        pytest.param(KOI, "", "koi8-r", id="no-media-type"),
        pytest.param(KOI, "text/plain", "utf-8", id="meta-element-in-plain-text"),
        pytest.param("<p>x".encode("utf-16-le"), "text/html; charset=utf-16", "utf-16le", id="utf-16-in-header"),
        pytest.param(XHTML.format("koi8-r"), "application/xhtml+xml", "utf-8", id="meta-element-in-xhtml"),
        pytest.param(KOI_XML + XHTML.format("utf-8"), "application/xhtml+xml", "koi8-r", id="xml-declaration-in-xhtml"),
    ],
)  # fmt: skip
def test_transport_encoding_takes_precedence(body: bytes | str, content_type: str, expected: str) -> None:
    """HTML, "determining the character encoding", and Fetch, "extract a MIME type"."""
    assert encoding(body, content_type) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        pytest.param(KOI + UTF, "koi8-r", id="first-counts"),
        pytest.param(f"<meta charset=utf-8x>{KOI}", "koi8-r", id="unknown-label-then-known"),
        pytest.param(f'<meta charset="">{KOI}', "koi8-r", id="empty-label-then-known"),
        pytest.param('<META CHARSET=" KOI8-R ">', "koi8-r", id="capitals-and-spaces"),
        pytest.param('<meta charset="koi8&#45;r">', "koi8-r", id="character-reference"),
        pytest.param("<meta charset=\"'koi8-r'\">", "utf-8", id="quotes-in-label"),
        pytest.param("<meta charset=“koi8-r”>", "utf-8", id="typographic-quotes"),
        pytest.param(KOI_HTTP_EQUIV, "koi8-r", id="http-equiv"),
        pytest.param(KOI_HTTP_EQUIV.upper(), "koi8-r", id="http-equiv-in-capitals"),
        pytest.param('<meta content="text/html; charset=koi8-r" http-equiv=content-type>', "koi8-r", id="order"),
        pytest.param('<meta content="charset=koi8-r" http-equiv=content-type>', "koi8-r", id="content-without-type"),
        pytest.param('<meta content="x; charset = koi8-r;y" http-equiv=content-type>', "koi8-r", id="content-spaces"),
        pytest.param('<meta content="x; charset charset=koi8-r" http-equiv=content-type>', "koi8-r", id="twice"),
        pytest.param("<meta content='x; charset=\"koi8-r\"' http-equiv=content-type>", "koi8-r", id="content-quoted"),
        pytest.param("<meta content=\"x; charset='koi8-r\" http-equiv=content-type>", "utf-8", id="content-open-quote"),
        pytest.param('<meta content="x; charset=koi8-r,y" http-equiv=content-type>', "utf-8", id="content-with-comma"),
        pytest.param('<meta content="text/html; charset=koi8-r">', "utf-8", id="content-without-http-equiv"),
        pytest.param('<meta name=content-type content="x; charset=koi8-r">' + UTF, "utf-8", id="name-content-type"),
        pytest.param('<meta http-equiv=refresh content="0; url=/?charset=koi8-r">' + UTF, "utf-8", id="refresh"),
        pytest.param('<meta property=og:url content="/?charset=koi8-r">' + UTF, "utf-8", id="og-url"),
        pytest.param('<meta name=keywords content="charset=gbk explained">' + UTF, "utf-8", id="keywords"),
        pytest.param('<meta name=description content="charset=gbk">', "utf-8", id="description-alone"),
        pytest.param(KOI_HTTP_EQUIV.replace("<meta", "<meta charset=koi8-u"), "koi8-u", id="charset-beats-http-equiv"),
        pytest.param(KOI_HTTP_EQUIV.replace("<meta", "<meta charset=x"), "utf-8", id="unknown-charset-and-http-equiv"),
        pytest.param("<meta charset=utf-16>", "utf-8", id="utf-16-that-is-readable-as-ascii"),
        pytest.param("<meta charset=x-user-defined>", "windows-1252", id="x-user-defined"),
        pytest.param("<meta charset=iso-2022-kr>", "replacement", id="refused-encoding"),
        pytest.param(f"<!--{KOI}-->{UTF}", "utf-8", id="comment"),
        pytest.param(f"<!-->{KOI}-->", "koi8-r", id="comment-that-is-empty"),
        pytest.param(f"<!x {KOI}>{UTF}", "utf-8", id="bogus-comment"),
        pytest.param(f"<?php {KOI} ?>{UTF}", "utf-8", id="processing-instruction"),
        pytest.param(f"</x {KOI}>{UTF}", "utf-8", id="end-tag"),
        pytest.param(f'<link title="{KOI}">{UTF}', "utf-8", id="attribute"),
        pytest.param(f'<script>x = "{KOI}"</script>{UTF}', "utf-8", id="script"),
        pytest.param(f"<style>{KOI}</style>{UTF}", "utf-8", id="style"),
        pytest.param(f"<title>{KOI}</title>{UTF}", "utf-8", id="title"),
        pytest.param(f"<body><textarea>{KOI}</textarea>{UTF}", "utf-8", id="textarea"),
        pytest.param(f"<noscript>{KOI}</noscript>", "koi8-r", id="noscript"),
        pytest.param(f"<body><div>{KOI}", "koi8-r", id="early-in-body"),
        pytest.param(f"<svg>{KOI}</svg>", "koi8-r", id="svg"),
        pytest.param(f"{KOI_XML}<p>x", "koi8-r", id="xml-declaration"),
        pytest.param(f"{KOI_XML}{UTF}<p>x", "utf-8", id="meta-beats-xml-declaration"),
        pytest.param(f" {KOI_XML}<p>x", "utf-8", id="xml-declaration-after-space"),
        pytest.param(KOI_XML.replace("koi8-r", "utf-16"), "utf-8", id="utf-16-in-xml-declaration"),
        pytest.param('<?xml version="1.0"?><p>x'.encode("utf-16-be"), "utf-16be", id="xml-declaration-in-utf-16"),
    ],
)  # fmt: skip
def test_encoding_in_markup_is_read_like_in_browsers(markup: bytes | str, expected: str) -> None:
    """HTML, "prescan a byte stream to determine its encoding".

    Meta elements of two kinds declare an encoding.
    """
    assert encoding(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        pytest.param(f"<head><style>{LONG}</style>{KOI}<title>x</title>", "koi8-r", id="head"),
        pytest.param(f"<head><style>{LONG * 100}</style>{KOI}<title>x</title>", "koi8-r", id="head-of-100-kilobytes"),
        pytest.param(f"<head><style>{LONG}</style>{KOI_HTTP_EQUIV}", "koi8-r", id="http-equiv"),
        pytest.param(f"<head><title>{LONG}</title>{KOI}", "koi8-r", id="after-title"),
        pytest.param(f"<head>{' ' * 1010}{KOI}", "koi8-r", id="across-the-limit"),
        pytest.param(f"<head><style>{LONG}</style><noscript>{KOI}</noscript>", "koi8-r", id="noscript"),
        pytest.param(f"{KOI_XML}<style>{LONG}</style>{UTF}<p>x", "utf-8", id="late-meta-beats-xml-declaration"),
        pytest.param(f"<head><script>x = '{LONG}{KOI}'</script>{UTF}", "utf-8", id="script"),
        pytest.param(f"<head><style>{LONG}</style><!--{KOI}-->", "utf-8", id="comment"),
        pytest.param(f"<head><style>{LONG}</style>{UTF}{KOI}", "utf-8", id="first-counts"),
        pytest.param(f"<head>{UTF}<style>{LONG}</style>{KOI}", "utf-8", id="early-beats-late"),
        # Chromium ignores a late declaration in the body, such as a pasted e-mail's.
        pytest.param(f"<body><p>{LONG}{KOI}<p>Größe", "utf-8", id="body-in-utf-8"),
        # Chromium guesses the encoding, but HTML ("changing the encoding while parsing") requires the declared one.
        pytest.param(f"<body><p>{LONG}{KOI}<p>лодка".encode("koi8-r"), "koi8-r", id="body-not-in-utf-8"),
    ],
)  # fmt: skip
def test_late_declaration_in_the_head_counts(markup: bytes | str, expected: str) -> None:
    """HTML, "changing the encoding while parsing".

    Browsers start again with the declared encoding.
    """
    assert encoding(markup) == expected


@pytest.mark.parametrize(
    ("body", "expected"), [("grün", "utf-8"), ("grün".encode("cp1252"), "windows-1252"), ("", "utf-8")]
)
def test_valid_UTF_8_needs_no_declaration(body: bytes | str, expected: str) -> None:
    assert encoding(body) == expected


def test_body_truncated_inside_a_character_is_UTF_8() -> None:
    assert decode(http_response("grü".encode()[:-1], truncated=True)) == ("gr", "utf-8")


@pytest.mark.parametrize(
    ("body", "content_type", "document", "expected"),
    [
        pytest.param("a{b:'ü'}".encode(), "text/css", "utf-8", "a{b:'ü'}", id="utf-8"),
        pytest.param("a{b:'ü'}".encode("utf-16"), "text/css", "utf-8", "a{b:'ü'}", id="byte-order-mark"),
        pytest.param("'я'".encode("cp1251"), "text/css; charset=windows-1251", "utf-8", "'я'", id="header"),
        pytest.param("@charset \"koi8-r\";'я'".encode("koi8-r"), "", "utf-8", "@charset \"koi8-r\";'я'", id="rule"),
        pytest.param("'я'".encode("koi8-r"), "text/css", "koi8-r", "'я'", id="document"),
        pytest.param(b"@charset 'koi8-r';\xc3\xbc", "", "utf-8", "@charset 'koi8-r';ü", id="single-quotes"),
        pytest.param(b'@charset "utf-16";\xc3\xbc', "", "koi8-r", '@charset "utf-16";ü', id="rule-utf-16"),
        pytest.param(b"a{}", "text/css", "utf-16le", "a{}", id="document-in-utf-16"),
    ],
)  # fmt: skip
def test_style_sheet_is_decoded_like_in_browsers(body: bytes, content_type: str, document: str, expected: str) -> None:
    """CSS Syntax 3, section 3.2, "The input byte stream"."""
    assert decode_style_sheet(body, content_type, document) == expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [("text/html", None), ("text/html; charset=a", "a"), ("a/b; charset=x, text/html", None), ("charset=utf-8", None)],
)
def test_last_media_type_has_the_charset(content_type: str, expected: str | None) -> None:
    assert charset(content_type) == expected


@given(st.binary(max_size=200), st.text(max_size=30), st.sampled_from(sorted(LABELS)))
def test_arbitrary_bytes_can_be_decoded(body: bytes, text: str, label: str) -> None:
    decode(http_response(body, f"text/html; charset={text}"))
    decode(http_response(body, f"text/html; charset={label}"))
    decode(http_response(b"<meta charset='" + text.encode("utf-8", "surrogatepass") + b"'>" + body))
    decode_style_sheet(body, text, label)
