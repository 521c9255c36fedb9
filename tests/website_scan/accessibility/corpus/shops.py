"""Corpus pages from online shops."""

# ruff: noqa: RUF001  # signs as people write them

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

LISTING = document(
    "Running shoes – Northpeak",
    """
<a class="skip" href="#products">Skip to products</a>
<header>
  <a href="/" class="logo"><img src="/logo.svg" alt="Northpeak, home" width="120" height="40"></a>
  <form role="search" action="/search"><label for="q" class="vh">Search</label>
    <input id="q" type="search" name="q"><button type="submit" aria-label="Search"><svg aria-hidden="true"
    viewBox="0 0 16 16"><path d="M1 1l9 9"/></svg></button></form>
  <nav aria-label="Shop"><ul><li><a href="/men">Men</a></li><li><a href="/women">Women</a></li>
    <li><a href="/sale" aria-current="page">Sale</a></li></ul></nav>
  <a href="/cart" aria-label="Cart, 2 articles"><svg aria-hidden="true"><use href="#cart"/></svg><span>2</span></a>
</header>
<main id="products">
  <h1>Running shoes</h1>
  <form action="/shoes"><label>Sort by <select name="sort"><option>Price</option><option>New</option></select></label>
    <fieldset><legend>Size</legend><label><input type="checkbox" name="s" value="42"> 42</label>
    <label><input type="checkbox" name="s" value="43"> 43</label></fieldset></form>
  <ul class="grid">
    <li><article><h2><a href="/p/1">Trail One</a></h2><img src="/1.jpg" alt="Red shoe, seen from the side">
      <p><del aria-label="Old price">89 €</del> <strong>69 €</strong></p>
      <button type="button" aria-pressed="false" aria-label="Remember Trail One">♡</button></article></li>
    <li><article><h2><a href="/p/2">City Two</a></h2><img src="/2.jpg" alt="Grey shoe with white sole">
      <p><strong>99 €</strong> <span role="img" aria-label="4 of 5 stars">★★★★☆</span></p>
      <button type="button">Add to cart</button></article></li>
  </ul>
  <nav aria-label="Pages"><ol><li><a href="?p=1" aria-current="page">1</a></li><li><a href="?p=2">2</a></li></ol></nav>
</main>
<footer><p>© Northpeak</p><ul><li><a href="/imprint">Imprint</a></li><li><a
  href="/privacy">Privacy</a></li></ul></footer>
""",
    head="""<style>.skip{position:absolute;left:-999px}.skip:focus{left:0}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}
.grid{display:grid;grid-template-columns:1fr 1fr;list-style:none;padding:0}</style>""",
)

PRODUCT = document(
    "Trail One – Northpeak",
    """
<header><a href="/">Northpeak</a><nav aria-label="Breadcrumb"><ol><li><a href="/">Home</a></li>
  <li><a href="/shoes">Shoes</a></li><li aria-current="page">Trail One</li></ol></nav></header>
<main>
  <h1>Trail One</h1>
  <section aria-label="Pictures"><div class="main-picture"><img src="/1-large.jpg" alt="Trail One from the side"></div>
    <div role="group" aria-label="Choose a picture">
      <button><img src="/1a.jpg" alt="From above"></button><button><img src="/1b.jpg" alt="The sole"></button></div>
  </section>
  <form action="/cart" method="post">
    <fieldset><legend>Colour</legend>
      <input type="radio" name="c" id="c1"><label for="c1">Red</label>
      <input type="radio" name="c" id="c2"><label for="c2">Blue</label></fieldset>
    <label for="qty">Quantity</label><input id="qty" type="number" min="1" value="1">
    <input type="submit" value="Add to cart"><input type="image" src="/express.png" alt="Buy now">
  </form>
  <div role="tablist" aria-label="About this product">
    <button role="tab" id="t1" aria-selected="true" aria-controls="p1">Details</button>
    <button role="tab" id="t2" aria-selected="false" aria-controls="p2" tabindex="-1">Reviews</button></div>
  <div role="tabpanel" id="p1" aria-labelledby="t1"><h2>Details</h2>
    <dl><dt>Weight</dt><dd>240 g</dd><dt>Sole</dt><dd>Rubber</dd></dl></div>
  <div role="tabpanel" id="p2" aria-labelledby="t2" hidden><h2>Reviews</h2><p>Nobody has written yet.</p></div>
  <details><summary>Delivery and returns</summary><p>Two days, free of charge.</p></details>
  <table><caption>Sizes</caption><tr><th scope="col">EU</th><th scope="col">US</th></tr>
    <tr><td>42</td><td>9</td></tr><tr><td>43</td><td>10</td></tr></table>
</main>
<aside aria-labelledby="also"><h2 id="also">You may also like</h2><ul><li><a href="/p/2"><img src="/2.jpg" alt="">
  City Two</a></li><li><a href="/p/3"><img src="/3.jpg" alt="">Road Three</a></li></ul></aside>
<footer>© Northpeak</footer>
""",
)

