"""Corpus pages with forms."""

# ruff: noqa: RUF001  # typographic characters, as on real pages

from __future__ import annotations

from tests.website_scan.accessibility.corpus.pages import document, family

CONTACT = document(
    "Contact – Garden Centre Hill",
    """
<header><a href="/">Garden Centre Hill</a></header>
<main>
<h1>Write to us</h1>
<form action="/contact" method="post">
  <p>Fields marked with <span aria-hidden="true">*</span><span class="sr-only">an asterisk</span> are required.</p>
  <div class="row"><label for="f-name">Name <span aria-hidden="true">*</span></label>
    <input type="text" id="f-name" name="name" required autocomplete="name"></div>
  <div class="row"><label for="f-mail">E-mail</label>
    <input type="email" id="f-mail" name="mail" aria-describedby="f-mail-hint" autocomplete="email">
    <small id="f-mail-hint">We answer within a day.</small></div>
  <div class="row"><label for="f-topic">Topic</label><select id="f-topic"><optgroup
  label="Plants"><option>Order</option>
    <option>Care</option></optgroup><optgroup label="Us"><option>Jobs</option></optgroup></select></div>
  <div class="row"><label for="f-text">Message</label><textarea id="f-text" rows="6"></textarea></div>
  <div class="row"><label><input type="checkbox" required> I agree to the <a
  href="/privacy">privacy policy</a></label></div>
  <div class="trap" style="position:absolute;left:-5000px" aria-hidden="true">
<input type="text" name="website" tabindex="-1"></div>
  <button type="submit">Send</button>
</form>
<address>Hill Road 1 · <a href="mailto:hi@hill.example">hi@hill.example</a></address>
</main>
""",
    head="<style>.sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>",
)

REGISTER = document(
    "Create an account",
    """
<main>
<h1>Create an account</h1>
<form>
  <fieldset><legend>You</legend>
    <label>First name <input name="first" autocomplete="given-name"></label>
    <label>Last name <input name="last" autocomplete="family-name"></label>
    <div role="group" aria-labelledby="born"><span id="born">Date of birth</span>
      <input aria-label="Day" inputmode="numeric" size="2" autocomplete="bday-day">
      <input aria-label="Month" inputmode="numeric" size="2" autocomplete="bday-month">
      <input aria-label="Year" inputmode="numeric" size="4" autocomplete="bday-year"></div>
  </fieldset>
  <fieldset><legend>Access</legend>
    <label for="u">User name</label><input id="u" autocomplete="username" aria-describedby="u-hint"><p
  id="u-hint">a–z</p>
    <label for="p">Password</label><input id="p" type="password" autocomplete="new-password">
    <button type="button" aria-pressed="false" aria-controls="p">Show password</button>
    <label for="meter">Strength</label><meter id="meter" min="0" max="4" value="2">2 of 4</meter>
    <label for="pic">Picture</label><input type="file" id="pic" accept="image/*">
    <label for="col">Colour</label><input type="color" id="col"><label for="vol">Volume</label><input type="range"
  id="vol">
  </fieldset>
  <p id="terms">By signing up you accept our terms.</p>
  <input type="submit" value="Create account" aria-describedby="terms"><input type="reset">
</form>
<p>Already here? <a href="/login">Log in</a></p>
</main>
""",
)

SURVEY = document(
    "How was your stay?",
    """
<header role="banner"><img src="/hotel.png" alt="Hotel Lindenhof"></header>
<main aria-labelledby="h">
<h1 id="h">How was your stay?</h1>
<progress value="2" max="5" aria-label="Page 2 of 5"></progress>
<form>
  <div role="radiogroup" aria-labelledby="q1"><p id="q1">The room was clean</p>
    <div role="radio" aria-checked="false" tabindex="0">No</div>
    <div role="radio" aria-checked="true" tabindex="-1">Yes</div></div>
  <table role="grid" aria-labelledby="q2c"><caption id="q2c">Please rate</caption>
    <thead><tr><td></td><th scope="col" id="bad">Bad</th><th scope="col" id="good">Good</th></tr></thead>
    <tbody><tr><th scope="row" id="bf">Breakfast</th><td><input type="radio" name="bf" aria-labelledby="bf bad"></td>
    <td><input type="radio" name="bf" aria-labelledby="bf good"></td></tr>
    <tr><th scope="row" id="sf">Staff</th><td><input type="radio" name="sf" aria-labelledby="sf bad"></td>
    <td><input type="radio" name="sf" aria-labelledby="sf good"></td></tr></tbody></table>
  <div><span id="nps">Would you recommend us?</span><div role="slider" tabindex="0" aria-labelledby="nps"
  aria-valuemin="0"
    aria-valuemax="10" aria-valuenow="7"></div></div>
  <div role="checkbox" aria-checked="false" tabindex="0">Send me the results</div>
  <div><div id="more">Anything else?</div><div role="textbox" contenteditable="true" aria-multiline="true"
    aria-labelledby="more"></div></div>
  <button type="button" disabled>Back</button><button>Next</button>
</form>
</main>
<footer><p>Thank you.</p></footer>
""",
    head="<style>[role=slider],[role=textbox]{min-height:2rem;border:1px solid}</style>",
)

