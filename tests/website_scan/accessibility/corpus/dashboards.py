"""Corpus pages that users see after a login."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

FIGURES = document(
    "Dashboard – Pulse",
    """
<div id="app">
<header class="top"><button aria-label="Menu" aria-expanded="false" aria-controls="side"><span
  class="burger"></span></button>
  <span class="title">Pulse</span><div role="toolbar" aria-label="Range"><button aria-pressed="true">Day</button>
  <button aria-pressed="false">Week</button></div></header>
<nav id="side" aria-label="Main" hidden><a href="/">Home</a><a href="/users">Users</a></nav>
<main>
<h1>Today</h1>
<section aria-label="Key figures" class="cards">
  <div class="card"><h2>Visitors</h2><p class="big">1,204</p><p><span class="up">▲</span> 4 %</p></div>
  <div class="card"><h2>Disk</h2><div role="meter" aria-label="Disk" aria-valuenow="71" aria-valuemin="0"
    aria-valuemax="100" style="width:71%">71 %</div></div>
  <div class="card"><h2>Import</h2><div class="bar"><div role="progressbar" aria-label="Import"
  aria-valuenow="30"></div></div></div>
</section>
<section aria-labelledby="chart-h"><h2 id="chart-h">Visitors by hour</h2>
  <svg role="img" aria-labelledby="chart-t"
  viewBox="0 0 100 40"><title id="chart-t">A line that rises until noon</title>
  <polyline points="0,40 50,5 100,30"/></svg>
  <canvas role="img" aria-label="Visitors by country"></canvas>
  <table class="vh"><caption>Visitors by hour</caption><tr><th scope="col">Hour</th><th scope="col">Visitors</th></tr>
  <tr><td>10</td><td>88</td></tr></table></section>
<div role="status">Updated a minute ago</div>
</main>
</div>
""",
    head="""<style>.cards{display:flex}.bar div{height:4px;background:#090}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>""",
)

USERS = document(
    "Users – Pulse",
    """
<a href="#main" class="skip">Skip navigation</a>
<nav aria-label="Main"><ul role="menubar" aria-label="Main"><li role="none"><a role="menuitem" href="/">Home</a></li>
  <li role="none"><a role="menuitem" href="/users" aria-current="page">Users</a></li></ul></nav>
<main id="main" tabindex="-1">
<h1>Users</h1>
<div role="grid" aria-label="Users" aria-rowcount="2">
  <div role="rowgroup"><div role="row"><span role="columnheader" aria-sort="ascending">Name</span>
    <span role="columnheader">Role</span><span role="columnheader">Action</span></div></div>
  <div role="rowgroup"><div role="row" aria-rowindex="1"><span role="rowheader">Ada</span><span
  role="gridcell">Admin</span>
    <span role="gridcell"><button>Edit Ada</button></span></div>
  <div role="row" aria-rowindex="2"><span role="rowheader">Bo</span><span role="gridcell">Guest</span>
    <span role="gridcell"><button>Edit Bo</button></span></div></div>
</div>
<div role="tree" aria-label="Groups"><div role="treeitem" aria-expanded="true" aria-level="1" tabindex="0">Company
  <div role="group"><div role="treeitem" aria-level="2" tabindex="-1">Sales</div></div></div></div>
<nav aria-label="Pages"><button disabled>Previous</button><button>Next</button></nav>
</main>
""",
    head="<style>.skip{position:absolute;left:-9999px}.skip:focus{left:1rem}</style>",
)

