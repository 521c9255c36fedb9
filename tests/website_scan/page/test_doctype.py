"""Tests for the rendering mode of a doctype.

HTML Standard, 13.2.6.4.1.
"""

from __future__ import annotations

import pytest

from website_scan.page.doctype import Doctype, read_doctype

HTML5 = "<!doctype html>"
XHTML = 'PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"'
STRICT = 'PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"'
TRANSITIONAL = 'PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"'
STANDARD_CASES = (
    HTML5,
    "<!DOCTYPE HTML>",
    "<!doctypehtml>",
    "<!doctype html >",
    "\n\t " + HTML5,
    "\ufeff" + HTML5,
    "<!-- a > comment --> <!-- b -->" + HTML5,
    "<!-->" + HTML5,
    "<!--a--!>" + HTML5,
    '<?xml version="1.0"?>' + HTML5,
    "<!-- <p> -->" + HTML5,
    '<!doctype html SYSTEM "about:legacy-compat">',
    "<!doctype html system 'about:legacy-compat'>",
    f"<!DOCTYPE html {XHTML}>",
    f"<!DOCTYPE HTML {STRICT}>",
    f'<!DOCTYPE HTML {TRANSITIONAL} "http://www.w3.org/TR/html4/loose.dtd">',
    '<!DOCTYPE html SYSTEM "a" rest>',
)
QUIRKY_CASES = (
    "<!doctype>",
    "<!doctype svg>",
    "<!doctype html rest>",
    "<!doctype html public>",
    '<!doctype html public "x" rest>',
    '<!doctype html public "a>b">',
    f"<!DOCTYPE HTML {TRANSITIONAL}>",
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">',
    '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML//EN">',
    '<!DOCTYPE HTML PUBLIC "-//ietf//dtd html strict level 3//en">',
    '<!DOCTYPE html PUBLIC "HTML">',
    '<!DOCTYPE html SYSTEM "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">',
)
MISSING_CASES = (
    "",
    "<html><p>a",
    "text" + HTML5,
    "<p></p>" + HTML5,
    "</p>" + HTML5,
    "<!-- unclosed " + HTML5,
    "<!element br>",
)
CASES = [
    *((text, Doctype.STANDARD) for text in STANDARD_CASES),
    *((text, Doctype.QUIRKY) for text in QUIRKY_CASES),
    *((text, Doctype.MISSING) for text in MISSING_CASES),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_doctype_selects_rendering_mode(text: str, expected: Doctype) -> None:
    assert read_doctype(text) is expected
