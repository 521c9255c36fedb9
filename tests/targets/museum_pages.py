"""Accessible pages of a small museum's site.

The pages differ by width: a phone has a menu button and short lists, a desktop has side filters, tables and a map.
`museum` plants faults by replacing parts of this markup.
"""

from __future__ import annotations

from collections.abc import Mapping

STYLES = """
* { box-sizing: border-box }
body { margin: 0; font: 18px/1.6 Georgia, serif; color: #23211e; background: #fffdf8 }
.skip { position: absolute; left: -999px } .skip:focus { left: 8px; background: #fff }
header, footer { padding: 16px 24px; background: #2b1d3a; color: #fff }
header a, footer a, .actions a { display: inline-block; min-height: 32px; margin-right: 20px }
header a, footer a { color: #fff }
.brand { font-size: 24px }
main { max-width: 1200px; margin: 0 auto; padding: 24px }
h1 { font-size: 36px; line-height: 1.2 } h2 { margin-top: 32px; font-size: 26px }
a { color: #5b2a86 } main li { padding: 6px 0 }
img { display: block; max-width: 100%; height: auto }
label { display: block; margin-top: 16px }
input, select, textarea { min-height: 48px; border: 1px solid #55505c; font: inherit }
[type=checkbox] { width: 24px; min-height: 24px }
button { min-width: 48px; min-height: 48px; margin: 8px 16px 8px 0; border: 0; background: #5b2a86; color: #fff }
button { padding: 0 20px; font: inherit }
iframe { width: 100%; height: 240px; border: 1px solid #55505c }
table { border-collapse: collapse } th, td { padding: 8px 16px; border: 1px solid #8a8492; text-align: left }
.strip { padding: 12px; background: #f3e8d2 }
aside { padding: 16px; background: #f1edf5 }
.phone { display: none }
@media (max-width: 799px) {
  .phone { display: block }
  .desktop { display: none }
  header nav { display: none } header nav.open { display: block }
}
@media (min-width: 800px) { .columns { display: grid; grid-template-columns: 1fr 300px; gap: 32px } }
"""
SCRIPT = """
const menuButton = document.querySelector("[aria-controls=menu]");
menuButton.addEventListener("click", () => {
  const isOpen = document.querySelector("#menu").classList.toggle("open");
  menuButton.setAttribute("aria-expanded", isOpen);
});
const result = document.querySelector("#result");
document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  result.textContent = result.dataset.text;
});
document.querySelector("#viewer")?.addEventListener("click", (event) => event.currentTarget.classList.toggle("large"));
"""
FRAME = """<!doctype html>
<html lang="en"><head><title>Plan of the museum</title></head><body><p><a href="/visit">Ways to us</a></p></body></html>
"""
CAPTIONS = """WEBVTT

00:00.000 --> 00:04.000
The restorers lift the figurehead out of its crate.

00:04.000 --> 00:09.000
The paint under the varnish is two hundred years old.
"""
TEMPLATE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{title} - Museum of the Sea</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/museum.css">
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header>
      <a class="brand" href="/">Museum of the Sea</a>
      <button id="menu-button" class="phone" aria-controls="menu" aria-expanded="false">Menu</button>
      <nav id="menu" aria-label="Main">
        <a href="/visit">Visit</a> <a href="/tickets">Tickets</a> <a href="/exhibitions">Exhibitions</a>
        <a href="/collection">Collection</a> <a href="/calendar">Calendar</a> <a href="/shop">Shop</a>
        <a href="/news">News</a>
      </nav>
    </header>
    <main id="content">
      <h1>{title}</h1>
{body}
    </main>
    <footer>
      <p>Museum of the Sea, 4 Harbour Road, Seaport</p>
      <p><a href="/contact">Contact</a> <a href="/accessibility">Accessibility</a></p>
    </footer>
    <script src="/museum.js"></script>
  </body>
</html>
"""
START = """
<p id="phone-strip" class="phone strip">Open today until 18:00</p>
<img id="hero" src="/ship.png" width="800" height="300" alt="A three-master leaves the harbour under full sail">
<p>Two thousand years of seafaring under one roof, from the dugout to the container ship.</p>
<section class="desktop" aria-labelledby="highlights">
  <h2 id="highlights">Highlights</h2>
  <img id="slide" src="/lamp.png" width="400" height="200" alt="The lamp of the old lighthouse, taller than a visitor">
  <p>The lamp burned until 1962 and was seen from thirty kilometres away.</p>
