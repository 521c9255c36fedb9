"""Corpus pages from documentation sites."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

API = document(
    "fetch() – Tinynet 3 reference",
    """
<a class="skip-to-content" href="#content">Skip to main content</a>
<header><a href="/" aria-label="Tinynet home"><svg aria-hidden="true" viewBox="0 0 8 8"><rect width="8"
  height="8"/></svg></a>
<button type="button" aria-label="Search" aria-keyshortcuts="/">⌕</button></header>
<div class="wrap">
<nav aria-label="Reference"><ul><li><details open><summary>Functions</summary><ul><li><a href="/fetch"
  aria-current="page">fetch()</a></li><li><a href="/post">post()</a></li></ul></details></li>
  <li><details><summary>Types</summary><ul><li><a href="/reply">Reply</a></li></ul></details></li></ul></nav>
<main id="content">
<h1>fetch()</h1><p>Gets a document. <a class="edit" href="/edit">Edit this page</a></p>
<h2 id="syntax">Syntax <a href="#syntax" class="anchor" aria-label="Link to Syntax">#</a></h2>
<pre tabindex="0"><code>reply = fetch(url, timeout=5)</code></pre>
<h2 id="parameters">Parameters</h2>
<dl><dt><code>url</code></dt><dd>Where from.</dd><dt><code>timeout</code></dt>
<dt><code>limit</code></dt><dd>Seconds.</dd></dl>
<h2>Browsers</h2>
<table><thead><tr><td></td><th scope="col">Old</th><th scope="col">New</th></tr></thead>
<tbody><tr><th scope="row">fetch()</th><td>No</td><td>Yes</td></tr></tbody></table>
<div class="note" role="note"><p>Since version 3.</p></div>
<h3>See also</h3><ul><li><a href="/post">post()</a></li></ul>
</main>
<nav aria-labelledby="toc"><h2 id="toc">On this page</h2><ol><li><a href="#syntax">Syntax</a></li>
<li><a href="#parameters">Parameters</a></li></ol></nav>
</div>
<footer><p>Licensed under MIT.</p></footer>
""",
    head="<style>.skip-to-content{position:absolute;top:-100px}.skip-to-content:focus{top:0}</style>",
)

QUESTIONS = document(
    "Questions and answers",
    """
<header><nav><a href="/">Home</a></nav></header>
<main><h1>Questions and answers</h1>
<div class="accordion">
  <h2><button aria-expanded="true" aria-controls="a1" id="b1">When are you open?</button></h2>
  <div id="a1" role="region" aria-labelledby="b1"><p>From nine to five.</p></div>
  <h2><button aria-expanded="false" aria-controls="a2" id="b2">May I bring my dog?</button></h2>
  <div id="a2" role="region" aria-labelledby="b2" hidden><p>Yes, on a <a href="/lead">lead</a>.</p></div>
</div>
<details name="faq"><summary><h2>How do I get there?</h2></summary><p>By bus, line 7. <img src="/map.png"
  alt="A map"></p>
</details>
<details name="faq"><summary>What does it cost?</summary><ul><li>Adults: 8 €</li><li>Children: free</li></ul></details>
<p>Nothing found? <a href="/contact">Ask us</a>.</p>
</main>
""",
)

GLOSSARY = document(
    "Glossary of sailing",
    """
<header><a href="/">Sailors' school</a></header>
<main><h1>Glossary</h1>
<nav aria-label="Letters"><a href="#a">A</a> <a href="#b">B</a></nav>
<h2 id="a">A</h2>
<dl><div><dt id="aft">Aft</dt><dd>Towards the <dfn>stern</dfn>.</dd></div>
<div><dt>Ahoy</dt><dd>A greeting.</dd><dd lang="nl">Ahoi</dd></div></dl>
<h2 id="b">B</h2>
<dl><dt>Bow</dt><dd>The front.</dd><script>/* counted */</script><dt>Buoy</dt><dd>Floats. See <a
  href="#aft">aft</a>.</dd></dl>
<ul role="list" aria-label="Signs"><li>A ball: at anchor</li><li>Two balls: not under command</li></ul>
<p><ruby>海<rp>(</rp><rt>umi</rt><rp>)</rp></ruby> is the sea in <span lang="ja">日本語</span>.</p>
</main>
""",
)

CHANGES = document(
    "Changelog",
    """
