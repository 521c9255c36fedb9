"""Shop with a filter, a cart and a checkout in two steps.

The faulty shop responds late to the filter and shifts the page after it, shows the cart's message with little contrast
and without a live region, has a field without a label in the second step of the checkout, and stores the card number in
the browser.
"""

from __future__ import annotations

from tests.targets.server import Answer, Route

BANNER_S = 0.8
CARD = "4111 1111 1111 1111"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}, Harbour tea</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 18px sans-serif; color: #111; background: #fff }}
button, input {{ min-height: 44px }} li {{ padding: 60px; background: #eef }} .faint {{ color: #bbb }}</style></head>
<body><header><a href="/">Harbour tea</a></header><main><h1>{title}</h1>{body}</main></body></html>"""
TEAS = """<p><button id="filter" aria-pressed="false">Green tea only</button></p>
<p id="banner" style="height: 2em; margin: 0"></p>
<ul><li class="black">Assam</li><li>Sencha <button id="add">Add Sencha to the cart</button></li></ul>
<p{status} id="message"></p><p><a href="/cart">Cart</a></p>
<script>
const wait = {wait}, shift = {shift};
document.getElementById("filter").addEventListener("click", (event) => {{
  const until = performance.now() + wait;
  while (performance.now() < until);
  event.target.setAttribute("aria-pressed", "true");
  document.querySelector(".black").hidden = true;
  fetch("/banner").then((response) => response.text()).then((text) => {{
    const banner = document.getElementById("banner");
    banner.textContent = text;
    if (shift) banner.style.height = "600px";
  }});
}});
document.getElementById("add").addEventListener("click", () => {{
  const message = document.getElementById("message");
  message.textContent = "Sencha is in the cart.";
  message.className = {message_class};
}});
</script>"""
CART = '<p>1 Sencha, 12 €</p><p><a href="/checkout">Check out</a></p>'
CHECKOUT = """<form id="address"><p><label>Street <input name="street" autocomplete="street-address"></label></p>
<p><button>Continue</button></p></form>
<form id="payment" hidden><p>{field}</p><p><button>Pay</button></p></form>
<p role="status" id="done"></p>
<script>
document.getElementById("address").addEventListener("submit", (event) => {{
  event.preventDefault();
  document.getElementById("address").hidden = true;
  document.getElementById("payment").hidden = false;
  document.querySelector("[name=card]").focus();
}});
document.getElementById("payment").addEventListener("submit", (event) => {{
  event.preventDefault();
  if ({stores}) localStorage.setItem("checkout", JSON.stringify({{card: document.querySelector("[name=card]").value}}));
  document.getElementById("done").textContent = "Thank you.";
}});
</script>"""
LABELLED_FIELD = '<label>Card number <input name="card" autocomplete="cc-number" inputmode="numeric"></label>'
FAULTY_FIELD = 'Card number <input name="card" autocomplete="cc-number" inputmode="numeric">'


def shop_site(*, is_faulty: bool) -> dict[str, Route]:
    """Return the routes of the shop."""
    teas = TEAS.format(
        wait=700 if is_faulty else 0,
        shift="true" if is_faulty else "false",
        status="" if is_faulty else ' role="status"',
        message_class='"faint"' if is_faulty else '""',
    )
    field = FAULTY_FIELD if is_faulty else LABELLED_FIELD
    checkout = CHECKOUT.format(field=field, stores="true" if is_faulty else "false")
    return {
        "/": _page("Teas", teas),
        # Browsers forgive layout shifts in the half second after an input.
        "/banner": Answer("Green teas are 10 % off.", delay_s=BANNER_S, headers={"Content-Type": "text/plain"}),
        "/cart": _page("Cart", CART),
        "/checkout": _page("Checkout", checkout),
    }


def _page(title: str, body: str) -> Answer:
    return Answer(PAGE.format(title=title, body=body), headers={"Content-Type": "text/html; charset=utf-8"})