</section>
<h2>This week</h2>
<ul>
  <li><a href="/exhibition">Figureheads: faces of the sea</a></li>
  <li><a href="/calendar">Tours on Saturday and Sunday</a></li>
</ul>
"""
VISIT = """
<p id="directions">The lift is behind the cash desk. A sign with the words “All floors” hangs above its door.</p>
<p class="phone"><a id="call" href="tel:+15550100" aria-label="Call the museum"><img src="/phone.png" width="48"
height="48" alt=""></a></p>
<h2>Opening hours</h2>
<p>Tuesday to Sunday from 10:00 to 18:00, on Thursday until 20:00. The museum is closed on Monday.</p>
<div class="desktop">
  <h2>How to find us</h2>
  <iframe id="map" title="Plan of the museum" src="/plan"></iframe>
</div>
<h2>Getting here</h2>
<p>Tram 3 stops in front of the door. All floors have step-free access.</p>
"""
TICKETS = """
<form action="/tickets" method="post" novalidate>
  <label for="visitor">Your name</label>
  <input id="visitor" name="visitor" autocomplete="name">
  <label for="email">Your e-mail address</label>
  <input id="email" name="email" type="email" autocomplete="email">
  <label for="number">Number of tickets</label>
  <input id="number" name="number" type="number" value="2" min="1" max="9">
  <div class="phone">
    <button id="fewer" type="button">Fewer</button><button id="more" type="button">More</button>
  </div>
  <button>Book tickets</button>
  <p id="result" role="status" data-text="Please enter an e-mail address with an @, such as name@example.com."></p>
</form>
<h2>Prices</h2>
<p>Adults pay 12 euros. Everybody under 18 visits us free of charge.</p>
<iframe id="seats" title="Rooms with seats" src="/plan"></iframe>
"""
EXHIBITIONS = """
<div class="columns">
  <section aria-labelledby="now">
    <h2 id="now">Now on show</h2>
    <p id="ticker">Figureheads closes on 31 May.</p>
    <h3>Figureheads</h3>
    <p>Forty carved faces from five oceans. <a id="read" href="/exhibition">Read about the figureheads</a>.</p>
    <h3>Harbour in winter</h3>
    <p>Photographs of the year in which the harbour froze.</p>
  </section>
  <aside class="desktop" aria-label="Filter">
    <label for="free">Only exhibitions that are free of charge</label>
    <input id="free" type="checkbox" name="free">
  </aside>
</div>
"""
EXHIBITION = """
<div class="columns">
  <article>
    <p>Sailors believed that a ship without a figurehead could not see its way.</p>
    <blockquote id="quote" lang="de"><p>Das Schiff hat Augen, und sie schlafen nie.</p></blockquote>
    <h2 id="carvers">How the carvers worked</h2>
    <p>A figure took half a year. Oak was carved wet and painted dry.</p>
    <h2>Film of the exhibition</h2>
    <video id="trailer" controls preload="none" width="320" height="180" src="/trailer.mp4">
      <track kind="captions" srclang="en" label="English" src="/captions.vtt">
    </video>
  </article>
  <aside class="desktop" aria-label="Share">
    <a id="share" href="/contact"><img src="/letter.png" width="32" height="32" alt="Tell a friend by e-mail"></a>
  </aside>
</div>
"""
COLLECTION = """
<form action="/collection" method="get" role="search">
  <label for="words">Search the collection</label>
  <input id="words" name="words" type="search">
  <button>Search</button>
  <p id="result" role="status" data-text="3 objects"></p>
</form>
<div class="phone">
  <label for="kind">Kind of object</label>
  <select id="kind" name="kind"><option>All</option><option>Ships</option><option>Tools</option></select>
</div>
<div class="columns">
  <section aria-labelledby="objects">
    <h2 id="objects">Objects</h2>
    <p id="legend">Objects marked “in store” are not on show.</p>
    <table>
      <caption>Three objects</caption>
      <tr><th scope="col">Object</th><th scope="col">Year</th><th scope="col">Place</th></tr>
      <tr><td><a href="/object">Sextant</a></td><td>1787</td><td>Room 2</td></tr>
      <tr><td>Figurehead</td><td>1820</td><td>Room 4</td></tr>
      <tr><td>Ship's bell</td><td>1911</td><td>In store</td></tr>
    </table>
  </section>
  <aside class="desktop" aria-label="Filter">
    <p id="century">Century</p>
    <div id="period" role="slider" tabindex="0" aria-labelledby="century" aria-valuemin="15" aria-valuemax="20"
    aria-valuenow="18">18th</div>
  </aside>