LOGIN = document(
    "Log in – Intranet",
    """
<div class="container">
  <div class="card">
    <h1>Intranet</h1>
    <div class="alert" role="alert">Wrong password.</div>
    <form>
      <div class="form-floating"><input type="email" id="m" placeholder="name@example.com"
  autocomplete="username webauthn">
        <label for="m">E-mail address</label></div>
      <div class="form-floating"><input type="password" id="pw" placeholder="Password" autocomplete="current-password">
        <label for="pw">Password</label></div>
      <div class="form-check"><input type="checkbox" id="r"><label for="r">Stay logged in</label></div>
      <input type="text" name="code" aria-label="Code of your device" autocomplete="one-time-code" inputmode="numeric">
      <button class="btn">Log in</button>
    </form>
    <hr><p><a href="/reset">Forgotten password?</a></p>
  </div>
</div>
""",
)

FILTER = document(
    "Flats to let in Leipzig",
    """
<header><a href="/">Nest</a></header>
<div role="search" aria-label="Flats">
  <div role="combobox" aria-expanded="false" aria-haspopup="listbox" aria-controls="towns" aria-label="Town"
  tabindex="0">
    Leipzig</div>
  <ul role="listbox" id="towns" aria-label="Towns" hidden><li role="option" aria-selected="true">Leipzig</li>
    <li role="option" aria-selected="false">Halle</li></ul>
  <input list="streets" aria-label="Street"><datalist id="streets"><option value="Elm Road"><option value="Oak Road">
  </datalist>
  <div role="spinbutton" aria-label="Rooms" aria-valuenow="3" aria-valuemin="1" aria-valuemax="9" tabindex="0">3</div>
  <span role="switch" aria-checked="true" tabindex="0">With balcony</span>
  <div role="group" aria-label="Floor"><button aria-pressed="true">Any</button><button
  aria-pressed="false">Ground</button></div>
</div>
<main><h1>12 flats</h1>
  <ul role="list"><li><h2>Three rooms by the park</h2><p>640 €</p><a href="/f/1">See the flat by the park</a></li>
  <li><h2>Loft</h2><p>900 €</p><a href="/f/2">See the loft</a></li></ul></main>
""",
)

TRANSFER = document(
    "Transfer – Mill Bank",
    """
<header><p>Mill Bank</p><nav aria-label="Accounts"><a href="/giro">Giro</a> <a href="/save">Savings</a></nav></header>
<main>
<h1>Transfer</h1>
<form aria-labelledby="tf"><h2 id="tf">New transfer</h2>
  <label for="to">To</label><input id="to" autocomplete="off">
  <label for="iban">IBAN</label><input id="iban" aria-invalid="true" aria-errormessage="iban-e" value="DE00">
  <p id="iban-e" role="alert">This is no IBAN.</p>
  <label for="sum">Amount in €</label><input id="sum" inputmode="decimal" aria-describedby="limit"><p
  id="limit">Up to 5,000</p>
  <label for="day">Day</label><input id="day" type="date">
  <details><summary>More options</summary><label for="ref">Reference</label><input id="ref"></details>
  <div role="toolbar" aria-label="Templates"><button type="button">Rent</button><button
  type="button">Power</button></div>
  <button>Next</button>
</form>
<div id="tip" role="tooltip">Transfers before 4 p.m. arrive today.</div>
</main>
<footer><a href="/imprint" accesskey="i">Imprint</a></footer>
""",
)

PAGES = {
    **family(
        "contact",
        CONTACT,
        trap_in_tab_order=[(' tabindex="-1"', "")],
        tabindexes=[('id="f-name"', 'id="f-name" tabindex="1"'), ('id="f-mail"', 'id="f-mail" tabindex="2"')],
        ids_twice=[('id="f-text"', 'id="f-mail"'), ('for="f-text"', 'for="f-mail"')],
        unknown_autofill=[
            ('autocomplete="email"', 'autocomplete="mail"'),
            ('autocomplete="name"', 'autocomplete="nope"'),
        ],
        untitled=[("<title>Contact – Garden Centre Hill</title>", "<title> </title>"), (' lang="en"', "")],
    ),
    **family(
        "register",
        REGISTER,
        no_names=[(' aria-label="Day"', ""), (' aria-label="Month"', ' title="Month"'), ('for="p"', 'for="pass"')],
        buttons_empty=[('value="Create account"', 'value=""'), (">Show password<", "><")],
        described_only=[
            ('<label for="u">User name</label>', ""),
            ('autocomplete="new-password"', 'autocomplete="password"'),
        ],
    ),
    **family(
        "survey",
        SURVEY,
        nameless=[(">Send me the results<", "><"), (">Yes</div>", "></div>"), (' aria-labelledby="nps"', "")],
    ),
    **family(
        "login",
        LOGIN,
        floating_labels_gone=[('<label for="m">E-mail address</label>', ""), ('<label for="pw">Password</label>', "")],
        nothing_said=[
            ('<label for="m">E-mail address</label>', ""),
            ('placeholder="name@example.com"', ""),
            ('aria-label="Code of your device"', 'aria-lable="Code of your device"'),
        ],
    ),
    **family(
        "filter",
        FILTER,
        nameless_widgets=[(' aria-label="Town"', ""), (' aria-label="Rooms"', ""), ("With balcony", "")],
    ),
    **family(
        "transfer",
        TRANSFER,
        error_elsewhere=[('id="iban-e"', 'id="iban-error"'), ("Transfers before 4 p.m. arrive today.", "")],
        summary_of_icon=[("More options", '<i class="icon"></i>'), ('accesskey="i"', 'accesskey="i" tabindex="3"')],
    ),
}