BOARD = document(
    "Release 2.4 – Board",
    """
<header><h1>Release 2.4</h1><ul class="avatars"><li><img src="/ada.png" alt="Ada"></li><li><img src="/bo.png"
  alt="Bo"></li>
</ul></header>
<main class="board">
  <section aria-labelledby="c1"><h2 id="c1">To do <span class="count" aria-label="2 cards" role="img">2</span></h2>
    <ul><li tabindex="0" aria-roledescription="card"><h3>Fix login</h3><p>Due on <time>Friday</time></p></li>
    <li tabindex="0" aria-roledescription="card"><h3>Write docs</h3><input type="checkbox" aria-label="Done"></li></ul>
    <button>Add a card</button></section>
  <section aria-labelledby="c2"><h2 id="c2">Done</h2><ul><li tabindex="0"><h3>Plan</h3></li></ul></section>
</main>
<div role="dialog" aria-labelledby="dlg" aria-modal="true" hidden><h2 id="dlg">Card</h2><button>Close</button></div>
<div class="toast" role="status" aria-live="polite"></div>
<template id="card"><li><h3></h3><img></li></template>
""",
)

SETTINGS = document(
    "Settings",
    """
<header><a href="/">Pulse</a></header>
<div class="layout">
<nav aria-label="Settings"><ul><li><a href="#profile">Profile</a></li><li><a href="#mail">Mail</a></li></ul></nav>
<main>
<h1>Settings</h1>
<section id="profile"><h2>Profile</h2>
  <label for="lang">Language</label><select id="lang"><option lang="de">Deutsch</option><option
  lang="fr">Français</option>
  <option selected>English</option></select>
  <label for="zone">Time zone</label><input id="zone" role="combobox" aria-expanded="false" aria-controls="zones"
  aria-autocomplete="list" autocomplete="off"><div id="zones" role="listbox" aria-label="Time zones"
  hidden></div></section>
<section id="mail"><h2>Mail</h2>
  <div class="setting"><span id="s1">Weekly report</span><button role="switch" aria-checked="false"
  aria-labelledby="s1"></button></div>
  <div class="setting"><span id="s2">Alerts</span>
<input type="checkbox" role="switch" aria-labelledby="s2" checked></div>
  <fieldset disabled><legend>Premium</legend><label>Extra <input></label><button>Buy</button></fieldset></section>
<p><button class="danger" aria-haspopup="dialog">Delete my account</button></p>
</main></div>
""",
)

PAGES = {
    **family(
        "figures",
        FIGURES,
        unnamed_graphs=[
            (' aria-label="Visitors by country"', ""),
            (' aria-labelledby="chart-t"', ""),
            ('<title id="chart-t">A line that rises until noon</title>', ""),
        ],
        unnamed_meters=[('aria-label="Disk" ', ""), (' aria-label="Import"', "")],
        caption_twice=[('<table class="vh">', '<table class="vh" summary="visitors by  hour">')],
    ),
    **family(
        "users",
        USERS,
        items_not_none=[('<li role="none">', "<li>"), ('role="tree"', 'role="list"')],
        tree_nameless=[(">Sales</div>", "></div>"), ('aria-level="2"', 'aria-level="two"')],
        header_empty=[(">Role</span>", "></span>"), ("Edit Ada", ""), ('aria-sort="ascending"', 'aria-sort="up"')],
        skip_target=[('id="main"', 'id="content"')],
        row_level=[
            ('aria-rowindex="1"', 'aria-rowindex="1" aria-level="1"'),
            ('role="treeitem" aria-expanded="true"', 'role="treeitem" aria-checked="x"'),
        ],
    ),
    **family(
        "board",
        BOARD,
        buttons_in_buttons=[('<li tabindex="0" aria-roledescription="card">', '<li role="button" tabindex="0">')],
        roles_of_lists=[
            ("<ul><li tabindex", '<ul role="listbox" aria-label="Cards"><li role="option" tabindex'),
            (' aria-roledescription="card"', ""),
        ],
        cards_headless=[("<h3>Fix login</h3>", "<h5>Fix login</h5>"), ("<h3>Plan</h3>", "<h3></h3>")],
    ),
    **family(
        "settings",
        SETTINGS,
        combobox_of_old=[
            (' role="combobox" aria-expanded="false"', ' aria-expanded="false"'),
            ('for="zone"', 'for="tz"'),
        ],
        checkbox_state=[
            ('role="switch" aria-labelledby="s2" checked', 'aria-labelledby="s2" aria-checked="false" checked')
        ],
    ),
}
