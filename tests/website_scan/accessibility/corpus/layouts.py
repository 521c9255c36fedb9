"""Corpus pages that are partly hidden, nearly empty or unfinished."""

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

HIDING = document(
    "Notes",
    """
<header><h1>Notes</h1></header>
<main>
<div hidden><img src="/a.png"><input><a href="/x"></a><button></button></div>
<div style="display:none"><h2></h2><select><option>1</option></select></div>
<div style="visibility:hidden">
<img src="/b.png"><span style="visibility:visible">Shown <img src="/c.png" alt="Shown"></span></div>
<div class="off"><img src="/d.png"><table><tr><th></th></tr></table></div>
<div aria-hidden="true"><img src="/e.png"><h3></h3></div>
<details><summary>More</summary><img src="/f.png"><label></label><input></details>
<div inert><button></button><img src="/g.png"></div>
<template><img src="/h.png"></template><noscript><img src="/i.png"></noscript>
<div style="content-visibility:hidden"><img src="/j.png"></div>
<div class="print-only"><a href="/print"></a></div>
<p>Text <span class="sr-only">for all</span></p>
</main>
""",
    head="""<style>.off{display:none} .sr-only{position:absolute;left:-10000px} p{color:#222}
@media screen{.print-only{display:none}}</style>""",
)

SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>App</title>
<meta name="viewport" content="width=device-width,initial-scale=1"></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""

PLAIN = document(
    "It works!", "<h1>It works!</h1><p>This is the default page of this server.</p><p><a href='/docs'>Manual</a></p>"
)

SOON = document(
    "Coming soon",
    """
<div class="center"><h1>Coming soon</h1><p>We are working on it.</p>
<form><input type="email" placeholder="Your e-mail"><button>Tell me</button></form>
<div class="social"><a href="https://a.example"><i class="fa fa-a"></i></a> <a href="https://b.example"><i
  class="fa fa-b"></i></a></div>
<div id="countdown" role="timer" aria-live="off">12 days</div></div>
""",
)

COLUMNS = document(
    "Weekly market",
    """
<div class="wrap"><header><h1>Weekly market</h1></header>
<div class="row"><div class="col-8 main" role="main"><h2>This week</h2><div
  class="card"><h3>Apples</h3><p>From the orchard</p>
<a class="stretched" href="/apples"><span class="visually-hidden">Apples: details</span></a></div></div>
<div class="col-4"><aside><h2>Stalls</h2><ul class="list"><li class="item">Cheese</li><li class="item active"
  aria-current="true">Bread</li></ul></aside>
</div></div><footer>Every Thursday</footer></div>
""",
    head="""<style>.row{display:grid;grid-template-columns:2fr 1fr}
.visually-hidden{position:absolute!important;clip:rect(0,0,0,0);width:1px;height:1px;overflow:hidden}</style>""",
)

RESPONSIVE = document(
    "Museum of clocks",
    """
<header><a href="/" class="brand">Museum of clocks</a>
<nav class="wide" aria-label="Main"><a href="/visit">Visit</a> <a href="/shop"><svg class="i"></svg></a></nav>
<nav class="narrow" aria-label="Main"><a href="/visit">Visit</a> <a href="/shop">Shop</a></nav></header>
<main><h1>Museum of clocks</h1><p>Open <b>daily</b>.</p>
<div class="wide-only"><img src="/plan.png"></div><div class="narrow-only"><img src="/plan-s.png"
  alt="Plan"></div></main>
""",
    head="""<style>.narrow,.narrow-only{display:none}
@media (max-width:600px){.wide,.wide-only{display:none}.narrow,.narrow-only{display:block}}</style>""",
)

ERROR = """<html><head><title>404 Not Found</title></head><body bgcolor="white"><center><h1>404 Not Found</h1></center>
<hr><center>server</center></body></html>"""

WELCOME = document(
    "Choose your country",
    """
<main><h1>Choose your country</h1><div class="flags">
<a href="/de"><img src="/de.png" alt="Germany"></a><a href="/fr"><img src="/fr.png" alt="France"></a></div>
<svg hidden><symbol id="s"><path d="M0 0"/></symbol></svg>
<table><form action="/go"><tr><td>
<input name="code" aria-label="Code"></td><td><button>Go</button></td></tr></form></table>
</main>
""",
)

PAGES = {
    **family(
        "hiding",
        HIDING,
        all_shown=[
            ("<div hidden>", "<div>"),
            ('style="display:none"', ""),
            ('class="off"', ""),
            (' aria-hidden="true"', ""),
        ],
        author_displays=[
            ("<div hidden>", '<div hidden style="display:block">'),
            (".off{display:none}", ".off{color:red}"),
        ],
        visible_again=[
            (
                '<span style="visibility:visible">Shown <img src="/c.png" alt="Shown">',
                '<span style="visibility:visible"><img src="/c.png">',
            )
        ],
        hidden_twice=[
            (".off{display:none}", "div.off,.print-only{visibility:hidden}"),
            ("@media screen{.print-only{display:none}}", ""),
        ],
    ),
    **family(
        "shell",
        SHELL,
    ),
    **family(
        "plain",
        PLAIN,
    ),
    **family(
        "soon",
        SOON,
    ),
    **family(
        "columns",
        COLUMNS,
        list_of_links=[
            ('<li class="item">Cheese</li>', '<a class="item">Cheese</a>'),
            ('aria-current="true"', 'aria-current="now"'),
        ],
    ),
    **family(
        "responsive",
        RESPONSIVE,
        icon_for_all=[('<svg class="i"></svg>', "<svg><title>Shop</title></svg>"), ('<img src="/plan.png">', "")],
    ),
    "error": ERROR,
    **family(
        "welcome",
        WELCOME,
        form_in_table=[(' aria-label="Code"', ""), ("<form action", '<form aria-label="Code" action')],
        svg_shown=[("<svg hidden>", '<svg hidden role="img">')],
    ),
}