CART = document(
    "Your cart (2) – Northpeak",
    """
<header><a href="/">Northpeak</a></header>
<main>
<h1>Your cart</h1>
<div role="status" aria-live="polite">2 articles, 168 €</div>
<form method="post">
<table>
  <thead><tr><th scope="col">Article</th><th scope="col">Quantity</th><th scope="col">Price</th><td></td></tr></thead>
  <tbody>
  <tr><th scope="row"><a href="/p/1">Trail One</a></th>
    <td><input type="number" aria-label="Quantity of Trail One" value="1" min="0"></td><td>69 €</td>
    <td><button type="submit" name="drop" value="1" title="Remove Trail One">×</button></td></tr>
  <tr><th scope="row"><a href="/p/2">City Two</a></th>
    <td><input type="number" aria-label="Quantity of City Two" value="1" min="0"></td><td>99 €</td>
    <td><button type="submit" name="drop" value="2" title="Remove City Two">×</button></td></tr>
  </tbody>
</table>
<p><label for="voucher">Voucher</label> <input id="voucher" aria-describedby="vh"> <span id="vh">Ten letters</span>
<input type="submit" value="Redeem"></p>
<div role="progressbar" aria-label="Until free delivery" aria-valuenow="84" aria-valuemin="0" aria-valuemax="100"></div>
<a href="/checkout" role="button">To checkout</a>
</form>
</main>
<footer><p>Questions? <a href="tel:+491234">Call us</a></p></footer>
""",
    head="<style>[role=progressbar]{height:1rem;background:#060}</style>",
)

CHECKOUT = document(
    "Checkout, step 2 of 3 – Northpeak",
    """
<header><span>Northpeak</span><ol aria-label="Steps"><li>Cart</li><li
  aria-current="step">Address</li><li>Payment</li></ol>
</header>
<main>
<h1>Delivery address</h1>
<div id="errors" role="alert"><p>Please correct one field.</p></div>
<form method="post" novalidate>
  <p><label for="name">Name</label><input id="name" name="name" autocomplete="name" required></p>
  <p><label for="street">Street</label><input id="street" autocomplete="shipping street-address"></p>
  <p><label for="zip">Postal code</label><input id="zip" autocomplete="shipping postal-code" aria-invalid="true"
     aria-describedby="zip-error" inputmode="numeric"><span id="zip-error">Five digits, please</span></p>
  <p><label for="country">Country</label><select id="country" autocomplete="country"><option value="">Choose</option>
     <option>Germany</option><option>France</option></select></p>
  <p><label for="mail">E-mail</label><input id="mail" type="email" autocomplete="email"></p>
  <p><label for="tel">Telephone <small>(optional)</small></label><input id="tel" type="tel"
  autocomplete="mobile tel"></p>
  <p><input type="checkbox" id="same" checked><label for="same">Invoice to the same address</label></p>
  <p><label for="note">Note for the driver</label><textarea id="note" rows="3"></textarea></p>
  <button>Continue</button> <input type="button" value="Back">
</form>
</main>
""",
)

PAGES = {
    **family(
        "listing",
        LISTING,
        skip_link_to_nowhere=[('<main id="products">', "<main>"), ('for="q" class="vh"', 'for="query" class="vh"')],
        repeated_text=[
            ("City Two</a></h2><img", "City Two</a></h2><a href=/p/2><img"),
            ('alt="Grey shoe with white sole">', 'alt="City Two"> City Two</a>'),
            ('<a href="/" class="logo">', '<a href="/" class="logo">Northpeak'),
            ('alt="Northpeak, home"', 'alt="northpeak"'),
        ],
    ),
    **family(
        "product",
        PRODUCT,
        buttons_of_bare_images=[(' alt="From above"', ""), (' alt="The sole"', ' alt=""'), (' alt="Buy now"', "")],
        summary_empty=[("Delivery and returns", '<img src="/truck.svg" alt="">'), ("<dt>Sole</dt>", "")],
        descriptions_loose=[("<dl>", "<div>"), ("</dl>", "</div>"), ('value="Add to cart"', 'value=""')],
        scopes=[
            ('<th scope="col">EU</th>', '<th scope="column">EU</th>'),
            ("<td>42</td>", '<td scope="row">42</td>'),
            ("<table>", '<table summary="Sizes">'),
        ],
    ),
    **family(
        "cart",
        CART,
        progress_unnamed=[('aria-label="Until free delivery" ', ""), (' aria-valuenow="84"', "")],
        headers_alone=[('<tr><th scope="row">', '<tr><th scope="col">'), ("<td></td></tr>", "<th>Total</th></tr>")],
    ),
    **family(
        "checkout",
        CHECKOUT,
        labels_beside=[
            ('<label for="name">Name</label>', "Name"),
            ('<label for="mail">E-mail</label>', '<label for="email">E-mail</label>'),
            ('<label for="country">Country</label>', "<b>Country</b>"),
        ],
        titles_only=[
            ('<label for="zip">Postal code</label><input', '<input title="Postal code"'),
            ('<label for="note">Note for the driver</label>', ""),
        ],
        autocomplete=[('autocomplete="name"', 'autocomplete="fullname"'), ("mobile tel", "mobile cc-number")],
        twice_labelled=[
            ('<label for="mail">E-mail</label>', '<label for="mail">E-mail</label><label for="mail">Required</label>')
        ],
        attributes_misspelt=[("aria-invalid", "aria-invalied"), ("aria-current", "aria-curent")],
        no_zoom=[("initial-scale=1", "initial-scale=1, maximum-scale=1, user-scalable=no")],
    ),
}
