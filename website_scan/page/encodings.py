"""Decoding of pages, scripts and style sheets to text.

The encoding is the one that a browser uses.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import webencodings
from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.net.http.response import Response
from website_scan.page.bounded_parser import limit_markup
from website_scan.page.markup import select

# Browsers look for a declaration in these bytes before they parse (HTML, "prescan a byte stream").
PRESCAN_BYTES = 1024
# The parser obeys a later declaration, too (HTML, "changing the encoding while parsing").
MAX_SEARCHED_BYTES = 512 * 1024
MAX_CONTENT_TYPE_CHARACTERS = 2_000

BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_BE: "utf-16be", codecs.BOM_UTF16_LE: "utf-16le"}
# The beginning `<?x` of an XML declaration in UTF-16 (HTML, "prescan a byte stream").
UTF_16_BEGINNINGS = {b"<\0?\0x\0": "utf-16le", b"\0<\0?\0x": "utf-16be"}
# Browsers show one replacement character for text in these encodings.
REPLACEMENT = "replacement"
# Browsers decode more characters in these encodings than Python's codecs.
WIDER_CODECS = {"gbk": "gb18030", "iso-2022-jp": "iso2022_jp_ext"}
# Python's Japanese codecs decode some characters unlike browsers (WHATWG Encoding, index jis0208).
JAPANESE = {0x301C: "\uff5e", 0x2016: "\u2225", 0x2212: "\uff0d", 0xA2: "\uffe0", 0xA3: "\uffe1", 0xAC: "\uffe2"}

MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+")
# Regular expressions for the comma-separated values of a header, and for the parameters of a value.
HEADER_VALUE = re.compile(r'(?:"(?:[^"\\]|\\.)*+"?|[^",])++', re.DOTALL)
PARAMETER = re.compile(r';\s*+([^\s;="]++)=("(?:[^"\\]|\\.)*+"?|[^;"]*+)', re.DOTALL)
CHARSET_WORD = re.compile(rb"charset", re.IGNORECASE)
# The charset in the `content` of a meta element (HTML, "extracting a character encoding from a meta element").
META_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\"'\s;][^\t\n\f\r ;]*+))", re.IGNORECASE
)
# The encoding in an XML declaration (HTML, "get an XML encoding").
XML_ENCODING = re.compile(rb"encoding[\0- ]*+=[\0- ]*+(?:\"([^\0- \">]*+)\"|'([^\0- '>]*+)')")
CSS_CHARSET = re.compile(rb'@charset "([^"]{0,1000}+)";')


class _Declaration(NamedTuple):
    """Encoding declared in a meta element.

    Browsers ignore a declaration that comes late in the body.
    """

    encoding: str
    is_in_head: bool


def decode(response: Response) -> tuple[str, str]:
    """Decode the response's body to text.

    Returns the text and the encoding's name (WHATWG Encoding).

    The encoding is that of the byte order mark, of Content-Type, of the markup's declaration, or UTF-8, in this order
    (HTML, "determining the character encoding"); a body that is not valid UTF-8 is windows-1252.
    """
    body, marked = _remove_byte_order_mark(response.body)
    content_type = response.headers.get("Content-Type") or ""
    media_type = content_type.split(",")[-1].split(";")[0].strip().lower()
    is_whole = not response.truncated
    encoding = marked or encoding_of_label(charset(content_type) or "")
    if not encoding and media_type.endswith("xml"):
        encoding = _xml_encoding(body)
    elif not encoding and media_type in ("text/html", ""):
        encoding = _html_encoding(body, is_whole=is_whole)
    if not encoding:
        encoding = "utf-8" if is_utf_8(body, is_whole=is_whole) else "windows-1252"
    return _decode(body, encoding, is_whole=is_whole), encoding


def decode_style_sheet(body: bytes, content_type: str, document_encoding: str = "utf-8") -> str:
    """Decode a style sheet.

    Its encoding may be that of its document (CSS Syntax, section 3.2).
    """
    body, marked = _remove_byte_order_mark(body)
    encoding = marked or encoding_of_label(charset(content_type) or "")
    if not encoding and (declaration := CSS_CHARSET.match(body)):
        encoding = _readable_as_ascii(encoding_of_label(declaration[1].decode("latin-1")))
    return _decode(body, encoding or _readable_as_ascii(document_encoding), is_whole=False)


def charset(content_type: str) -> str | None:
    """Return the charset in a Content-Type header, or None.

    Fetch, "extract a MIME type".
    """
    last_type, label = "", None
    for value in HEADER_VALUE.findall(content_type[:MAX_CONTENT_TYPE_CHARACTERS]):
        media_type = value.partition(";")[0].strip().lower()
        if not MEDIA_TYPE.fullmatch(media_type):
            continue
        charsets = [text for name, text in PARAMETER.findall(value) if name.lower() == "charset"]
        if charsets or media_type != last_type:
            label = _unquoted(charsets[0].strip()) if charsets else None
        last_type = media_type
    return label or None


def encoding_of_label(label: str) -> str:
    """Return the name of the encoding with this label.

    Empty for an unknown label (WHATWG Encoding, section 4.2).
    """
    # Labels are ASCII, and webencodings cannot look up lone surrogates.
    found = webencodings.lookup(label) if label.isascii() else None
    return found.name if found else ""


def _html_encoding(body: bytes, *, is_whole: bool) -> str:
    """Return the encoding that HTML declares.

    Empty if it declares none.

    A late declaration in the body counts only for text that is not UTF-8, because Chromium and Firefox ignore it there.
    """
    if encoding := UTF_16_BEGINNINGS.get(body[:6]):
        return encoding
    declaration = _first_declaration(body[:PRESCAN_BYTES])
    if declaration is not None:
        return declaration.encoding
    declaration = _first_declaration(body[:MAX_SEARCHED_BYTES]) if len(body) > PRESCAN_BYTES else None
    if declaration is not None and declaration.is_in_head:
        return declaration.encoding
    if encoding := _xml_encoding(body):
        return encoding
    return declaration.encoding if declaration is not None and not is_utf_8(body, is_whole=is_whole) else ""


def _first_declaration(markup: bytes) -> _Declaration | None:
    """Return the first declaration of a known encoding in a meta element."""
    if not CHARSET_WORD.search(markup):
        return None
    # Latin-1 suffices for ASCII declarations, and Chromium also reads declarations in <noscript>.
    tree = LexborHTMLParser(limit_markup(markup.decode("latin-1")), scripting=False)
    for node in select(tree, "meta[charset], meta[http-equiv]"):
        if encoding := _readable_as_ascii(encoding_of_label(_label_of_meta(node))):
            return _Declaration(encoding, _is_in_head(node))
    return None


def _label_of_meta(node: LexborNode) -> str:
    attributes = node.attributes
    if "charset" in attributes:
        return attributes["charset"] or ""
    if (attributes.get("http-equiv") or "").lower() != "content-type":
        return ""
    match = META_CHARSET.search(attributes.get("content") or "")
    return (match[1] or match[2] or match[3] or "") if match else ""


def _is_in_head(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in ("head", "body"):
        parent = parent.parent
    return parent is not None and parent.tag == "head"


def _xml_encoding(body: bytes) -> str:
    """Return the encoding in an XML declaration.

    Empty if there is none.
    """
    if encoding := UTF_16_BEGINNINGS.get(body[:6]):
        return encoding
    if not body.startswith(b"<?xml"):
        return ""
    match = XML_ENCODING.search(body[:PRESCAN_BYTES].partition(b">")[0])
    return _readable_as_ascii(encoding_of_label((match[1] or match[2] or b"").decode("latin-1"))) if match else ""


def _readable_as_ascii(encoding: str) -> str:
    """Return the encoding to use for a declared encoding.

    UTF-8 replaces UTF-16, for example (HTML, "prescan a byte stream").
    """
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _remove_byte_order_mark(body: bytes) -> tuple[bytes, str]:
    """Return the body without its byte order mark.

    The second value is the mark's encoding or an empty string.
    """
    first = next((mark for mark in BYTE_ORDER_MARKS if body.startswith(mark)), b"")
    return body.removeprefix(first), BYTE_ORDER_MARKS.get(first, "")


def is_utf_8(body: bytes, *, is_whole: bool) -> bool:
    """Return True if the body is valid UTF-8.

    A body that is not whole may end inside a character.
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