<main><article><h1>Changelog</h1>
<section aria-labelledby="v2"><h2 id="v2">2.0 <small>(<time>2026-01-02</time>)</small></h2>
<h3>Added</h3><ul><li>Keyboard support<ul><li>Arrow keys</li></ul></li>
<li><del>Old mode</del> <ins>New mode</ins></li></ul>
<h3>Fixed</h3><ul><li>See <a href="/issues/7" title="Crash on start">#7</a></li></ul></section>
<section aria-labelledby="v1"><h2 id="v1">1.0</h2><p>First version.</p>
<figure aria-label="How it looked"><img src="/v1.png" alt="A window with two buttons"></figure></section>
<p><a href="#v2"><span aria-hidden="true">↑</span> Newest</a></p>
</article></main>
""",
)

WIKI = document(
    "Lighthouse – Openpedia",
    """
<div id="mw-page-base" class="noprint"></div>
<div id="content" class="mw-body" role="main"><a id="top"></a>
<h1 id="firstHeading"><span>Lighthouse</span></h1>
<div id="siteSub" class="noprint">From Openpedia</div><div id="jump"><a class="mw-jump-link"
  href="#p-search">Jump to search</a></div>
<table class="infobox"><tbody><tr><th colspan="2">Lighthouse</th></tr><tr><td colspan="2"><img src="/l.jpg"
  alt="A tower"></td></tr>
<tr><th scope="row">Height</th><td>41 m</td></tr><tr><th scope="row">Built</th><td>1871</td></tr></tbody></table>
<p>A <b>lighthouse</b> is a tower<sup><a href="#cite1">[1]</a></sup>.</p>
<div id="toc" role="navigation" aria-labelledby="th"><h2 id="th">Contents</h2><ul><li><a
  href="#h">History</a></li></ul></div>
<h2><span id="h">History</span><span class="edit">[<a href="/edit" title="Edit section: History">edit</a>]</span></h2>
<div class="thumb"><a href="/f"><img src="/old.jpg" alt="An old tower"></a><div class="caption">An old tower</div></div>
<ol class="references"><li id="cite1"><a href="#top">↑</a> A book, 1999.</li></ol>
</div>
<div id="mw-head"><nav aria-label="Personal tools"><ul><li><a href="/login" accesskey="o">Log in</a></li></ul></nav>
<div id="p-search" role="search"><form><input type="search" aria-label="Search Openpedia" accesskey="f">
<input type="submit" value="Go"></form></div></div>
<footer id="footer"><ul><li>Text under a free licence</li></ul></footer>
""",
)

PAGES = {
    **family(
        "api",
        API,
        definitions=[("<dl><dt>", "<dl><p>All</p><dt>"), ("<dd>Seconds.</dd></dl>", "</dl><dd>Seconds.</dd>")],
        code_focus=[('<pre tabindex="0">', '<pre tabindex="4">'), ('role="note"', 'role="notice"')],
    ),
    **family(
        "questions",
        QUESTIONS,
        dogs=[
            ('<h2><button aria-expanded="false"', '<h2><a role="button" aria-expanded="false"'),
            ("dog?</button>", "dog?</a>"),
        ],
    ),
    **family(
        "glossary",
        GLOSSARY,
        groups_broken=[("<div><dt>Ahoy</dt>", "<span><dt>Ahoy</dt>"), ("Ahoi</dd></div>", "Ahoi</dd></span>")],
        text_between=[("<dt>Buoy</dt>", "and <dt>Buoy</dt>"), ('lang="ja"', 'lang="jp"')],
    ),
    **family(
        "changes",
        CHANGES,
        list_role=[
            ("<h3>Added</h3><ul>", '<h3>Added</h3><ul role="menu">'),
            ("<h3>Fixed</h3>", '<h3 role="none">Fixed</h3>'),
        ],
        items_alone=[("<h3>Added</h3><ul>", "<h3>Added</h3><div>")],
    ),
    **family(
        "wiki",
        WIKI,
        keys=[('accesskey="o"', 'accesskey="f"'), ('role="search"', "")],
        redundant=[
            ('<div class="caption">An old tower</div>', ""),
            ('alt="An old tower"></a>', 'alt="An old tower">An old tower</a>'),
        ],
        unnamed_search=[('aria-label="Search Openpedia" ', ""), ('value="Go"', 'value=" "')],
        jump=[('href="#p-search"', 'href="#searchInput"'), ('<div id="mw-head">', '<div id="mw-head" hidden>')],
    ),
}
