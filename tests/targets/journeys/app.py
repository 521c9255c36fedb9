"""Application of one page with a list, a dialog and a form that refuses entries.

The faulty application loses the focus when an entry is removed, leaves it behind an open dialog whose picture has no
alternative text, and marks invalid fields without a description of the error.
"""

from __future__ import annotations

from tests.targets.server import Answer, Route

PICTURE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='40'/%3E"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rooms, Meadow hotel</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 18px sans-serif; color: #111; background: #fff }}
button, input {{ min-height: 44px }} #cover {{ position: fixed; inset: 10%; background: #fff; border: 1px solid }}
</style></head><body><main><h1 tabindex="-1">Rooms</h1>
<ul><li id="garden">Garden room <button id="remove">Remove the garden room</button></li><li>Lake room</li></ul>
<p><button id="open">Book a room</button></p></main>
<div id="dialog"></div>
<script>
const faulty = {faulty};
const picture = "{picture}";
document.getElementById("remove").addEventListener("click", () => {{
  document.getElementById("garden").remove();
  if (!faulty) document.querySelector("h1").focus();
}});
document.getElementById("open").addEventListener("click", () => {{
  const place = document.getElementById("dialog");
  place.innerHTML = `<div role="dialog" aria-modal="true" aria-labelledby="title" id="cover"><h2 id="title">Book</h2>
    <img src="${{picture}}" width="40" height="40"${{faulty ? "" : ' alt="The lake room"'}}>
    <form novalidate><p><label>E-mail <input name="email" type="email" autocomplete="email"></label></p>
    <p id="error"></p><p><button>Send</button></p></form></div>`;
  if (!faulty) place.querySelector("input").focus();
  place.querySelector("form").addEventListener("submit", (event) => {{
    event.preventDefault();
    const field = place.querySelector("input");
    field.setAttribute("aria-invalid", "true");
    document.getElementById("error").textContent = "Enter an address such as name@example.com.";
    if (!faulty) field.setAttribute("aria-describedby", "error");
  }});
}});
</script></body></html>"""


def app_site(*, is_faulty: bool) -> dict[str, Route]:
    """Return the routes of the application."""
    body = PAGE.format(faulty="true" if is_faulty else "false", picture=PICTURE)
    return {"/": Answer(body, headers={"Content-Type": "text/html; charset=utf-8"})}
