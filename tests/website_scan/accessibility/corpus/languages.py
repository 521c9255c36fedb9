"""Corpus pages in several languages and scripts."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

GERMAN = document(
    "Speisekarte – Gasthof Krone",
    """
<header><a href="/">Gasthof Krone</a><nav aria-label="Sprache"><a href="/en" lang="en" hreflang="en">English</a>
<a href="/fr" lang="fr-CH" hreflang="fr">Français</a></nav></header>
<main><h1>Speisekarte</h1>
<section aria-labelledby="v"><h2 id="v">Vorspeisen</h2><dl><dt>Flädlesuppe</dt><dd>4,50 €</dd><dt
  lang="it">Insalata verde</dt>
<dd>6,00 €</dd></dl></section>
<p>Unser <span lang="en">Happy Hour</span>-Angebot: <i lang="la">in vino veritas</i>.</p>
<form><label for="t">Tisch für</label><select id="t"><option>2 Personen</option><option>4 Personen</option></select>
<button>Reservieren</button></form></main>
<footer><p lang="tlh"></p>© Krone</footer>
""",
    lang="de-DE",
)

ARABIC = """<!doctype html>
<html lang="ar" dir="rtl"><head><meta charset="utf-8"><title>أخبار اليوم</title>
<meta name="viewport" content="width=device-width"></head><body>
<header><nav aria-label="الأقسام"><ul><li><a href="/s">سياسة</a></li><li><a href="/r">رياضة</a></li></ul></nav></header>
<main><h1>أخبار اليوم</h1><article><h2><a href="/1">خبر أول</a></h2><p>نص الخبر <bdi lang="en">NASA</bdi>.</p>
<img src="/1.jpg" alt="صورة القمر"></article></main>
<footer><a href="/about">من نحن</a></footer></body></html>"""

JAPANESE = """<!DOCTYPE html>
<html lang="ja"><head><meta charset="utf-8"><title>東京の天気</title></head><body>
<div id="wrapper"><div id="head"><h1>東京の天気</h1></div>
<div id="main"><h2>今日</h2><table><tr><th>朝</th><th>昼</th></tr><tr><td>晴れ</td><td>曇り</td></tr></table>
<p><a href="/week">週間天気</a> <a href="/en"
  lang="en">English</a></p><ruby>雨<rt>あめ</rt></ruby></div></div></body></html>"""

XHTML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en-GB" lang="en"><head>
<title>Parish of St Mary</title></head><body>
<div id="nav"><ul><li><a href="/">Home</a></li><li><a href="/services">Services</a></li></ul></div>
<div id="content"><h1>Parish of St Mary</h1><p>Sunday service at <acronym title="ante meridiem">10 a.m.</acronym></p>
<h2>Notices</h2><p xml:lang="cy">Croeso</p><p lang="gd" xml:lang="gd">Fàilte</p>
<form action="/mail"><div><input type="text" title="Your e-mail" /> <input type="submit"
  /></div></form></div></body></html>"""

PHRASES = document(
    "Phrase book",
    """
<main><h1>Phrase book</h1>
<table><caption>Greetings</caption><tr><th scope="col">English</th><th scope="col">Elsewhere</th></tr>
<tr><td>Hello</td><td lang="es-419">Hola</td></tr><tr><td>Hello</td><td lang="zh-Hans-CN">你好</td></tr>
<tr><td>Hello</td><td lang="yue">你好</td></tr><tr><td>Hello</td><td lang="sr-Latn">Zdravo</td></tr></table>
<p lang="x-elvish">Mae govannen</p><p lang="i-klingon">nuqneH</p><p lang="qaa">…</p><p lang="und">?</p>
<img lang="pt-BR" src="/b.png" alt="Bandeira"></main>
""",
)

PAGES = {
    **family(
        "german",
        GERMAN,
        underscore=[('lang="de-DE"', 'lang="de_DE"'), ('lang="la"', 'lang="lat"')],
        empty=[('<html lang="de-DE">', '<html lang="">'), ('lang="la"', 'lang=" "')],
        unlabelled=[('<label for="t">Tisch für</label>', "Tisch für"), ("Reservieren</button>", "</button>")],
    ),
    **family(
        "arabic",
        ARABIC,
    ),
    **family(
        "japanese",
        JAPANESE,
        language=[('lang="ja"', 'lang="jp"'), ('lang="en"', 'lang="e"')],
        headings=[("h1>", "div>"), ("h2>", "div>")],
    ),
    **family(
        "xhtml",
        XHTML,
        disagree=[('xml:lang="en-GB"', 'xml:lang="fr"'), ('xml:lang="cy"', 'xml:lang="welsh"')],
        untitled_field=[(' title="Your e-mail"', ""), (' xml:lang="en-GB" lang="en"', "")],
    ),
    **family(
        "phrases",
        PHRASES,
    ),
}
