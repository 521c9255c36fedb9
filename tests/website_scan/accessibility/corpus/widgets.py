"""Corpus pages with custom widgets."""

# ruff: noqa: RUF001  # signs as people write them

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

CAROUSEL = document(
    "Cinema Luna",
    """
<header><a href="/">Cinema Luna</a></header>
<main><h1>Tonight</h1>
<section aria-roledescription="carousel" aria-label="Films">
  <div class="controls"><button aria-label="Stop">❚❚</button><button aria-label="Previous film"
  aria-controls="slides">‹</button>
  <button aria-label="Next film" aria-controls="slides">›</button></div>
  <div id="slides" aria-live="off"><div role="group" aria-roledescription="slide" aria-label="1 of 2"><a href="/f/1">
    <img src="/f1.jpg" alt="Night Train"></a><h2>Night Train</h2></div>
  <div role="group" aria-roledescription="slide" aria-label="2 of 2" hidden><a href="/f/2"><img src="/f2.jpg"
  alt=""></a></div></div>
  <div role="tablist" aria-label="Choose a film">
<span role="tab" aria-selected="true" tabindex="0" aria-label="Film 1"></span>
  <span role="tab" aria-selected="false" tabindex="-1" aria-label="Film 2"></span></div>
</section></main>
""",
)

CHOICES = document(
    "Choose your menu",
    """
<main><h1>Choose your menu</h1>
<div id="l1">Starter</div>
<ul role="listbox" aria-labelledby="l1" tabindex="0" aria-activedescendant="o2"><li role="option" id="o1"
  aria-selected="false">Soup</li>
<li role="option" id="o2" aria-selected="true">Salad</li></ul>
<div role="listbox" aria-label="Main course" aria-multiselectable="true" tabindex="0"><div role="group"
  aria-label="Fish"><div role="option"
aria-selected="false">Cod</div></div></div>
<label for="cb">Dessert</label><div class="select"><input id="cb" role="combobox" aria-expanded="true"
  aria-controls="cl"
aria-autocomplete="list"><ul id="cl" role="listbox" aria-label="Desserts"><li role="option"
  aria-selected="false">Pie</li></ul></div>
<div role="button" tabindex="0">Order</div><span role="link" tabindex="0" data-href="/card">The whole card</span>
<p>Portions <span role="spinbutton" tabindex="0" aria-valuenow="2" aria-label="Portions"></span></p>
</main>
""",
)

CALENDAR = document(
    "Book a room",
    """
<main><h1>Book a room</h1>
<div role="group" aria-label="Arrival"><button aria-label="Previous month">‹</button><h2 aria-live="polite"
  id="m">November 2026</h2>
<button aria-label="Next month">›</button>
<table role="grid" aria-labelledby="m"><thead><tr><th scope="col" abbr="Monday">Mo</th><th scope="col"
  abbr="Tuesday">Tu</th></tr></thead>
<tbody><tr><td tabindex="-1">2</td><td tabindex="0" aria-selected="true">3</td></tr>
<tr><td><button aria-label="9 November">9</button></td><td aria-disabled="true">10</td></tr></tbody></table></div>
<form><fieldset><legend>Guests</legend><label>Adults <input type="number" value="2"></label></fieldset>
<div class="slider"><input type="range" aria-label="Budget" aria-valuetext="120 €" min="50"
  max="300"></div><button>Search</button></form>
</main>
""",
)

CHAT = document(
    "Help desk chat",
    """
<div class="app" role="main"><h1 class="t">Help desk</h1>
<div role="log" aria-live="polite" aria-relevant="additions"><div class="msg"><span
  class="who">Bot:</span> How can I help?</div>
<div class="msg me"><span class="who">You:</span> My parcel is lost. <img class="emoji" src="/sad.png"
  alt="sad face"></div></div>
<form><div contenteditable="true" role="textbox" aria-label="Your message" aria-placeholder="Write …"></div>
<button type="submit" aria-label="Send"><svg aria-hidden="true"></svg></button>
<button type="button" aria-label="Attach a file" title="Attach a file"><i class="icon-clip"></i></button></form>
<chat-rating stars="5"></chat-rating>
<details class="emoji-picker"><summary aria-label="Emoji">☺</summary>
<button>☺</button><button>☹</button></details></div>
""",
)

