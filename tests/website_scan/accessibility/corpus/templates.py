"""Corpus pages from admin templates.

Their class names describe the state of the page.
"""

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

PANEL = document(
    "Orders, Panel",
    """
<div class="wrapper">
<nav class="main-header navbar" aria-label="Top">
  <ul class="navbar-nav">
    <li class="nav-item"><a class="nav-link" data-widget="pushmenu" href="#" role="button"
      aria-label="Sidebar"><i class="fas fa-bars"></i></a></li>
    <li class="nav-item dropdown has-dropdown"><a class="nav-link dropdown-toggle" data-toggle="dropdown" href="#"
      aria-label="Messages"><i class="far fa-comments"></i></a></li>
  </ul>
</nav>
<aside class="main-sidebar" aria-label="Panel"><a href="/panel" class="brand-link mobile-friendly"><img src="/logo.png"
  alt="Panel" class="brand-image"></a></aside>
<main class="content-wrapper">
  <section class="content-header"><h1>Orders</h1></section>
  <table class="table border-collapse"><tr><th scope="col">Order</th><th scope="col">State</th></tr>
    <tr><td><a class="modal-trigger has-tooltip" href="/orders/1">No. 1</a></td><td>paid</td></tr></table>
  <div class="card collapse show"><form><label for="q">Find an order</label>
    <input id="q" class="form-control"><button class="btn">Find</button></form></div>
</main>
<footer class="main-footer">Panel 3</footer>
</div>
""",
)
NAMELESS = [(' aria-label="Messages"', ""), (' alt="Panel"', ""), (">No. 1</a>", "></a>")]
NAMELESS += [('<label for="q">Find an order</label>', "")]
CLASSES = {
    "collapsed": "hold-transition sidebar-mini sidebar-collapse",
    "desktop": "desktop",
    "modal": "modal-open",
    "menus": "has-dropdown",
}

PAGES = {
    **family("panel", PANEL, nameless=NAMELESS),
    **{
        f"panel-nameless-{state}": family(
            "panel", PANEL, nameless=[*NAMELESS, ("<body>", f'<body class="{classes}">')]
        )["panel-nameless"]
        for state, classes in CLASSES.items()
    },
}
