"""Corpus pages with dialogs, banners and other overlays."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

CONSENT = document(
    "Bike rental Weser",
    """
<header><a href="/">Bike rental Weser</a></header>
<main><h1>Rent a bike</h1><p>From 12 € a day. <a href="/prices">Prices</a></p><img src="/bike.jpg"
  alt="A blue bike"></main>
<footer><a href="/privacy">Privacy</a></footer>
<div id="consent" role="dialog" aria-modal="true" aria-labelledby="ch" aria-describedby="cd">
  <h2 id="ch">Cookies</h2><p id="cd">We count visits if you allow it.</p>
  <div><input type="checkbox" id="n" checked disabled><label for="n">Necessary</label>
  <input type="checkbox" id="s"><label for="s">Statistics</label></div>
  <button>Allow</button><button>Refuse</button><a href="/cookies">Details</a>
</div>
""",
    head="<style>#consent{position:fixed;bottom:0;left:0;right:0;background:#fff}</style>",
)

NATIVE = document(
    "Photo album",
    """
<header><h1>Photo album</h1></header>
<main><ul><li><img src="/1.jpg" alt="Beach"> <button aria-haspopup="dialog" aria-controls="del">Delete<span
  class="vh"> Beach
</span></button></li></ul>
<dialog id="del" aria-labelledby="dh"><h2 id="dh">Delete the picture?</h2><form method="dialog"><button>Yes</button>
<button>No</button></form></dialog>
<dialog open aria-label="New"><p>You can now share albums.</p><button autofocus>Fine</button></dialog>
<button popovertarget="share">Share</button><div id="share" popover><h2>Share</h2><input aria-label="Link" readonly
  value="https://…">
</div></main>
""",
    head="<style>.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>",
)

MESSAGES = document(
    "Mail",
    """
<main><h1>Inbox</h1>
<div role="alert" class="error"><p>The message could not be sent.</p><button aria-label="Close">×</button></div>
<div role="alertdialog" aria-labelledby="ah" aria-describedby="ad"><h2 id="ah">Storage full</h2><p
  id="ad">Delete some mail.</p>
<button>OK</button></div>
<p><button aria-describedby="t1">Archive</button><span role="tooltip" id="t1">Out of the inbox, but kept</span></p>
<ul><li><a href="/m/1"><strong>Jo</strong> Lunch? <time>12:01</time></a></li></ul>
<output>3 unread</output>
<div aria-live="assertive" class="vh"></div>
</main>
<footer>Mail 4.1</footer>
""",
    head="<style>.vh{position:absolute;width:1px;height:1px;overflow:hidden}</style>",
)

BEHIND = document(
    "Gallery of the month",
    """
<div id="root" aria-hidden="true"><header><a href="/" tabindex="-1">Gallery</a></header>
<main><h1>Gallery of the month</h1><p>Twelve pictures.</p></main></div>
<div class="lightbox" role="dialog" aria-label="Picture 3 of 12" aria-modal="true"><img src="/3.jpg"
  alt="Fog over a field">
<button aria-label="Previous">‹</button><button aria-label="Next">›</button><p>Fog, 2025</p></div>
""",
    head="<style>.lightbox{position:fixed;inset:0;background:#fff}</style>",
)

PAGES = {
    **family(
        "consent",
        CONSENT,
        unnamed=[(' aria-labelledby="ch"', ""), ("Allow</button>", "</button>")],
        misnamed=[('id="ch"', 'id="consent-heading"'), ('id="cd"', "")],
        main_missing=[
            ("<main>", "<div>"),
            ("</main>", "</div>"),
            (' role="dialog" aria-modal="true"', ""),
            ("<h1>", "<h3>"),
            ("</h1>", "</h3>"),
        ],
    ),
    **family(
        "native",
        NATIVE,
    ),
    **family(
        "messages",
        MESSAGES,
        tip_empty=[("Out of the inbox, but kept", ""), ('aria-label="Close">×', ">")],
        alert_unnamed=[(' aria-labelledby="ah"', ""), ('id="ad"', 'id="t1"')],
        link_in_button=[("<button>OK</button>", '<button><a href="/storage">OK</a></button>')],
    ),
    **family(
        "behind",
        BEHIND,
        tab_order=[(' tabindex="-1"', ""), (' aria-modal="true"', ""), ('role="dialog" ', "")],
        tabbable_with_dialog=[(' tabindex="-1"', "")],
    ),
}