def _decode(body: bytes, encoding: str, *, is_whole: bool) -> str:
    if encoding == REPLACEMENT:
        return "\N{REPLACEMENT CHARACTER}" if body else ""
    found = webencodings.lookup(encoding)
    assert found is not None
    codec = codecs.lookup(WIDER_CODECS[encoding]) if encoding in WIDER_CODECS else found.codec_info
    assert codec.incrementaldecoder is not None
    errors = JAPANESE_ERRORS if encoding == "euc-jp" else "replace"
    text = codec.incrementaldecoder(errors).decode(body, final=is_whole)
    return text.translate(JAPANESE) if encoding in ("euc-jp", "iso-2022-jp") else text


def _decode_japanese_extension(error: UnicodeError) -> tuple[str, int]:
    """Decode two EUC-JP bytes that Python's codec does not know.

    Its Shift_JIS codec knows these characters, such as ① and ㈱.

    Both encodings number the characters of the same table (WHATWG Encoding, index jis0208).
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and min(pair) > 0xA0 and max(pair) < 0xFF:
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead, trail = 0x81 + row // 2, (0x9F if row % 2 else 0x40) + cell
        lead += 0x40 if lead > 0x9F else 0
        trail += 1 if row % 2 == 0 and trail > 0x7E else 0
        text = bytes((lead, trail)).decode("cp932", "replace")
        if len(text) == 1:
            return text, error.start + 2
    return "\N{REPLACEMENT CHARACTER}", error.end


JAPANESE_ERRORS = "website-scan-euc-jp"
codecs.register_error(JAPANESE_ERRORS, _decode_japanese_extension)


def _unquoted(value: str) -> str:
    """Return the value of a parameter as plain text.

    Quotation marks and escapes are removed.
    """
    if not value.startswith('"'):
        return value
    return re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"'), flags=re.DOTALL)
