from __future__ import annotations

import pytest

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import body, document, message, outcome, page, rows, title_of, verdict
from website_scan.accessibility.checks import forms as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Fail, Verdict, Warn
from website_scan.places import Element

NAME_ELEMENTS = "<p id=n>Name</p><p id=h hidden>Name</p><p id=e></p>"
# Attributes of a form field and the expected verdict on its accessible name.
FIELDS_NAMED_BY_ATTRIBUTES = [
    ("", "fail"),
    ("aria-label=Name", "pass"),
    ("aria-label=' '", "fail"),
    ("aria-labelledby=n", "pass"),
    ("aria-labelledby=h", "pass"),
    ("aria-labelledby='gone n'", "pass"),
    ("aria-labelledby=gone", "fail"),
    ("aria-labelledby=e", "fail"),
    ("title=Name", "pass"),
    ("title=' '", "fail"),
    ("aria-describedby=n", "fail"),
    (":aria-label=name", "warn"),
    ("class=d-none", "warn"),
    ("hidden", "n/a"),
    ("aria-hidden=true", "n/a"),
    ("style='display:none'", "n/a"),
    ("style='visibility:hidden'", "n/a"),
    ("inert", "n/a"),
]
# Markup around a native field `{}`, and the verdict on its accessible name.
FIELDS_NAMED_BY_LABEL = [
    ("<label for=f>Name</label>{}", "pass"),
    ("<label for=f></label>{}", "fail"),
    ("<label for=f> &nbsp; </label>{}", "fail"),
    ("<label for=g>Name</label>{}", "fail"),
    ("<label for=f>Name</label><p id=f></p>{}", "fail"),  # A label belongs to the first element with the ID.
    ("<label for=f>Name</label>{}<p id=f></p>", "pass"),
    ("<label for=F>Name</label>{}", "fail"),  # IDs are case-sensitive.
    ("<label>Name {}</label>", "pass"),
    ("<label>{}</label>", "fail"),
    # HTML, "labeled control": with `for`, the element with that ID; otherwise, the first labelable descendant in tree
    # order.
    ("<label for=other>Name {}</label>", "fail"),
    ("<label for=''>Name {}</label>", "fail"),
    ("<label for=f>Name {}</label>", "pass"),
    ("<label>Name <input type=hidden>{}</label>", "pass"),
    ("<label>Name <button type=button>Help</button>{}</label>", "fail"),
    ("<label>Name {}<input aria-label=Other></label>", "pass"),
    ("<label>Name <input aria-label=Other><span>{}</span></label>", "fail"),
    ("<label for=f></label><label for=f>Name</label>{}", "pass"),
    ("<label for=f hidden>Name</label>{}", "fail"),
    ("<label for=f style='display:none'>Name</label>{}", "fail"),
    ("<label for=f aria-hidden=true>Name</label>{}", "fail"),
    ("<label for=f hidden>Name</label><label>Name {}</label>", "pass"),
    ("<label for=f><span hidden>Name</span></label>{}", "fail"),
    ("<label for=f class=sr-only>Name</label>{}", "pass"),
    ("<label for=f><img src=a alt=Name></label>{}", "pass"),
    ("<label for=f><img src=a alt=''></label>{}", "fail"),
    ("<label for=f aria-label=Name></label>{}", "pass"),
    # Only the label's own text counts, not its aria-labelledby.
    ("<label for=f aria-labelledby=n></label>{}", "fail"),
    ("<label for=f title=Name></label>{}", "pass"),
    ("<label><span><b>Name</b></span> <span>{}</span></label>", "pass"),
    # The other control's value is part of the label's text.
    ("<label for=f><input aria-label=Other value=5>{}</label>", "pass"),
    ("<label><select aria-hidden=true><option>5</select>{}</label>", "fail"),
    ("<div>Name</div>{}", "fail"),
    ("<fieldset><legend>Name</legend>{}</fieldset>", "fail"),
    ("<template><label for=f>Name</label></template>{}", "fail"),
    ("<noscript><label for=f>Name</label></noscript>{}", "fail"),
    ("<details><summary>More</summary>{}</details>", "n/a"),
    ("<details><summary>More</summary><label for=f>Name</label></details>{}", "fail"),
    ("<dialog>{}</dialog>", "n/a"),
    ("<div class=modal>{}</div>", "warn"),
]
CASES: dict[str, list[tuple[str, str]]] = {
    "label": [
        ("<p>None", "n/a"),
        ("<select></select>", "n/a"),
        ("<input type=hidden>", "n/a"),
        ("<input type=image>", "n/a"),
        ("<input type=submit>", "n/a"),
        ("<input type=button>", "n/a"),
        ("<input type=checkbox>", "fail"),
        ("<input type=checkbox> <label>Gift wrap</label>", "fail"),
        ("<input type=checkbox placeholder=Name>", "pass"),  # axe-core accepts a placeholder as the name of a checkbox.
        ("<input type=password placeholder=Password>", "pass"),
        ("<input placeholder=' '>", "fail"),
        ("<textarea placeholder=Comment></textarea>", "pass"),
        ("<textarea>Comment</textarea>", "fail"),
        ("<input value=Name>", "fail"),
        ("<input role=none>", "fail"),
        ("<input role=none disabled>", "pass"),
        ("<input disabled>", "fail"),
        ("<label for=i hidden>Name</label><input id=i placeholder=Name>", "pass"),
        ("<label for=i hidden>Name</label><input id=i aria-label=Name>", "pass"),
        ("<label for=i hidden>Name</label><input id=i title=Name>", "pass"),
        ("<input><p><input aria-label=Name>", "fail"),
    ],
    "select-name": [
        ("<input>", "n/a"),
        ("<select><option>Size</select>", "fail"),
        ("<select placeholder=Size></select>", "fail"),
        ("<select role=none></select>", "fail"),
        ("<select role=none disabled></select>", "pass"),
        ("<label for=s hidden>Size</label><select id=s aria-label=Size></select>", "pass"),
    ],
    "aria-input-field-name": [
        ("<p>None", "n/a"),
        ("<div role=searchbox contenteditable>Shoes</div>", "fail"),
        ("<div role=slider aria-valuenow=3></div>", "fail"),
        ("<div role=spinbutton aria-placeholder=Number></div>", "fail"),
        ("<div role=combobox></div>", "fail"),
        ("<div role=combobox><input></div>", "n/a"),
        ("<div role=combobox><input type=hidden></div>", "fail"),
        ("<input role=combobox>", "n/a"),
        ("<select role=listbox></select>", "n/a"),
        ("<button role=combobox>Choose</button>", "n/a"),
        ("<ul role=listbox></ul>", "fail"),
        ("<ul role=listbox aria-label=Size></ul>", "pass"),
        ("<input role=combobox aria-controls=l><ul role=listbox id=l></ul>", "n/a"),
        ("<input role=combobox aria-owns='x l'><ul role=listbox id=l></ul>", "n/a"),
        ("<input aria-controls=l><ul role=listbox id=l></ul>", "fail"),
        ("<div role=combobox aria-label=Size><div><ul role=listbox></ul></div></div>", "pass"),
        ("<div role=combobox aria-label=Size><ul><li role=listbox></ul></div>", "fail"),
        ("<div role='textbox shiny'></div>", "n/a"),
        ("<label>Name <div role=textbox></div></label>", "fail"),  # A label element cannot name a div.
        ("<label for=t>Name</label><div role=textbox id=t aria-label=Name></div>", "pass"),
        ("<label for=t>Name</label><div role=textbox id=t aria-label=Other></div>", "warn"),
        ("<my-field role=textbox></my-field>", "warn"),
    ],
    "aria-toggle-field-name": [
        ("<p>None", "n/a"),
        ("<div role=checkbox></div>", "fail"),
        ("<div role=checkbox>Gift wrap</div>", "pass"),
        ("<div role=checkbox> Gift wrap <my-mark></my-mark></div>", "pass"),
        ("<div role=menuitemcheckbox><img src=a alt='Gift wrap'></div>", "pass"),
        ("<div role=menuitemradio><img src=a alt=''></div>", "fail"),
        ("<div role=radio><svg></svg></div>", "fail"),
        ("<div role=switch><span hidden>Dark</span></div>", "fail"),
        ("<ul role=listbox aria-label=Size><li role=option></ul>", "fail"),
        ("<ul role=listbox aria-label=Size><li role=option>38</ul>", "pass"),
        ("<button role=switch></button>", "n/a"),
        ("<input type=checkbox role=switch>", "n/a"),
        ("<label>Gift wrap <div role=checkbox></div></label>", "fail"),
        ("<label for=t>Wrap</label><div role=checkbox id=t>Gift wrap</div>", "pass"),
        ("<label for=t>Wrap</label><div role=checkbox id=t>Gift</div>", "warn"),
    ],
    "autocomplete-valid": [
        ("<p>None", "n/a"),
        ("<input>", "n/a"),
        ("<input autocomplete>", "n/a"),
        ("<input autocomplete=' '>", "n/a"),
        ("<form autocomplete=nope></form>", "n/a"),
        ("<input autocomplete=nope hidden>", "n/a"),
        ("<input autocomplete=nope disabled>", "n/a"),
        ("<input autocomplete=nope aria-disabled=true>", "n/a"),
        ("<input autocomplete=nope readonly>", "n/a"),
        ("<input autocomplete=nope aria-readonly=true>", "n/a"),
        ("<input autocomplete=nope type=submit>", "n/a"),
        ("<input autocomplete=nope type=BUTTON>", "n/a"),
        ("<input autocomplete=nope type=hidden>", "n/a"),
        ("<input autocomplete=nope type=checkbox>", "fail"),
        ("<input autocomplete=nope tabindex=-1>", "fail"),
        ("<input autocomplete=nope tabindex=-1 role=shiny>", "n/a"),
        ("<input autocomplete=nope tabindex=-1 role=textbox>", "fail"),
        ("<input autocomplete=nope tabindex=0 role=shiny>", "fail"),
        ("<select autocomplete=country></select>", "pass"),
        ("<textarea autocomplete=street-address></textarea>", "pass"),
        ("<textarea autocomplete=nope></textarea>", "fail"),
        ("<input class=hidden autocomplete=nope>", "warn"),
        ("<input autocomplete=email><input autocomplete=nope>", "fail"),
        ("<input autocomplete=gender><input autocomplete=nope>", "fail"),
    ]
    + [
        (f"<input autocomplete='{value}'>", expected)
        for value, expected in [
            ("on", "pass"),
            ("off", "pass"),
            (" OFF ", "pass"),
            ("none", "pass"),
            ("false", "pass"),
            ("true", "pass"),
            ("disabled", "pass"),
            ("enabled", "pass"),
            ("undefined", "pass"),
            ("null", "pass"),
            ("no", "fail"),
            ("new", "fail"),
            ("off email", "fail"),
            ("email", "pass"),
            ("E-Mail", "fail"),
            ("Email", "pass"),
            ("firstname", "fail"),
            ("given-name", "pass"),
            ("one-time-code", "pass"),
            ("current-password", "pass"),
            ("new-password", "pass"),
            ("new-password webauthn", "pass"),
            ("username webauthn", "pass"),
            ("webauthn username", "fail"),
            ("webauthn", "fail"),
            ("section-blue name", "pass"),
            ("section-blue shipping street-address", "pass"),
            ("shipping section-blue street-address", "fail"),
            ("section- name", "fail"),
            ("section-blue", "fail"),
            ("shipping", "fail"),
            ("billing cc-number", "pass"),
            ("shipping billing name", "fail"),
            ("section-red billing work tel-national", "pass"),
            ("home tel", "pass"),
            ("mobile email", "pass"),
            ("work name", "fail"),  # The token `work` is only allowed before a contact field.
            ("tel home", "fail"),
            ("home", "fail"),
            ("name email", "fail"),
            ("address-level4", "pass"),
            ("cc-csc", "pass"),
            ("bday-year", "pass"),
            ("impp", "pass"),
            ("text", "warn"),
            ("gender", "warn"),
            ("shipping message", "warn"),
        ]
    ],
    "form-field-multiple-labels": [
        ("<p>None", "n/a"),
        ("<input type=hidden>", "n/a"),
        ("<input id=f>", "pass"),
        ("<label for=f>A</label><input id=f>", "pass"),
        ("<label>A <input></label>", "pass"),
        ("<label for=f>A</label><label for=f>B</label><input id=f>", "warn"),
        ("<label for=f>A</label><label>B <input id=f></label>", "warn"),
        ("<label for=f>A <input id=f></label>", "pass"),  # The same label is associated with the field in two ways.
        ("<label for=f>A</label><label for=f hidden>B</label><input id=f>", "pass"),
        ("<label for=f>A</label><label for=f aria-hidden=true>B</label><input id=f>", "warn"),
        ("<label for=f id=l>A</label><label for=f aria-hidden=true>B</label><input id=f aria-labelledby=l>", "pass"),
        ("<label for=f id=l>A</label><label for=f>B</label><input id=f aria-labelledby=l>", "warn"),
        ("<label for=f>A</label><label for=f>B</label><select id=f></select>", "warn"),
        ("<label for=f>A</label><label for=f>B</label><textarea id=f></textarea>", "warn"),
        ("<label for=f>A</label><label for=f>B</label><button id=f></button>", "n/a"),
        ("<label for=f>A</label><label for=f>B</label><input id=f hidden>", "n/a"),
    ],
    "label-title-only": [
        ("<p>None", "n/a"),
        ("<input type=submit title=Go>", "n/a"),
        ("<input>", "pass"),
        ("<input title=Name>", "warn"),
        ("<input aria-describedby=n><p id=n>Name", "pass"),  # The check `label` reports this field.
        ("<input title=' ' aria-describedby=n><p id=n>Name", "pass"),
        ("<input title=Name aria-describedby=n><p id=n>Name", "warn"),
        ("<select title=Size></select>", "warn"),
        ("<input title=Name placeholder=Name>", "pass"),  # Sighted people see the placeholder.
        ("<input title=Name aria-label=Name>", "pass"),
        ("<input title=Name aria-labelledby=n><p id=n>Name", "pass"),
        ("<input title=Name aria-labelledby=n><p id=n hidden>Name", "warn"),
        ("<label for=f>Name</label><input title=Name id=f>", "pass"),
        ("<label for=f></label><input title=Name id=f>", "warn"),
        ("<label for=f hidden>Name</label><input title=Name id=f>", "warn"),
        ("<label>Name <input title=Name></label>", "pass"),
        ("<label for=f></label><label>Name <input id=f title=Name></label>", "pass"),
        ("<label for=f></label><label for=f>Name</label><input id=f title=Name>", "warn"),
        ("<input title=Name hidden>", "n/a"),
    ],
}
NATIVE_FIELDS = [("label", "<input id=f {}>"), ("label", "<textarea id=f {}></textarea>")]
NATIVE_FIELDS += [("select-name", "<select id=f {}><option>5</select>")]
ARIA_FIELDS = [
    ("aria-input-field-name", "<div role=textbox {}>Text</div>"),
    ("aria-input-field-name", "<div role=listbox {}>Text</div>"),
    ("aria-toggle-field-name", "<div role=switch {}></div>"),
]
for _rule, _field in NATIVE_FIELDS:
    CASES[_rule] += [
        (NAME_ELEMENTS + label_markup.format(_field.format("")), expected)
        for label_markup, expected in FIELDS_NAMED_BY_LABEL
    ]
