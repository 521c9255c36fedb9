"""Corpus pages from news sites and blogs."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

FRONT = document(
    "The Harbour Post",
    """
<header class="masthead"><a href="#content" class="skip-link">Skip to content</a>
  <p class="brand"><a href="/">The Harbour Post</a></p><time datetime="2026-11-21">Saturday, 21 November</time>
  <nav aria-label="Sections"><ul>
    <li><a href="/politics">Politics</a></li><li><a href="/economy">Economy</a></li><li><a href="/sport">Sport</a></li>
  </ul></nav></header>
<div role="region" aria-label="Breaking news" aria-live="polite"><a href="/storm">Storm warning for the coast</a></div>
<main id="content">
  <h1 class="vh">Today's news</h1>
  <article><h2><a href="/a/1">Council votes for new bridge</a></h2>
    <figure><img src="/bridge.jpg" alt="The old bridge at dusk"><figcaption>The old bridge</figcaption></figure>
    <p>After eleven hours of debate, the council has decided. <a href="/a/1">Read more<span class="vh"> about the
    bridge</span></a></p><footer>By <a rel="author" href="/by/jo">Jo Lind</a></footer></article>
  <article><h2><a href="/a/2">Fishers fear for their quota</a></h2><p>Prices at the quay fell again.</p></article>
  <section aria-labelledby="op"><h2 id="op">Opinion</h2>
<article><h3><a href="/o/1">We need that bridge</a></h3></article>
    <article><h3><a href="/o/2">We do not</a></h3></article></section>
</main>
<aside aria-label="Most read"><ol><li><a href="/a/9">Five walks by the sea</a></li>
  <li><a href="/a/8">Where to eat herring</a></li></ol></aside>
<aside aria-label="Advertisement"><iframe src="about:blank" title="Advertisement" width="300"
  height="250"></iframe></aside>
<footer><nav aria-label="About us"><a href="/team">Team</a> <a href="/contact">Contact</a></nav>
  <p><a href="https://social.example/hp"><svg role="img" aria-label="Our channel"><circle r="5"/></svg></a></p></footer>
""",
    head="""<style>.vh{position:absolute!important;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}
.skip-link{position:absolute;top:-40px}.skip-link:focus{top:0}body{display:grid;gap:1rem}</style>""",
)

ARTICLE = document(
    "Council votes for new bridge | The Harbour Post",
    """
<header><a href="/">The Harbour Post</a><nav><a href="/politics">Politics</a>
· <a href="/sport">Sport</a></nav></header>
<main>
<article>
  <header><h1>Council votes for new bridge</h1><p>By Jo Lind, <time
  datetime="2026-11-20">20 November</time></p></header>
  <p>After eleven hours of debate the council voted for the bridge. <q lang="fr">Enfin</q>, said a visitor.</p>
  <h2>What it costs</h2>
  <p>The bridge is to cost 40 million; <abbr title="Gross domestic product">GDP</abbr> of the town is 900 million.</p>
  <blockquote><p>We have waited for thirty years.</p><footer>— <cite>The mayor</cite></footer></blockquote>
  <figure><table><caption>Votes by party</caption><tr><th>Party</th><th>Yes</th><th>No</th></tr>
    <tr><th>Blue</th><td>8</td><td>2</td></tr><tr><th>Green</th><td>5</td><td>6</td></tr></table></figure>
  <h2>What comes next</h2>
  <ol><li>Planning<ul><li>Soil</li><li>Noise</li></ul></li><li>Building</li></ol>
  <audio controls src="/debate.mp3" aria-label="The debate"></audio>
</article>
<section id="comments" aria-labelledby="ch"><h2 id="ch">2 comments</h2>
  <ul><li><article aria-label="Comment by Ada"><p>Good news!</p><button>Reply<span
  hidden> to Ada</span></button></article></li>
  <li><article aria-label="Comment by Bo"><p>Too expensive.</p><button>Reply</button></article></li></ul>
  <form><label for="c">Your comment</label><textarea id="c" aria-required="true"></textarea>
  <div class="g-recaptcha"><iframe src="about:blank" title="Captcha"></iframe></div><button>Send</button></form>
</section>
</main>
<aside><h2>More on this</h2><ul><li><a href="/a/3">The old bridge in pictures</a></li></ul></aside>
<footer><a href="/imprint">Imprint</a></footer>
""",
)

POST = document(
    "Sourdough without fuss – Crumb & Crust",
    """
<div id="page">
<div id="header" role="banner"><h1 class="site-title"><a href="/">Crumb &amp; Crust</a></h1>
  <div role="navigation" aria-label="Main menu"><div class="menu"><a href="/recipes">Recipes</a>
  <a href="/about">About</a></div></div></div>