FILES = document(
    "Files",
    """
<header role="banner"><form role="search"><input type="search" title="Search files"></form></header>
<nav aria-label="Folders"><ul role="tree" aria-label="Folders"><li role="treeitem" aria-expanded="true"
  aria-selected="true" tabindex="0">
<span>Pictures</span><ul role="group"><li role="treeitem" tabindex="-1">2025</li><li role="treeitem"
  tabindex="-1">2026</li></ul></li>
<li role="treeitem" tabindex="-1" aria-expanded="false">Music</li></ul></nav>
<main><h1>Pictures</h1>
<table role="treegrid" aria-label="Pictures"><thead><tr><th scope="col">Name</th><th
  scope="col">Size</th></tr></thead><tbody>
<tr aria-level="1" aria-expanded="true" aria-posinset="1" aria-setsize="1"><td>2025</td><td></td></tr>
<tr aria-level="2" aria-posinset="1" aria-setsize="1"><td>cat.jpg</td><td>2 MB</td></tr></tbody></table>
<div role="progressbar" aria-labelledby="up" aria-valuetext="half"></div><span id="up">Upload</span>
<div role="meter" aria-valuenow="5" aria-valuemin="0" aria-valuemax="15" aria-label="Space"></div></main>
""",
)

RATING = document(
    "Rate this recipe",
    """
<main><h1>Pancakes</h1>
<div class="rating" role="radiogroup" aria-label="Your rating"><span role="radio" aria-checked="false" tabindex="0"
  aria-label="1 star">★</span>
<span role="radio" aria-checked="false" tabindex="-1" aria-label="2 stars">★</span></div>
<ul class="tags" role="list"><li><button>sweet <span aria-hidden="true">×</span></button></li></ul>
<p role="text">4.5 of 5</p>
<div role="separator" aria-orientation="horizontal"></div>
<div role="scrollbar" aria-controls="steps" aria-valuenow="0" aria-label="Steps" tabindex="0"></div>
<ol id="steps"><li>Mix</li><li>Fry</li></ol>
<button aria-label="Print" aria-braillelabel="prt">Print</button>
</main>
""",
    head="<style>[role=scrollbar]{height:20px;width:10px;background:#ccc}</style>",
)

PAGES = {
    **family(
        "carousel",
        CAROUSEL,
        tabs_unnamed=[(' aria-label="Film 1"', ""), (' aria-label="Film 2"', "")],
        roles=[('role="group" aria-roledescription="slide"', 'role="slide"'), ('aria-live="off"', 'aria-live="false"')],
    ),
    **family(
        "choices",
        CHOICES,
        unnamed=[(' aria-labelledby="l1"', ""), (">Order<", "><"), (">The whole card<", "><")],
        buttons_hold_links=[
            (">Order</div>", '>Order <a href="/terms">terms</a></div>'),
            (' aria-label="Main course"', ""),
        ],
    ),
    **family(
        "calendar",
        CALENDAR,
        grid_of_divs=[('<table role="grid" aria-labelledby="m">', '<table role="presentation" aria-labelledby="m">')],
    ),
    **family(
        "chat",
        CHAT,
        unnamed=[('aria-label="Your message" ', ""), (' aria-label="Send"', ""), (' aria-label="Emoji">☺', ">")],
        names_in_vain=[
            ('<div class="msg">', '<div class="msg" aria-label="From the bot">'),
            ('<span class="who">You:</span>', '<span class="who" aria-label="You"></span>'),
        ],
    ),
    **family(
        "files",
        FILES,
        items_unnamed=[(">2025</li>", "></li>"), (">Music<", "><")],
        items_elsewhere=[('role="tree" aria-label="Folders"', 'class="tree"'), (' aria-labelledby="up"', "")],
        rows_in_table=[(' role="treegrid"', ""), ('title="Search files"', "")],
        no_values=[(' aria-valuenow="5"', ""), (' aria-label="Space"', "")],
        old_roles=[('<ul role="group">', '<ul role="directory">'), ('role="banner"', 'role="landmark"')],
    ),
    **family(
        "rating",
        RATING,
        link_in_text=[("4.5 of 5</p>", '4.5 of <a href="/r">5</a></p>')],
        braille=[
            ('aria-label="Print" aria-braillelabel="prt">Print', 'aria-braillelabel="prt">'),
            ('role="separator" ', 'role="separator" aria-brailleroledescription="sep" '),
        ],
    ),
}
