"""Corpus pages with tables."""

# ruff: noqa: RUF001  # signs as people write them

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

TIMETABLE = document(
    "Timetable of line 7",
    """
<header><a href="/">City buses</a></header>
<main><h1>Line 7</h1>
<table><caption>Monday to Friday</caption>
<thead><tr><th scope="col">Stop</th><th scope="col">1st</th><th scope="col">2nd</th></tr></thead>
<tbody><tr><th scope="row">Market</th><td>6:02</td><td>6:22</td></tr>
<tr><th scope="row">Station</th><td>6:10</td><td><abbr title="does not stop">–</abbr></td></tr></tbody>
<tfoot><tr><td colspan="3">Valid until December</td></tr></tfoot></table>
<h2>On foot</h2>
<table><tr><th>From</th><th>To</th><th>Minutes</th></tr><tr><td>Market</td><td>Museum</td><td>4</td></tr>
<tr><td>Station</td><td>Zoo</td><td>12</td></tr></table>
</main>
""",
)

COMPARISON = document(
    "Plans and prices",
    """
<main><h1>Plans and prices</h1>
<p><label><input type="checkbox"> Pay by the year</label></p>
<table class="plans">
<tr><td></td><th scope="col">Free</th><th scope="col">Pro</th></tr>
<tr><th scope="row">Projects</th><td>1</td><td>20</td></tr>
<tr><th scope="row">Support</th><td><span class="no" role="img" aria-label="no">✗</span></td>
  <td><img src="/tick.svg" alt="yes"></td></tr>
<tr><th scope="row"><span class="vh">Order</span></th><td><a href="/free">Start free</a></td><td><a
  href="/pro">Buy Pro</a></td></tr>
</table>
</main>
""",
    head="<style>.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>",
)

BALANCE = document(
    "Annual report 2025: balance sheet",
    """
<main><h1>Balance sheet</h1>
<table summary="Assets by year, in thousands of euros">
<caption>Assets</caption>
<colgroup><col><col span="2"></colgroup>
<thead><tr><th id="kind" rowspan="2">Kind</th><th id="years" colspan="2">Year</th></tr>
<tr><th id="y24" headers="years">2024</th><th id="y25" headers="years">2025</th></tr></thead>
<tbody><tr><th id="land" headers="kind">Land</th><td headers="land years y24">100</td><td
  headers="land years y25">110</td></tr>
<tr><th id="cash" headers="kind">Cash</th><td headers="cash years y24">40</td><td
  headers="cash years y25">55</td></tr></tbody>
</table>
<p>Figures in thousands.</p>
</main>
""",
)

NEWSLETTER = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
 "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en"><head><title>Our news in November</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" /></head>
<body bgcolor="#ffffff">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center">
<table role="presentation" width="600"><tr><td><img src="/logo.gif" alt="Hill &amp; Sons" width="200" height="50"
  /></td></tr>
<tr><td><h1>Our news in November</h1><p>Dear reader, the shop is open on Sundays again.</p>
<a href="/november"><img src="/button.gif" alt="Read more" border="0" /></a></td></tr>
<tr><td><img src="/spacer.gif" alt="" width="1" height="20" /><font size="1">You get this mail because you asked for it.
<a href="/unsubscribe">Unsubscribe</a></font></td></tr></table>
</td></tr></table>
</body></html>"""

LEAGUE = document(
    "League table",
    """
<header><nav><a href="/fixtures">Fixtures</a> <a href="/table">Table</a></nav></header>
<main><h1>League table</h1>
<div role="table" aria-label="League" aria-rowcount="3">
 <div role="rowgroup"><div role="row"><div role="columnheader">Club</div><div
  role="columnheader">Points</div></div></div>
 <div role="rowgroup"><div role="row"><div role="cell"><a href="/club/1">Harbour FC</a></div><div
  role="cell">31</div></div>
 <div role="row"><div role="cell"><a href="/club/2">Mill United</a></div><div role="cell">28</div></div></div>
</div>
<table><caption>Top scorers</caption><thead><tr><th>Player</th><th>Goals</th></tr></thead>
<tbody><tr><td>Kim</td><td>12</td></tr></tbody></table>
</main>
""",
)

PAGES = {
    **family(
        "timetable",
        TIMETABLE,
        stray_scopes=[
            ("<td>6:02</td>", '<td scope="row">6:02</td>'),
            ('<th scope="row">Market', '<th scope="rows">Market'),
        ],
    ),
    **family(
        "comparison",
        COMPARISON,
        image_role=[(' aria-label="no"', ""), ("✗", ""), ("Start free", "")],
        presentation=[('<table class="plans">', '<table class="plans" role="none">')],
        scope_group=[
            ('scope="row">Projects', 'scope="rowgroup">Projects'),
            ('scope="row">Support', 'scope="">Support'),
        ],
        same_words=[("Buy Pro", "Start free")],
        headless=[
            ('<th scope="col">Free</th><th scope="col">Pro</th>', "<td>Free</td><td>Pro</td>"),
            ('<th scope="row">Support</th>', "<td>Support</td>"),
        ],
    ),
    **family(
        "balance",
        BALANCE,
        headers_lost=[('id="y24"', 'id="year24"'), ('id="land" ', "")],
        headers_of_cells=[('<th id="cash" headers="kind">', '<td id="cash">'), ("Cash</th>", "Cash</td>")],
        caption_of_cells=[
            ("<caption>Assets</caption>", ""),
            ('<thead><tr><th id="kind"', '<thead><tr><td colspan="3">Assets</td></tr><tr><th id="kind"'),
        ],
        headers_empty=[('headers="land years y25"', 'headers=""')],
        summary_repeats=[("Assets by year, in thousands of euros", "Assets")],
        headers_of_another_table=[
            (
                "<p>Figures",
                '<table><tr><th>Debt</th><th>2025</th></tr><tr><td>a</td><td headers="y25">9</td></tr></table>Figures',
            )
        ],
    ),
    **family(
        "newsletter",
        NEWSLETTER,
        language_twice=[('xml:lang="en"', 'xml:lang="de"')],
        layout_not_said=[(' role="presentation"', "")],
        presentation_with_headers=[("<tr><td><h1>", '<tr><th scope="col">'), ("</h1><p>", "</th></tr><tr><td><p>")],
        marquee=[("<p>Dear reader,", "<p><marquee>Sale!</marquee> <blink>New</blink> Dear reader,")],
    ),
    **family(
        "league",
        LEAGUE,
        footer=[("<tbody><tr><td>Kim", "<tfoot><tr><th>Player</th><th>Goals</th></tr></tfoot><tbody><tr><td>Kim")],
    ),
}