<div id="content" role="main">
  <div class="post"><h2>Sourdough without fuss</h2>
    <p><img src="/loaf.jpg" alt="A loaf on a board" class="alignleft"> A good bread needs <em>time</em>, not work.</p>
    <h3>You need</h3><ul><li>500 g flour</li><li>350 g water</li><li>10 g salt</li></ul>
    <h3>How to do it</h3><ol><li><p>Mix.</p></li><li><p>Wait.</p></li><li><p>Bake.</p></li></ol>
    <p>Rated <span class="stars" role="img" aria-label="5 of 5"><i>*</i><i>*</i><i>*</i><i>*</i><i>*</i></span></p>
    <p>Tags: <a href="/tag/bread" rel="tag">bread</a>, <a href="/tag/easy" rel="tag">easy</a></p></div>
  <div id="respond"><h3>Leave a reply</h3><form>
    <p><label for="author">Name *</label> <input id="author" required></p>
    <p><label for="url">Website</label> <input id="url" type="url" autocomplete="url"></p>
    <p><input id="keep" type="checkbox"> <label for="keep">Remember me</label></p>
    <input type="submit" id="submit"></form></div>
</div>
<div id="sidebar" role="complementary" aria-label="Sidebar"><h3>Search</h3>
  <form role="search"><input type="text" aria-label="Search the blog"><input type="submit" value="Go"></form>
  <h3>Archive</h3><select aria-label="Month"><option>November</option><option>October</option></select></div>
<div id="footer" role="contentinfo">Powered by flour.</div>
</div>
""",
)

TICKER = document(
    "Live: the storm | The Harbour Post",
    """
<header><a href="/">The Harbour Post</a></header>
<main><h1>Live: the storm</h1>
<p><button id="auto" role="switch" aria-checked="true">Refresh by itself</button></p>
<div role="log" aria-label="Reports">
  <section aria-labelledby="e2"><h2 id="e2"><time>14:05</time> Ferry cancelled</h2>
  <p>No ship leaves today.</p></section>
  <section aria-labelledby="e1"><h2 id="e1"><time>13:10</time> First trees down</h2><p>The road is closed.</p>
    <a href="#e2">To the top</a></section>
</div>
<h2>Places</h2>
<div role="feed" aria-busy="false"><article aria-posinset="1" aria-setsize="2" tabindex="0" aria-labelledby="f1">
  <h3 id="f1">Harbour</h3><p>Closed</p></article><article aria-posinset="2" aria-setsize="2" tabindex="0"
  aria-labelledby="f2"><h3 id="f2">Market</h3><p>Open</p></article></div>
<div role="timer" aria-label="Until the next report">5:00</div>
</main>
<footer>© The Harbour Post</footer>
""",
    head='<meta http-equiv="refresh" content="0; url=#">'.replace("0; url=#", "90000"),
)

PAGES = {
    **family(
        "front",
        FRONT,
        two_mains=[('<section aria-labelledby="op">', "<main>"), ("</section>\n</main>", "</main></main>")],
        frame_untitled=[(' title="Advertisement"', ""), (' aria-label="Our channel"', "")],
        headings_empty=[("Opinion</h2>", "</h2>"), ("<h3><a href", "<h5><a href"), ("</a></h3>", "</a></h5>")],
        skip_link_lost=[('id="content"', 'id="main-content"'), ('<h1 class="vh">', '<h1 class="vh" hidden>')],
        footers_twice=[
            ("<footer><nav", "<footer>© 2026</footer><footer><nav"),
            ("<header ", "<header></header><header "),
        ],
        accesskeys=[
            ('<a href="/politics">', '<a accesskey="s" href="/politics">'),
            ('<a href="/sport">', '<a accesskey="S" href="/sport">'),
        ],
    ),
    **family(
        "article",
        ARTICLE,
        strange_languages=[('lang="fr"', 'lang="french"'), ('<html lang="en">', '<html lang="english">')],
        header_of_site_in_nav=[("<nav>", '<nav><div role="banner">'), ("</nav></header>", "</div></nav></header>")],
        reload=[('<meta name="viewport"', '<meta http-equiv="refresh" content="600"><meta name="viewport"')],
    ),
    **family(
        "post",
        POST,
        banner_in_main=[
            ('<div id="page">', '<div id="page" role="main">'),
            ('<div id="content" role="main">', '<div id="content">'),
        ],
    ),
    **family(
        "ticker",
        TICKER,
        reloads=[('content="90000"', 'content="60"'), (' aria-checked="true"', "")],
        feed_of_nothing=[
            ('<article aria-posinset="1"', '<div aria-posinset="1"'),
            ("<p>Closed</p></article>", "<p>Closed</p></div>"),
        ],
        regions_nameless=[('aria-labelledby="e2"', 'aria-labelledby="x2"'), ('id="f1"', 'id="f2"')],
    ),
}