</div>
"""
OBJECT = """
<button id="viewer"><img src="/sextant.png" width="600" height="300" alt="Enlarge the picture of the sextant"></button>
<p class="phone"><img id="detail" src="/scale.png" width="300" height="200"
alt="The scale is divided to ten seconds"></p>
<div class="actions">
  <button id="zoom" type="button">Zoom in</button> <a href="/collection">Back to the collection</a>
</div>
<svg id="condition" role="img" aria-label="Condition: four of five points" width="120" height="24">
  <rect width="96" height="24" fill="#5b2a86"></rect>
</svg>
<h2>About the sextant</h2>
<p>Made in London in 1787. A captain's widow gave it to the museum.</p>
"""
CALENDAR = """
<p>All tours start at the cash desk.</p>
<div class="phone">
  <h2>Next days</h2>
  <ul id="days"><li>Saturday: tour of the figureheads</li><li>Sunday: knots for children</li></ul>
</div>
<table id="month" class="desktop">
  <caption>Tours in May</caption>
  <tr><th id="day">Day</th><th id="tour">Tour</th></tr>
  <tr><td headers="day">Saturday, 3 May</td><td headers="tour">Figureheads</td></tr>
  <tr><td headers="day">Sunday, 4 May</td><td headers="tour">Knots for children</td></tr>
</table>
<h2>Book a tour</h2>
<div id="steps"><button type="button">1. Choose a day</button><button type="button">2. Pay</button></div>
"""
SHOP = """
<div id="basket" class="phone strip"><a href="/tickets">Basket: 2 things</a></div>
<p id="offer" class="desktop strip">Until Sunday: all books for ten euros</p>
<ul>
  <li>Book of knots, 14 euros</li>
  <li>Model of a cutter, 38 euros</li>
  <li>Postcards of figureheads, 6 euros</li>
</ul>
<p>We send things to all countries of Europe. Parcels take three days.</p>
"""
CONTACT = """
<form action="/contact" method="post">
  <label for="name">Your name</label>
  <input id="name" name="name" autocomplete="name">
  <label for="message">Your message</label>
  <textarea id="message" name="message" rows="5" cols="30"></textarea>
  <button>Send the message</button>
  <p id="result" role="status" data-text="Thank you. We answer within three days."></p>
</form>
<h2>By telephone</h2>
<p>Call +1 555 0100 from Tuesday to Friday between 10:00 and 16:00.</p>
"""
NEWS = """
<div class="columns">
  <article>
    <p>After two years in the workshop, the largest figurehead of the collection is back.</p>
    <video id="film" controls preload="none" width="320" height="180" src="/return.mp4">
      <track kind="captions" srclang="en" label="English" src="/captions.vtt">
    </video>
    <h2>What the restorers found</h2>
    <p>Under seven coats of paint there was gold leaf.</p>
  </article>
  <aside class="desktop" aria-label="More news">
    <p>Last month we reported about <a id="winter" href="/exhibitions">photographs of the frozen harbour</a> and their
    photographer.</p>
  </aside>
</div>
"""
ACCESSIBILITY = """
<p id="promise">Everybody is welcome. Tell us what you need, and we prepare it before you come.</p>
<h2>What we offer</h2>
<ul><li>Wheelchairs at the cash desk</li><li>Tours in sign language on the first Sunday of a month</li></ul>
<h2>Whom to ask</h2>
<dl id="people">
  <dt>Questions about a visit</dt><dd>Ada Lindgren</dd>
  <dt>Questions about this site</dt><dd>Tom Reyes</dd>
</dl>
"""
BODIES: Mapping[str, tuple[str, str]] = {
    "/": ("Welcome aboard", START),
    "/visit": ("Your visit", VISIT),
    "/tickets": ("Tickets", TICKETS),
    "/exhibitions": ("Exhibitions", EXHIBITIONS),
    "/exhibition": ("Figureheads: faces of the sea", EXHIBITION),
    "/collection": ("Collection", COLLECTION),
    "/object": ("Sextant", OBJECT),
    "/calendar": ("Calendar", CALENDAR),
    "/shop": ("Shop", SHOP),
    "/contact": ("Contact", CONTACT),
    "/news": ("The figurehead returns", NEWS),
    "/accessibility": ("Accessibility", ACCESSIBILITY),
}
PAGES: Mapping[str, str] = {path: TEMPLATE.format(title=title, body=body) for path, (title, body) in BODIES.items()}