CASES["label"] += [
    # A field's own value does not name the field.
    ("<div id=l><input value=Ada aria-labelledby=l></div>", "fail"),
    ("<div id=l><textarea aria-labelledby=l>Ada</textarea></div>", "fail"),
    ("<div id=l>Name <input value=Ada aria-labelledby=l></div>", "pass"),
    ("<div id=l><input value=5 aria-label=Hours> <input value=Ada aria-labelledby=l></div>", "pass"),
    ("<input id=l value=Ada aria-labelledby=l>", "fail"),
]
CASES["select-name"] += [
    ("<div id=l><select aria-labelledby=l><option>5</select></div>", "fail"),
    ("<div id=l>Size <select aria-labelledby=l><option>5</select></div>", "pass"),
]
for _rule, _field in NATIVE_FIELDS + ARIA_FIELDS:
    CASES[_rule] += [
        (NAME_ELEMENTS + _field.format(attributes), expected) for attributes, expected in FIELDS_NAMED_BY_ATTRIBUTES
    ]


def judge(rule: str, markup: str) -> Verdict:
    finding: Verdict = getattr(checks, rule.replace("-", "_"))(AccessibleDocument(document(page(body(markup)))))
    return finding


@pytest.mark.parametrize(
    ("rule", "markup", "expected"),
    [(rule, markup, expected) for rule, cases in CASES.items() for markup, expected in cases],
)
def test_form_check_verdict(rule: str, markup: str, expected: str) -> None:
    assert verdict(judge(rule, markup)) == expected


