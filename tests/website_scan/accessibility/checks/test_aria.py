"""Tests for ARIA checks.

All rows of the tables were compared with axe-core 4.12.1 in Chromium.

A static rule's verdict may be milder than axe-core's: for rules that only warn, custom elements, framework bindings,
elements that a style sheet may hide, references on pages with scripts, and elements that axe-core reports as
incomplete although they are mostly right.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import VERDICTS, body, document, message, page, rows, severity_of, verdict
from website_scan.accessibility.checks import aria as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.wai_aria import ATTRIBUTES, ROLES
from website_scan.findings import CRITICAL, HIGH, MEDIUM, Severity
from website_scan.outcomes import Fail, Review, Verdict
from website_scan.places import Element

# Markup and expected verdict by rule ID. "review" means that a person has to judge.
CASES: dict[str, list[tuple[str, str]]] = {
    "aria-prohibited-attr": [
        ("<div role=doc-tip aria-label=x></div>", "fail"),  # axe-core does not support DPUB-ARIA roles in this rule.
        ("<div aria-label=x></div>", "fail"),
        ("<div aria-label=x>text</div>", "review"),  # Some screen readers announce the label of a div.
        ("<div aria-label=x><img alt=foo src=a></div>", "review"),
        ("<div aria-label=x><img alt='' src=a></div>", "fail"),
        ("<div aria-label=' '></div>", "pass"),
        ("<button><span aria-label=x></span></button>", "pass"),
        ("<svg><g aria-label=x></g></svg>", "fail"),
        ("<canvas aria-label=x></canvas>", "pass"),
        ("<dl aria-label=x></dl>", "pass"),
        ("<label aria-label=x></label>", "pass"),
        ("<a aria-label=x></a>", "fail"),
        ("<my-x aria-label=x></my-x>", "warn"),
        ("<i role='foo img' aria-label=x></i>", "pass"),
        ("<p role=paragraph aria-label=x>t</p>", "review"),
        ("<ul role=none aria-label=x><li>a</ul>", "pass"),
        ("<div role=none aria-label=x></div>", "fail"),
        ("<div aria-labelledby=q></div><p id=q>x", "fail"),
        ("<div aria-labelledby=q></div>", "fail"),
        ("<section aria-label=x></section>", "pass"),
        ("<div role=doc-pullquote aria-label=x></div>", "fail"),
        ("<header aria-label=x></header>", "pass"),
        ("<article><header aria-label=x></header></article>", "fail"),
        ("<input type=hidden aria-label=x>", "n/a"),
        ("<div role=grid><div role=row><div role=gridcell><b aria-label=x></b></div></div></div>", "pass"),
        ("<div aria-label=x><span aria-hidden=true>t</span></div>", "fail"),
        ("<div role=code aria-label=x></div>", "fail"),
        ("<abbr aria-label=x></abbr>", "fail"),
        ("<div aria-label=x><iframe title=a></iframe></div>", "review"),
        ("<p role=img aria-label=x></p>", "pass"),
        ("<div role=button><p aria-label=a></p></div>", "pass"),
        ("<fieldset><legend aria-label=x></legend></fieldset>", "fail"),
        ("<select><option aria-label=x>a</select>", "pass"),
        ("<div role=tablist><b aria-label=x></b></div>", "fail"),
        ("<body aria-label=x>", "pass"),
        ("<span aria-label=x x-text=y></span>", "warn"),
        ("<span :role=r aria-label=x></span>", "warn"),
        ("<div aria-label=x><my-a></my-a></div>", "warn"),
        ("<div class=modal aria-label=x></div>", "warn"),
        ("<div aria-label=x hidden></div>", "n/a"),
        ("<p>x", "n/a"),
    ],
    "aria-text": [
        ("<p role=text>a <a href=/>b</a></p>", "fail"),
        ("<p role=text>a</p>", "pass"),
        ("<p role=text>a <b tabindex=0>b</b></p>", "pass"),  # A focusable <b> without a role is not a widget.
        ("<p role=text><button tabindex=-1>b</button></p>", "fail"),
        ("<p role=text><button disabled>b</button></p>", "pass"),
        ("<p role='text foo'><button>b</button></p>", "n/a"),
        ("<p role=text hidden><button>b</button></p>", "n/a"),
        ("<p role=text><button hidden>b</button></p>", "pass"),
        ("<p role=text><b role=link tabindex=0>a</b></p>", "fail"),
        ("<p>x", "n/a"),
    ],
    "aria-braille-equivalent": [
        ("<img aria-braillelabel=x alt='' src=a>", "review"),
        ("<img aria-braillelabel=x alt=y src=a>", "pass"),
        ("<p aria-braillelabel=x>a</p>", "pass"),
        ("<p aria-braillelabel=''></p>", "pass"),
        ("<p aria-brailleroledescription=x>", "review"),
        ("<p aria-brailleroledescription=x aria-roledescription=y>", "pass"),
        ("<p aria-brailleroledescription=x aria-roledescription=' '>", "review"),
        ("<button aria-braillelabel=x>t</button>", "pass"),
        ("<button aria-braillelabel=x></button>", "review"),
        ("<p aria-braillelabel hidden></p>", "n/a"),
        ("<p>x", "n/a"),
        ("<svg aria-braillelabel=x></svg>", "review"),
        ("<article aria-braillelabel=x>a</article>", "review"),
    ],
    "aria-hidden-body": [
        ("<body aria-hidden=true>", "fail"),
        ("<body aria-hidden=TRUE>", "pass"),
        ("<body>", "pass"),
        ("<body aria-hidden>", "pass"),
    ],
    "aria-hidden-focus": [
        ("<p aria-hidden=true><a href=/>x</a>", "warn"),
        ("<p aria-hidden=true><a href=/ tabindex=-1>x</a>", "pass"),
        ("<p aria-hidden=true>x", "pass"),
        ("<p aria-hidden=true hidden><a href=/>x</a>", "pass"),
        ("<p aria-hidden=true><input disabled>", "pass"),
        ("<a aria-hidden=true href=/>x</a>", "warn"),
        ("<p aria-hidden=true><i aria-hidden=true><a href=/>x</a></i>", "warn"),
        ("<p aria-hidden=TRUE><a href=/>x</a>", "n/a"),
        ("<dialog open>q</dialog><p aria-hidden=true><a href=/>x</a>", "pass"),  # An open dialog may cover the link.
        ("<p aria-hidden=true><iframe src=a></iframe>", "pass"),
        ("<p aria-hidden=true><i inert><a href=/>x</a></i>", "pass"),
        ("<p aria-hidden=true style='visibility:hidden'><a href=/>x</a>", "pass"),
        ("<p aria-hidden=true><map name=a><area href=/></map>", "warn"),
        ("<div aria-hidden=true><div contenteditable>a</div></div>", "pass"),
        ("<p aria-hidden=true><b onfocus='x()' tabindex=0>", "pass"),  # The script may move the focus away.
        ("<p aria-hidden=true style='display:none'><a href=/>x</a>", "pass"),
        ("<div aria-hidden=true><details>a</details></div>", "warn"),
        ("<div role=dialog>q</div><p aria-hidden=true><a href=/>x</a>", "pass"),
        ("<div role=dialog hidden>q</div><p aria-hidden=true><a href=/>x</a>", "warn"),
        ("<div role=dialog></div><p aria-hidden=true><a href=/>x</a>", "pass"),
        ("<div aria-modal=true>q</div><p aria-hidden=true><input></p>", "pass"),
        ("<p>x", "n/a"),
        ("<p aria-hidden=true class=modal><a href=/>x</a>", "pass"),  # A style sheet may hide the link.
        ("<div class=modal role=dialog></div><p aria-hidden=true><a href=/>x</a>", "warn"),
        ("<p aria-hidden=true><a>x</a>", "pass"),
        ("<p aria-hidden=true><input type=hidden>", "pass"),
    ],
    "aria-conditional-attr": [
        ("<table><tr aria-expanded=true><td>a</table>", "warn"),
        ("<table role=treegrid><tr aria-expanded=true><td>a</table>", "pass"),
        ("<table role=grid><tr aria-level=1><td>a</table>", "warn"),
        ("<div role=row aria-level=1></div>", "pass"),
        ("<input type=checkbox aria-checked=true>", "warn"),
        ("<input type=checkbox aria-checked=true checked>", "pass"),
        ("<input type=checkbox aria-checked=false>", "pass"),
        ("<input type=checkbox aria-checked=mixed>", "warn"),
        ("<input type=radio aria-checked=true>", "warn"),
        ("<input type=radio aria-checked=mixed>", "pass"),
        ("<input type=checkbox role=switch aria-checked=true>", "pass"),
        ("<input type=checkbox aria-checked=''>", "pass"),
        ("<p>x", "n/a"),
        ("<p aria-label=x>x", "pass"),
        ("<div role=table><div role=row aria-setsize=3></div></div>", "warn"),
        ("<table role=none><tr aria-expanded=true><td>a</table>", "pass"),
        ("<input type=checkbox aria-checked=FALSE checked>", "warn"),
        ("<table><tr class=modal aria-expanded=true><td>a</table>", "pass"),
        ("<input type=checkbox aria-checked=true :checked=on>", "pass"),
        ("<table><tr aria-selected=true><td>a</table>", "pass"),
    ],
    "duplicate-id-aria": [
        ("<p id=a><p id=a><b aria-labelledby=a>", "review"),
        ("<label for=a>x</label><input id=a><p id=a>", "review"),
        ("<p id=a><p id=a>", "n/a"),  # No label or ARIA attribute refers to the repeated ID.
        ("<p id=a><b aria-labelledby=a>", "pass"),
        ("<p id=a hidden><p id=a><b aria-labelledby='b a'>", "review"),
        ("<p id=' a'><p id=a><b aria-labelledby='a'>", "pass"),
        ("<p id=a><p id=a><b aria-details=a>", "review"),
        ("<p id=a><p id=a><b aria-details='a b'>", "review"),
        ("<b hidden aria-labelledby=a></b><p id=a><p id=a>", "review"),
        # A link with the repeated ID as its URL fragment does not count as a reference.
        ("<a href='#a'>x</a><p id=a><p id=a>", "n/a"),
        ("<p id=a><p id=A><b aria-labelledby=a>", "pass"),
        ("<p>x", "n/a"),
        ("<label for=a>x</label><input id=a>", "pass"),
        ("<label for>x</label><p id><p id>", "n/a"),
    ],
    "presentation-role-conflict": [
        ("<img alt='' src=a>", "pass"),
        ("<img alt='' aria-label=a src=a>", "fail"),
        ("<img alt='' tabindex=0 src=a>", "fail"),
        ("<img alt='' aria-hidden=true src=a>", "n/a"),
        ("<img alt='' aria-hidden=false src=a>", "fail"),
        ("<div role=none tabindex=0>", "n/a"),
        ("<ul role=none><li>a</ul>", "pass"),
        ("<button role=none>a</button>", "fail"),
        ("<a role=none href=/>a</a>", "fail"),
        ("<a role=none tabindex=0>a</a>", "n/a"),
        ("<ul role='none foo' tabindex=0></ul>", "n/a"),
        ("<ul role=NONE tabindex=0></ul>", "n/a"),
        ("<ul role=presentation aria-label=x></ul>", "fail"),
        ("<section role=none aria-label=x></section>", "fail"),
        ("<section role=none tabindex=0></section>", "n/a"),
        ("<svg role=none tabindex=0></svg>", "fail"),
        ("<canvas role=none tabindex=0></canvas>", "fail"),
        ("<p role=none aria-busy=true>", "n/a"),
        ("<li role=none aria-level=1>a", "pass"),
        ("<header role=none tabindex=0></header>", "fail"),
        ("<article><header role=none tabindex=0></header></article>", "n/a"),
        ("<td role=none>", "n/a"),
        ("<p>x", "n/a"),
        ("<button role=none disabled>a</button>", "pass"),  # Disabled buttons are not focusable.
        ("<fieldset disabled><button role=none>a</button></fieldset>", "pass"),
        ("<video controls role=none></video>", "pass"),  # axe-core does not treat a video as focusable.
        ("<ul role=none class=modal tabindex=0></ul>", "warn"),
    ],
    "aria-deprecated-role": [
        ("<div role=directory>", "fail"),
        ("<li role=doc-endnote>", "fail"),
        ("<div role='foo directory'>", "fail"),
        ("<div role=button>", "pass"),
        ("<div role=''>", "n/a"),
        ("<div role=none tabindex=0>", "pass"),
        ("<p>x", "n/a"),
        ("<div role=foo>", "pass"),
        ("<div role=directory :role=r>", "warn"),
    ],
    "aria-roles": [
        ("<p role=foo>", "fail"),
        ("<p role='foo button'>", "pass"),
        ("<p role=''>", "n/a"),
        ("<p role=' '>", "n/a"),
        ("<p role=widget>", "fail"),
        ("<p role='widget button'>", "fail"),
        ("<p role=BUTTON>", "pass"),
        ("<p role=doc-toc>", "pass"),
        ("<p role=none>", "pass"),
        ("<p role=text>", "pass"),
        ("<p role=image>", "fail"),
        ("<p role=foo hidden>", "n/a"),
        ("<p role='{{r}}'>", "warn"),
        ("<p>x", "n/a"),
        ("<p role=WIDGET>", "pass"),
        ("<my-a role=foo>", "warn"),  # A custom element may set its role itself.
        ("<p :role=r role=foo>", "warn"),
        ("<p class=modal role=foo>", "warn"),
        ("<p role=generic>", "fail"),  # Like axe-core, the check forbids authors to use the role generic.
        ("<svg><g role=foo></g></svg>", "fail"),
    ],
    "aria-required-attr": [
        ("<div role=checkbox>", "fail"),
        ("<div role=checkbox aria-checked=''>", "fail"),
        ("<div role=checkbox aria-checked=false>", "pass"),
        ("<input type=checkbox role=switch>", "pass"),
        ("<input type=button role=switch>", "fail"),
        ("<hr role=separator tabindex=0>", "fail"),
        ("<hr role=separator>", "pass"),
        ("<div role=combobox>", "fail"),
        ("<div role=combobox aria-expanded=false>", "pass"),  # A closed combobox controls nothing.
        ("<div role=combobox aria-expanded=true>", "fail"),
        ("<div role=combobox aria-expanded=true aria-controls=x>", "pass"),
        ("<div role=slider aria-valuetext=x>", "pass"),
        ("<div role=slider>", "fail"),
        ("<input role=slider type=range>", "pass"),
        ("<h2 role=heading>a</h2>", "pass"),
        ("<div role=heading>a</div>", "fail"),
        ("<div role='heading foo'>a</div>", "pass"),
        ("<select role=combobox></select>", "fail"),
        ("<input role=combobox>", "fail"),
        ("<input type=radio role=menuitemradio>", "pass"),
        ("<div role=button>", "pass"),
        ("<p>x", "n/a"),
        ("<div role=foo>", "pass"),
        ("<div role=meter>", "fail"),
        ("<progress role=meter></progress>", "pass"),
        ("<div role=scrollbar aria-valuenow=1>", "pass"),
        ("<my-a role=checkbox>", "warn"),
        ("<div role=checkbox :aria-checked=on>", "warn"),
        ("<div role=checkbox x-bind:aria-checked=on>", "warn"),
        ("<div role=checkbox ng-attr-aria-checked=on>", "warn"),
        ("<div role=checkbox v-bind=all>", "warn"),
        ("<div role=checkbox aria-checked='{{on}}'>", "pass"),
        ("<div role=checkbox class=modal>", "warn"),
        ("<div role=checkbox :aria-label=on>", "fail"),
    ],
    "aria-required-parent": [
        ("<div role=listitem>a", "warn"),
        ("<ul><li role=listitem>a</ul>", "pass"),
        ("<ul role=none><li role=listitem>a</ul>", "warn"),
        ("<div role=list><div role=listitem>a</div></div>", "pass"),
        ("<div role=list><p><b role=listitem>a</b></p></div>", "pass"),
        ("<div role=list><article><b role=listitem>a</b></article></div>", "warn"),
        ("<div role=tab>", "warn"),
        ("<div role=tree><div role=group><div role=treeitem>a</div></div></div>", "pass"),
        ("<div role=treeitem><div role=group><div role=treeitem>a</div></div></div>", "warn"),
        ("<div role=group><div role=treeitem>a</div></div>", "warn"),
        ("<div role=menu><div role=group><div role=menuitem>a</div></div></div>", "pass"),
        ("<div role=group><div role=menuitem>a</div></div>", "warn"),
        ("<div role=list aria-owns=x></div><div role=listitem id=x>", "pass"),
        ("<div role=list aria-owns=x></div><div id=x><b role=listitem>a</b></div>", "pass"),
        ("<div role=list aria-owns='y'></div><div id=x><b role=listitem>a</b></div>", "warn"),
        ("<p>x", "n/a"),
        ("<li role=listitem>a", "warn"),
        ("<table><tr role=row><td>a</table>", "pass"),
        ("<div role=tablist><my-a><div role=tab>a</div></my-a></div>", "pass"),
        ("<my-a><div role=tab>a</div></my-a>", "pass"),  # A custom element may have any role, such as tablist.
        ("<div role=none><div role=none><div role=tab>a</div></div></div>", "warn"),
        ("<select><option role=option>a</select>", "warn"),
        ("<div role=tab class=modal>", "pass"),
        ("<div role=tab hidden>", "n/a"),
        ("<div role=tab :role=r>", "pass"),
        ("<div role=tree><div role=group><div role=group><div role=treeitem>a</div></div></div></div>", "pass"),
    ],
    "aria-allowed-role": [
        ("<a href=/ role=button>a</a>", "pass"),
        ("<a href=/ role=heading>a</a>", "warn"),
        ("<a role=heading>a</a>", "pass"),
        ("<button role=heading>a</button>", "warn"),
        ("<button role=button>a</button>", "pass"),
        ("<h1 role=button>a</h1>", "warn"),
        ("<h1 role=none>a</h1>", "pass"),
        ("<img alt='' src=a role=button>", "warn"),
        ("<img alt=x src=a role=button>", "pass"),
        ("<img src=a role=button>", "warn"),
        ("<img src=a title=x role=button>", "pass"),
        ("<img alt='' src=a role=presentation>", "pass"),
        ("<input role=combobox>", "pass"),
        ("<input list=x role=combobox>", "warn"),
        ("<input type=checkbox role=button>", "warn"),
        ("<input type=checkbox aria-pressed=true role=button>", "pass"),
        ("<input type=file role=button>", "warn"),
        ("<select role=menu></select>", "pass"),
        ("<select multiple role=menu></select>", "warn"),
        ("<select size=1 role=listbox></select>", "warn"),
        ("<div role='foo'>a</div>", "n/a"),
        ("<div role='foo button'>a</div>", "pass"),
        ("<my-a role=button>a</my-a>", "pass"),
        ("<svg><path role=button></path></svg>", "pass"),
        ("<li role=doc-endnote>a", "pass"),
        ("<div role=doc-endnote>a", "warn"),
        ("<header role=banner>a</header>", "pass"),
        ("<article><header role=banner>a</header></article>", "pass"),
        ("<body role=application>", "warn"),
        ("<a href=/ role=doc-backlink>a</a>", "pass"),
        ("<a role=doc-backlink>a</a>", "warn"),
        ("<div role=doc-cover>a</div>", "warn"),
        ("<h1 role=button hidden>a</h1>", "n/a"),
        ("<h1 role=none hidden>a</h1>", "n/a"),
        ("<ul role='list none'></ul>", "pass"),
        ("<nav role=button></nav>", "warn"),
        ("<section role=region>a</section>", "warn"),
        ("<section role=region aria-label=a>a</section>", "pass"),
        ("<figure role=img>a</figure>", "pass"),
        ("<iframe role=presentation></iframe>", "pass"),
        ("<p>x", "n/a"),
        ("<table role=presentation></table>", "pass"),
        ("<meter role=meter></meter>", "pass"),
        ("<summary role=button>a</summary>", "pass"),
        ("<details><summary role=link>a</summary></details>", "warn"),
        ("<label role=none>a</label>", "warn"),
        ("<td role=cell>", "n/a"),
        ("<area href=/ role=link>", "pass"),
        ("<form role=search></form>", "pass"),
        ("<input type=foo role=searchbox>", "pass"),
        ("<input type=' checkbox' role=searchbox>", "pass"),
        ("<h1 role=button class=modal>a</h1>", "pass"),
        ("<h1 role=button :role=r>a</h1>", "pass"),
        ("<foo role=doc-backlink>a</foo>", "pass"),
    ],
    "aria-allowed-attr": [
        ("<div aria-checked=true>", "fail"),
        ("<div aria-label=a>", "pass"),
        ("<div role=button aria-checked=true>", "fail"),
        ("<input type=checkbox aria-checked=true>", "pass"),
        ("<a aria-expanded=true>a</a>", "fail"),
        ("<a href=/ aria-expanded=true>a</a>", "pass"),
        ("<div aria-required=false>", "pass"),  # An ARIA attribute with the value false has no effect.
        ("<div aria-required=true>", "fail"),
        ("<div contenteditable aria-multiline=false>", "pass"),
        ("<div contenteditable aria-multiline=true>", "fail"),
        ("<my-a aria-checked=true>", "review"),
        ("<my-a tabindex=0 aria-checked=true>", "warn"),
        ("<svg><g aria-checked=true></g></svg>", "review"),
        ("<br aria-label=x>", "fail"),
        ("<br aria-hidden=false>", "pass"),
        ("<wbr aria-hidden=true>", "n/a"),
        ("<wbr role=none aria-label=x>", "pass"),
        ("<div role=doc-endnote aria-level=1>", "fail"),  # axe-core does not support DPUB-ARIA roles in this rule.
        ("<div role='button foo' aria-pressed=true>", "fail"),
        ("<p>x", "n/a"),
        ("<div aria-foo=1>", "pass"),
        ("<th aria-sort=none>", "n/a"),
        ("<table><tr><th aria-sort=none>a<td>b</table>", "pass"),
        ("<table><tr><td aria-sort=none>a<td>b</table>", "fail"),
        ("<table role=none><tr><td aria-colspan=2>a<td>b</table>", "fail"),
        ("<table role=grid><tr><td aria-selected=true>a<td>b</table>", "pass"),
        ("<table><tr><td aria-selected=true>a<td>b</table>", "fail"),
        ("<aside aria-expanded=true>a</aside>", "pass"),
        ("<form aria-expanded=true></form>", "fail"),
        ("<form aria-expanded=true aria-label=x></form>", "pass"),
        ("<input type=range aria-valuemax=3>", "pass"),
        ("<input type=search aria-placeholder=3>", "pass"),
        ("<img alt='' aria-level=3 src=a>", "fail"),
        ("<ul role=none aria-level=1><li aria-level=2>a</ul>", "fail"),
        ("<select aria-multiselectable=true multiple></select>", "pass"),
        ("<select aria-multiselectable=true></select>", "fail"),
        ("<select aria-orientation=vertical size=3></select>", "pass"),
        ("<input list=d aria-expanded=true><datalist id=d></datalist>", "pass"),
        ("<input aria-expanded=true>", "fail"),
        ("<summary aria-expanded=true>a</summary>", "pass"),
        ("<li aria-setsize=3>", "pass"),
        ("<option aria-selected=true>", "pass"),
        ("<meter aria-valuenow=1></meter>", "pass"),
        ("<h2 aria-level=3>a</h2>", "pass"),
        ("<div role=none tabindex=0 aria-level=1>", "fail"),
        ("<video aria-expanded=true controls></video>", "fail"),
        ("<body aria-expanded=true>", "pass"),
        ("<div :role=r aria-checked=true>", "warn"),
        ("<a :href=h aria-expanded=true>a</a>", "warn"),
        ("<div class=modal aria-checked=true>", "warn"),
        ("<svg><g tabindex=0 aria-checked=true></g></svg>", "fail"),
        ("<div role=graphics-symbol aria-expanded=true>", "fail"),
    ],
    "aria-valid-attr": [
        ("<p aria-lable=x>", "fail"),
        ("<p aria-label=x>", "pass"),
        ("<p>x", "n/a"),
        ("<p aria-='x'>", "fail"),
        ("<p ARIA-LABEL=x>", "pass"),
        ("<p aria-description=x>", "pass"),
        ("<p aria-role=x hidden>", "n/a"),
        ("<my-a aria-foo=x>", "fail"),
        # The framework Aurelia replaces the attribute aria-label.bind when its binding runs.
        ("<p aria-label.bind=x>", "warn"),
        ("<p aria-label$=x>", "warn"),
        ("<p aria-label$=x aria-lable=x>", "fail"),
        ("<p class=d-none aria-lable=x>", "warn"),
    ],
    "aria-required-children": [
        ("<ul role=menubar><li role=none><a role=menuitem href=/>a</a></ul>", "pass"),
        ("<ul role=menubar><li><a role=menuitem href=/>a</a></ul>", "warn"),
        ("<div role=list></div>", "pass"),  # Scripts may fill the list later.
        ("<div role=list>a</div>", "warn"),
        ("<div role=list><img alt='x' src=a></div>", "warn"),
        ("<div role=list><span></span></div>", "pass"),
        ("<div role=row></div>", "warn"),
        ("<div role=feed></div>", "warn"),
        ("<div role=list><div role=group><div role=listitem>a</div></div></div>", "warn"),
        ("<div role=tree><div role=group><div role=treeitem>a</div></div></div>", "pass"),
        ("<div role=list aria-owns=x></div><div role=listitem id=x>a</div>", "pass"),
        ("<div role=list><b hidden role=button></b><i role=listitem>a</i></div>", "pass"),
        ("<div role=list><my-item></my-item></div>", "pass"),  # A custom element may set its own role.
        ("<div role=list aria-busy=true></div>", "pass"),
        ("<div role=list aria-busy=true><a href=/>a</a></div>", "warn"),
        ("<ul role=listbox></ul>", "pass"),
        ("<ul role=list><li>a</ul>", "pass"),
        ("<div role=list><p><i role=listitem>a</i></p></div>", "pass"),
        ("<div role=list><p tabindex=0><i role=listitem>a</i></p></div>", "warn"),
        ("<div role=tablist><div role=tab>a</div><button>x</button></div>", "warn"),
        ("<div role=list><div role=none><i role=listitem>a</i></div></div>", "pass"),
        ("<div role=table><div role=rowgroup><div role=row><b role=cell>a</b></div></div></div>", "pass"),
        ("<table role=grid><tr><td role=gridcell>a</table>", "pass"),
        ("<div role='list foo'>x</div>", "n/a"),
        ("<div role=list><i role=listitem>a</i> text</div>", "pass"),
        ("<div role=doc-bibliography>a</div>", "n/a"),
        ("<div role=list><div aria-owns=x></div></div><div role=listitem id=x>a</div>", "warn"),
        ("<div role=suggestion></div>", "warn"),
        ("<div role=rowgroup></div>", "pass"),
        ("<div role=list><br></div>", "pass"),
        ("<div role=list><svg></svg></div>", "pass"),
        ("<p>x", "n/a"),
        ("<div role=list class=modal>a</div>", "pass"),
        ("<div role=list :role=r>a</div>", "pass"),
        ("<div role=list hidden>a</div>", "n/a"),
        ("<div role=list><my-item role=listitem>a</my-item></div>", "pass"),
        ("<table role=table><tr><td>a</table>", "pass"),
    ],
    "aria-valid-attr-value": [
        ("<div role=heading aria-level=7>a</div>", "review"),
        ("<div role=heading aria-level=7.5>a</div>", "fail"),
        ("<div role=heading aria-level=0>a</div>", "fail"),
        ("<a href=/ aria-details=' x '>a</a><p id=x>", "pass"),
        ("<input aria-invalid=true aria-errormessage=e><p id=e>no", "fail"),
        ("<input aria-invalid=true aria-errormessage=e><p id=e role=alert>no", "pass"),
        ("<input aria-invalid=true aria-errormessage='e f'><p id=e role=alert>no", "fail"),
        ("<input aria-invalid=true aria-errormessage='e'>", "review"),
        ("<input aria-invalid='' aria-errormessage='e'><p id=e>no", "fail"),
        ("<input aria-invalid=true aria-errormessage=e aria-describedby=e><p id=e>no", "pass"),
        ("<input aria-invalid=true aria-errormessage=e aria-describedby=e><p id=e hidden>no", "fail"),
        ("<button aria-expanded=''>a</button>", "review"),
        ("<button aria-controls=x>a</button>", "fail"),
        ("<button aria-haspopup=true aria-controls=x>a</button>", "pass"),  # Scripts may add the pop-up later.
        ("<button aria-haspopup=true aria-controls=x>a</button><p id=x>", "pass"),
        ("<button aria-haspopup aria-controls=x>a</button>", "pass"),
        ("<button aria-expanded=false aria-controls=x>a</button>", "pass"),
        ("<div aria-owns=x>a</div>", "fail"),
        ("<div aria-owns=x aria-expanded=false>a</div>", "pass"),
        ("<div role=slider aria-valuenow=.>a</div>", "fail"),
        ("<div role=slider aria-valuenow=5.>a</div>", "pass"),
        ("<div role=slider aria-valuenow=1e3>a</div>", "fail"),
        ("<div aria-relevant='text ALL'>", "fail"),
        ("<div aria-live=POLITE>", "pass"),
        ("<div aria-live=' polite'>", "fail"),
        ("<div aria-live=rude>", "fail"),
        ("<div aria-hidden='{{x}}'>a</div>", "warn"),
        ("<div aria-foo=1>", "pass"),
        ("<div aria-current=yes>", "review"),
        ("<div aria-describedby=x>", "review"),
        ("<div aria-labelledby=x>", "review"),
        ("<input role=combobox aria-activedescendant=x>", "fail"),
        ("<div aria-atomic=yes>", "fail"),
        ("<div role=row aria-setsize=-1>", "pass"),
        ("<div role=row aria-setsize=-2>", "fail"),
        ("<div aria-label=''>", "pass"),
        ("<div aria-valuetext=''>", "pass"),
        ("<div aria-haspopup=''>", "pass"),
        ("<div aria-haspopup='menu1'>", "fail"),
        ("<button aria-expanded=yes>a</button>", "fail"),
        ("<button aria-expanded='{{open}}'>a</button>", "warn"),
        ("<button aria-expanded=yes :aria-expanded=open>a</button>", "warn"),
        ("<script src=a></script><button aria-controls=x>a</button>", "warn"),  # A script may create the element #x.
        # Browsers do not execute JSON data.
        ("<script type=application/json>{}</script><button aria-controls=x>a</button>", "fail"),
        ("<script src=a></script><button aria-controls=x aria-pressed=yes>a</button>", "fail"),
        ("<button aria-selected=false aria-controls=x>a</button>", "pass"),
        ("<div role=row aria-setsize=" + "1" * 5_000 + ">", "pass"),
        ("<input aria-errormessage=e>", "pass"),
        ("<div aria-flowto='x y'></div><p id=y>", "pass"),
        ("<div aria-rowspan=0>", "pass"),
        ("<div aria-colcount=-1>", "pass"),
        ("<div aria-colcount=1.5>", "fail"),
        ("<div aria-valuenow=-.5>", "pass"),
        ("<p>x", "n/a"),
    ],
}


def judge(rule: str, markup: str) -> Verdict:
    served_page = page(f"<!doctype html><title>A page</title>{markup}" if markup.startswith("<body") else body(markup))
    finding: Verdict = getattr(checks, rule.replace("-", "_"))(AccessibleDocument(document(served_page)))
    return finding


@pytest.mark.parametrize(
    ("rule", "markup", "expected"),
    [(rule, markup, expected) for rule, cases in CASES.items() for markup, expected in cases],
)
def test_aria_check_verdict(rule: str, markup: str, expected: str) -> None:
    finding = judge(rule, markup)
    assert ("review" if isinstance(finding, Review) else verdict(finding)) == expected


def test_finding_lists_the_first_elements() -> None:
    finding = judge("aria-valid-attr", "<p id=p aria-lable=a><b aria-label=b></b>" + "<i aria-rol=x></i>" * 3)
    assert isinstance(finding, Fail)
    assert message(finding) == (
        "4 of 5 elements with ARIA attributes have one that does not exist (aria-lable, aria-rol)."
    )
    assert labels(finding)[0] == '<p id="p" aria-lable="a"> at #p'
    assert len(finding.places) == 4
    assert finding.places[0] == Element(
        "#p", '<p id="p" aria-lable="a">', wcag="4.1.2", level="A", ancestry="html > body > p"
    )


def test_best_practice_has_no_WCAG_criterion() -> None:
    finding = judge("presentation-role-conflict", "<ul role=none tabindex=0></ul>")
    assert isinstance(finding, Fail)
    assert [item.keys() for item in rows(finding)] == [{"selector", "snippet"}]


def test_long_list_of_fault_names_is_shortened() -> None:
    finding = judge("aria-roles", "".join(f"<p role=r{number}>" for number in range(9)))
    assert "(r0, r1, r2, r3, r4 and 4 more)" in message(finding)


def test_braces_in_a_role_are_no_placeholders() -> None:
    assert "({0}{x})" in message(judge("aria-roles", "<p role='{0}{x}'>"))


def test_definite_faults_are_listed_first() -> None:
    finding = judge("aria-required-attr", "<b id=a role=switch :aria-checked=on></b><b id=b role=switch></b>")
    assert isinstance(finding, Fail)
    assert [item["selector"] for item in rows(finding)] == ["#b"]


@pytest.mark.parametrize(
    ("rule", "markup", "severity"),
    [
        ("aria-roles", "<p role=x>", CRITICAL),
        ("aria-roles", "<nav role=x>", MEDIUM),
        ("aria-roles", "<nav role=x></nav><p role=x>", CRITICAL),
        ("aria-required-attr", "<p role=checkbox>", CRITICAL),
        ("aria-required-attr", "<p role=heading>", MEDIUM),
        ("aria-required-children", "<ul role=tablist><li>A</ul>", HIGH),
        ("aria-required-children", "<ul role=tablist><li><a role=tab>A</a></ul>", MEDIUM),
    ],
)
def test_mild_fault_has_medium_severity(rule: str, markup: str, severity: Severity) -> None:
    assert severity_of(getattr(checks, rule.replace("-", "_")), judge(rule, markup)) is severity


def test_cases_cover_the_verdicts_of_every_rule() -> None:
    for rule, cases in CASES.items():
        verdicts = {expected for _, expected in cases}
        assert "pass" in verdicts, rule
        assert verdicts & {"fail", "warn", "review"}, rule
        assert "n/a" in verdicts or rule == "aria-hidden-body", rule


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["div", "input", "td", "my-a", "svg", "title", "area", "b:c", "select", "x\u00e4", "li"]),
            st.sampled_from(["role", "id", "tabindex", "aria-", "size", "type", ":role", "list", *sorted(ATTRIBUTES)]),
            st.one_of(st.sampled_from(["", "a b", "{{x}}", "99999999999999999999", *sorted(ROLES)]), st.text()),
        ),
        max_size=12,
    )
)
@settings(deadline=None)
def test_random_markup_always_gets_a_verdict(elements: list[tuple[str, str, str]]) -> None:
    markup = "".join(f"<{tag} {name}='{value.replace(chr(39), '')}'>" for tag, name, value in elements)
    for rule in CASES:
        assert verdict(judge(rule, markup)) in VERDICTS.values()


@pytest.mark.parametrize(
    "markup",
    [
        "<div role=list aria-label=x>" * 3_000,
        "<p role=text aria-hidden=true><b>" * 2_000,
        "<div id=a>" + "<b>x</b>" * 5_000 + "</div>" + "<div role=list aria-owns=a></div>" * 5_000,
        "<p id=x aria-owns=y role=list><p id=y aria-owns=x role=listitem>" * 500,
    ],
)
def test_expensive_markup_gets_a_verdict(markup: str) -> None:
    for rule in CASES:
        assert verdict(judge(rule, markup)) in VERDICTS.values()


SHEET = "<link rel=stylesheet href=/a.css>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"{SHEET}<a class=anchor aria-hidden=true href=#a>#</a>", "Review"),
        (f"{SHEET}<div id=menu aria-hidden=true><a href=/>x</a></div>", "Review"),
        (f"{SHEET}<div aria-hidden=true><p class=a><a href=/>x</a></p></div>", "Review"),
        # The link has no class or ID, so no style sheet is likely to hide it.
        (f"{SHEET}<a aria-hidden=true href=#a>#</a>", "Warn"),
        (f"{SHEET}<div class=a><a aria-hidden=true href=#a>#</a></div>", "Warn"),
        (f"{SHEET}<p aria-hidden=true><a class=a href=/>x</a><a href=/>y</a></p>", "Warn"),
        ("<a class=anchor aria-hidden=true href=#a>#</a>", "Warn"),
        ("<style>a{color:red}</style><a class=anchor aria-hidden=true href=#a>#</a>", "Warn"),
        ("<style>.anchor{display:none}</style><a class=anchor aria-hidden=true href=#a>#</a>", "Pass"),
    ],
)
def test_possibly_hidden_link_needs_a_review(markup: str, expected: str) -> None:
    assert type(judge("aria-hidden-focus", markup)).__name__ == expected
