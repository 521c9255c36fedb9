"""Corpus pages with obsolete HTML."""

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

HOMEPAGE = """<html><head><title>Willi's Homepage</title></head>
<body background="stars.gif" text="yellow">
<center><img src="welcome.gif"><br><font size="7"><b>Willi's Homepage</b></font>
<marquee behavior="alternate">Welcome to my page!!!</marquee>
<blink>NEW!</blink><hr width="80%">
<table border="1"><tr><td><a href="cats.html"><img src="cat.gif" border="0"></a></td><td><a
  href="links.html">My links</a></td></tr></table>
<bgsound src="song.mid"><a name="guestbook"></a><h3>Guestbook</h3>
<form><input type="text" name="n" size="20"><textarea name="t"></textarea><input type="submit" value="Sign!"></form>
Visitors: <img src="/counter.cgi" alt="00042"></center></body></html>"""

FRAMESET = """<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN" "http://www.w3.org/TR/html4/frameset.dtd">
<html><head><title>Model railway club</title></head>
<frameset cols="150,*"><frame src="about:blank" name="menu"><frame src="about:blank" name="main" title="Content">
<noframes><body><p>Your browser does not show frames.</p></body></noframes></frameset></html>"""

CMS = document(
    "Welcome - Smith Plumbing",
    """
<div id="wrap">
<div id="header"><a href="index.php"><img src="logo.png" alt="Smith Plumbing" title="Smith Plumbing"></a></div>
<div id="nav"><ul><li class="active"><a href="index.php" class="active">Home</a></li><li><a
  href="contact.php">Contact</a></li></ul></div>
<div id="content"><h1>Welcome</h1><h4>We fix it</h4><p>Call <a href="tel:123"><b>123</b></a> or write to us.</p>
<p>&nbsp;</p><h2>&nbsp;</h2>
<p><a href="more.php">here</a> <a href="#" onclick="window.print()"><img src="print.png" alt="Print"></a></p>
<form><table><tr><td>Name:</td><td><input type="text" name="name"></td></tr><tr><td><label>Mail:</label></td>
<td><input type="text" id="mail"></td></tr></table><input type="button" onclick="send()" value="Send"></form></div>
<div id="footer">&copy; Smith | <a href="imprint.php">Imprint</a></div>
</div>
""",
)

BUILDER = document(
    "Home | Yoga with Mia",
    """
<div id="SITE_CONTAINER"><div id="main_MF">
<header id="SITE_HEADER" tabindex="-1"><section tabindex="-1" aria-label="Header"><div role="navigation"
  aria-label="Site">
<ul><li data-direction="ltr"><a href="/" tabindex="0">Home</a></li><li><a href="/classes"
  role="link">Classes</a></li></ul></div></section></header>
<main id="PAGES_CONTAINER" tabindex="-1"><section class="hero"><h1 class="font_0">Yoga with Mia</h1>
<div role="button" tabindex="0" aria-label="Book now" class="btn"><span>Book now</span></div></section>
<section><h2 class="font_2"><span>Classes</span></h2><div role="list"><div role="listitem"><h3>Morning</h3></div>
<div role="listitem"><h3>Evening</h3></div></div>
<div class="gallery" role="region" aria-label="Pictures"><a href="/g1" aria-haspopup="dialog"><img src="/g1.jpg"
  alt="A mat"></a></div></section></main>
<footer id="SITE_FOOTER" tabindex="-1"><p>© Mia</p></footer></div></div>
<div role="alert" aria-live="assertive" style="position:absolute;left:-9999px"></div>
""",
)

BUREAU = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html lang="en"><head><meta http-equiv="Refresh" content="30; URL=/new"><title>We have moved</title></head>
<body><div align="center"><h1>We have moved</h1>
<p>You are taken to our new page. If not, <a href="/new">click here</a>.</p>
<fieldset><legend></legend><input type="checkbox" name="a"> Remember</fieldset>
<table width="100%" summary=""><tr><td class="nav">Links</td></tr></table></div></body></html>"""

PAGES = {
    **family(
        "homepage",
        HOMEPAGE,
        marquee_hidden=[
            ('<marquee behavior="alternate">', "<marquee hidden>"),
            ("<blink>NEW!</blink>", "<blink></blink>"),
        ],
        marquee_styled=[
            ('<marquee behavior="alternate">', '<marquee style="display:none">'),
            ("<blink>", "<blink hidden>"),
        ],
        marquee_empty=[("Welcome to my page!!!", ""), ("<blink>NEW!</blink>", "<blink> </blink>")],
    ),
    **family(
        "frameset",
        FRAMESET,
    ),
    **family(
        "cms",
        CMS,
        refresh_in_body=[("<p>&nbsp;</p>", '<meta http-equiv="refresh" content="300">')],
        image_map=[('<img src="print.png" alt="Print">', '<img src="print.png" ismap>')],
    ),
    **family(
        "builder",
        BUILDER,
        unlabelled=[('aria-label="Book now" ', ""), ("<span>Book now</span>", ""), ('alt="A mat"', "")],
        listitems=[('<div role="list">', "<div>"), ("<h2 class", '<h2 role="presentation" class')],
    ),
    **family(
        "bureau",
        BUREAU,
        at_once=[
            ('content="30; URL=/new"', 'content="100000; URL=/new"'),
            ("<legend></legend>", "<legend>Cookies</legend>"),
        ],
        unreadable=[
            ('content="30; URL=/new"', 'content="soon"'),
            ('<input type="checkbox" name="a"> Remember', '<label><input type="checkbox"> Remember</label>'),
        ],
    ),
}
