"""Corpus pages with navigation menus and lists of links."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

MEGA = document(
    "Home and garden",
    """
<ul class="skip-links"><li><a href="#main">To the content</a></li><li><a href="#search">To the search</a></li></ul>
<header>
<nav aria-label="Main"><ul class="menu">
  <li><a href="/garden" aria-haspopup="true" aria-expanded="false">Garden</a>
    <ul class="submenu"><li><a href="/tools">Tools</a></li><li><a href="/seeds">Seeds</a></li></ul></li>
  <li><button aria-expanded="false" aria-controls="home-menu">Home</button>
    <div id="home-menu" hidden><p>Rooms</p><ul><li><a href="/kitchen">Kitchen</a></li></ul></div></li>
  <li role="separator"></li>
  <li><a href="/sale">Sale <span class="badge">new</span></a></li>
</ul></nav>
<form id="search" role="search"><input type="search" aria-label="Search"><button>Go</button></form>
</header>
<main id="main"><h1>Autumn in the garden</h1><p>Now is the time for <a href="/bulbs">bulbs</a>.</p></main>
<footer><nav aria-label="Service"><h2>Service</h2><ul><li><a href="/returns">Returns</a></li></ul></nav></footer>
""",
    head="""<style>.skip-links{position:absolute;left:-9999px}.submenu{display:none}
.menu li:hover .submenu{display:block}</style>""",
)

MENUBAR = document(
    "Untitled – Writer",
    """
<div role="application" aria-label="Writer">
<div role="menubar" aria-label="Document">
  <div role="menuitem" aria-haspopup="true" aria-expanded="true" tabindex="0" id="file">File</div>
  <div role="menu" aria-labelledby="file"><div role="menuitem" tabindex="-1">Open</div>
    <div role="separator"></div><div role="group" aria-label="Font">
<div role="menuitemradio" aria-checked="true" tabindex="-1">
    Serif</div><div role="menuitemradio" aria-checked="false" tabindex="-1">Sans</div></div>
    <div role="menuitemcheckbox" aria-checked="true" tabindex="-1">Ruler</div></div>
</div>
<div role="toolbar" aria-label="Format" aria-controls="doc"><button aria-label="Bold"
  aria-pressed="false"><b>B</b></button>
  <button aria-label="Italic" aria-pressed="true"><i>I</i></button>
  <select aria-label="Font"><option>Serif</option></select></div>
<main><h1 class="vh">Writer</h1><div id="doc" role="textbox" aria-multiline="true" aria-label="Document"
  contenteditable>Text</div></main>
<div role="status">12 words</div>
</div>
""",
)

DRAWER = document(
    "Pizzeria Sole",
    """
<header class="bar">
<button class="hamburger" aria-label="Open menu" aria-expanded="false" aria-controls="drawer">≡</button>
<a href="/"><img src="/sole.svg" alt="Pizzeria Sole"></a>
</header>
<div class="backdrop" aria-hidden="true"></div>
<nav id="drawer" class="drawer" aria-label="Menu" aria-hidden="true"><ul><li><a href="/menu" tabindex="-1">Menu</a></li>
<li><a href="/book" tabindex="-1">Book</a></li></ul><button tabindex="-1">Close</button></nav>
<main><h1>Pizza since 1962</h1><p><a class="btn" href="tel:+49123">Call us</a></p>
<h2>Opening hours</h2><ul><li>Tue–Sun, 17–23 h</li></ul>
<a href="#" class="to-top" aria-label="To the top">▲</a></main>
<footer><a href="/imprint">Imprint</a></footer>
""",
    head="<style>.drawer{position:fixed;left:-300px;width:280px}.backdrop{display:none}</style>",
)

LINKS = document(
    "Ada Berg | all my links",
    """
<main>
<img src="/me.jpg" alt="" width="96" height="96">
<h1>Ada Berg</h1><p>Potter in Bremen</p>
<ul class="links"><li><a href="https://shop.example">My shop</a></li>
<li><a href="https://blog.example">My blog</a></li></ul>
<ul class="social"><li><a href="https://photos.example" aria-label="Photos"><svg viewBox="0 0 9 9"><path
  d="M0 0"/></svg></a></li>
<li><a href="https://video.example"><svg role="img" viewBox="0 0 9 9"><title>Videos</title></svg></a></li>
<li><a href="mailto:a@b.example"><span class="icon" aria-hidden="true">✉</span><span
  class="vh">E-mail</span></a></li></ul>
</main>
""",
    head="<style>.vh{position:absolute;clip:rect(0,0,0,0);width:1px;height:1px;overflow:hidden}</style>",
)

START = document(
    "Town of Linden",
    """
<div class="page">
<div class="top"><a href="/en" lang="en" hreflang="en">English</a> <a href="/de" lang="de"
  hreflang="de">Deutsch</a></div>
<header id="header"><h1>Town of Linden</h1></header>
<nav aria-label="Breadcrumb"><a href="/">Home</a> › <span aria-current="page">Citizens</span></nav>
<div class="content"><main>
  <h2>What do you need?</h2>
  <div class="tiles"><a href="/passport"><h3>Passport</h3><p>Apply and collect</p></a>
  <a href="/bins"><h3>Bins</h3><p>When they are emptied</p></a></div>
  <section aria-label="Office hours"><h2>Office hours</h2><table><tr><th>Monday</th><td>8–12</td></tr>
  <tr><th>Tuesday</th><td>8–18</td></tr></table></section>
</main><aside><h2>Notices</h2><p>The office is closed on Friday.</p></aside></div>
<footer><address>Market 1</address></footer>
</div>
""",
)

PAGES = {
    **family(
        "mega",
        MEGA,
        shown_submenu=[
            (".submenu{display:none}", ""),
            ("Tools</a>", "</a>"),
            ("Seeds</a>", '<img src="/s.png" alt="Seeds"></a>'),
        ],
        skip_links_broken=[('id="main"', 'id="m"'), ('id="search"', 'id="s"')],
    ),
    **family(
        "menubar",
        MENUBAR,
        items_outside=[('role="menubar"', 'role="banner"'), ('role="menu" ', "")],
        items_unnamed=[(">Open<", "><"), (">Ruler<", "><"), (' aria-label="Bold"', ""), ("<b>B</b>", "<b></b>")],
    ),
    **family(
        "drawer",
        DRAWER,
        focus_inside=[(' tabindex="-1"', "")],
        hidden_by_display=[
            ("left:-300px;width:280px", "display:none"),
            (' tabindex="-1"', ""),
            (' aria-hidden="true"><ul>', "><ul>"),
        ],
        all_hidden=[("<body>", '<body aria-hidden="true">')],
        viewport=[("initial-scale=1", "initial-scale=1, maximum-scale=3")],
    ),
    **family(
        "links",
        LINKS,
        roles_on_links=[
            ('<a href="https://shop.example">', '<a role="button" href="https://shop.example">'),
            ('<a href="https://blog.example">', '<a role="heading" href="https://blog.example">'),
        ],
        no_scaling=[("initial-scale=1", "initial-scale=1,maximum-scale=1e1"), ("<main>", '<main role="presentation">')],
    ),
    **family(
        "start",
        START,
    ),
}