@pytest.mark.parametrize("value", ["xon", "xoff"])
def test_autocomplete_accepts_the_values_of_axe_core(value: str) -> None:
    assert verdict(judge("autocomplete-valid", f"<input autocomplete={value}>")) == "pass"


def test_finding_counts_faulty_elements() -> None:
    finding = judge("label", "<form id=order><input name=a><input name=b><input aria-label=C></form>")
    assert isinstance(finding, Fail)
    assert message(finding) == "2 of 3 form fields have no label."
    assert labels(finding) == [
        '<input name="a"> at #order > input:nth-of-type(1)',
        '<input name="b"> at #order > input:nth-of-type(2)',
    ]
    assert finding.places[1] == Element(
        "#order > input:nth-of-type(2)",
        '<input name="b">',
        wcag="4.1.2",
        level="A",
        ancestry="html > body > form > input",
    )


def test_label_warning_lists_its_elements() -> None:
    finding = judge("label-title-only", "<input id=f title=Name>")
    assert isinstance(finding, Warn)
    assert message(finding) == "1 form field is labelled by title or description only."
    assert [item["selector"] for item in rows(finding)] == ["#f"]


@pytest.mark.parametrize(
    "markup",
    [
        "<label>" * 2_000 + "<input>" * 2_000,
        "<label for=f>A</label>" * 2_000 + "<input id=f>",
        "<input autocomplete='" + "home " * 20_000 + "'>",
        "<div role=combobox>" * 2_000 + "<div role=listbox>",
    ],
)
def test_expensive_markup_gets_a_verdict(markup: str) -> None:
    for rule in CASES:
        assert verdict(judge(rule, markup)) != ""


@pytest.mark.parametrize(
    ("rule", "markup", "title", "text"),
    [
        (
            "aria-input-field-name",
            "<label>Comment <b role=textbox aria-label=Text>a</b></label>",
            "ARIA input fields named unlike their label",
            "1 ARIA input field has a name that does not contain the text of its label.",
        ),
        (
            "aria-toggle-field-name",
            "<label>Gift wrap <b role=checkbox aria-label=Paper>a</b></label>" * 2,
            "ARIA toggle fields named unlike their label",
            "2 ARIA toggle fields have a name that does not contain the text of their label.",
        ),
    ],
)
def test_label_mismatch_has_its_own_outcome(rule: str, markup: str, title: str, text: str) -> None:
    finding = judge(rule, markup)
    assert isinstance(finding, Warn)
    assert outcome(finding) == "unlike-label"
    assert title_of(getattr(checks, rule.replace("-", "_")), finding) == title
    assert message(finding) == text


def test_nonstandard_autocomplete_has_its_own_outcome() -> None:
    finding = judge("autocomplete-valid", "<input autocomplete=gender><input autocomplete=email>")
    assert isinstance(finding, Warn)
    assert outcome(finding) == "not-standard"
    assert message(finding) == "1 of 2 autocomplete attributes has a value that HTML does not define."
    finding = judge("autocomplete-valid", "<input autocomplete=gender><input autocomplete=nonsense>")
    assert (verdict(finding), outcome(finding)) == ("fail", "invalid")
