from __future__ import annotations

import pytest

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import VERDICTS, body, document, message, outcome, page, rows, verdict
from website_scan.accessibility.checks import structure as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Fail, Fix, Review, Verdict, Warn

LISTS = [
    ("<p>None", "n/a"),
    ("<ul><li>a</ul>", "pass"),
    ("<ol><li>a</ol>", "pass"),
    ("<ul></ul>", "pass"),
    ("<ul>  \n<li>a\n<!-- b --></ul>", "pass"),
    ("<ul>&#xFEFF;<li>a</ul>", "pass"),  # Some editors insert a byte order mark.
    ("<ul>text<li>a</ul>", "fail"),
    ("<ul>&nbsp;<li>a</ul>", "pass"),
    ("<ul><div><li>a</div></ul>", "fail"),
    ("<ul><li>a</li><br></ul>", "fail"),
    ("<ul><a href=/>a</a></ul>", "fail"),
    ("<ul><ul><li>a</ul></ul>", "fail"),
    ("<ul><script>1</script><template><p>a</template><style></style><li>a</ul>", "pass"),
    ("<ul><noscript><p>a</noscript><li>a</ul>", "pass"),
    ("<ul><div hidden>x</div><li>a</ul>", "pass"),
    ("<ul><div aria-hidden=true>x</div><li>a</ul>", "pass"),
    ("<ul><div class=dropdown-divider></div><li>a</ul>", "warn"),
    ("<ul><div role=listitem>x</div></ul>", "pass"),
    ("<ul><li role=presentation>a</ul>", "fail"),
    ("<ul><li role=none>a</ul>", "fail"),
    ("<ul><li role=menuitem>a</ul>", "fail"),
    ("<ul><li role=doc-endnote>a</ul>", "pass"),  # A DPUB-ARIA role does not remove the list item.
    ("<ul><li role=shiny>a</ul>", "pass"),
    ("<ul role=menu><li role=menuitem>a</ul>", "n/a"),
    ("<ul role=list><p>a</ul>", "n/a"),
    ("<ul role><p>a</ul>", "fail"),
    ("<ul hidden><p>a</ul>", "n/a"),
    ("<ul class=dropdown><p>a</ul>", "warn"),
    ("<ul><my-item>a</my-item></ul>", "warn"),  # A custom element may set its own role.
    ("<ul>{{#each items}}<li>a</li>{{/each}}</ul>", "warn"),
    ("<ul>{% for each in items %}<p>a</p></ul>", "fail"),
    ("<menu><p>a</menu>", "n/a"),
]
LIST_ITEMS = [
    ("<p>None", "n/a"),
    ("<ul><li>a</ul>", "pass"),
    ("<ol><li>a</ol>", "pass"),
    ("<menu><li>a</menu>", "pass"),
    ("<li>a", "fail"),
    ("<div><li>a</div>", "fail"),
    ("<ul><div><li>a</div></ul>", "fail"),
    ("<div role=list><li>a</div>", "pass"),
    ("<div role=none><li>a</div>", "pass"),
    ("<ul role=none><li>a</ul>", "pass"),
    ("<ul role=presentation aria-label=x><li>a</ul>", "pass"),
    ("<ul role=menu><li>a</ul>", "n/a"),  # Another rule reports invalid children of a menu.
    ("<ul role=menu><li role=none>a</ul>", "n/a"),
    ("<ul role=doc-toc><li>a</ul>", "pass"),
    ("<ul role=shiny><li>a</ul>", "pass"),
    ("<li role=listitem>a", "n/a"),
    ("<li role>a", "fail"),
    ("<li hidden>a", "n/a"),
    ("<li class=submenu>a", "warn"),
    ("<my-list><li>a</my-list>", "warn"),  # A custom element may contain a list in its shadow tree.
    ("<table role=presentation><tr><td><li>a</table>", "pass"),
    ("<table><tr><td><li>a</table>", "fail"),
]
DESCRIPTION_ITEM_TAGS = [
    ("<p>None", "n/a"),
    ("<dl><dt>a<dd>b</dl>", "pass"),
    ("<dl><div><dt>a<dd>b</div></dl>", "pass"),
    ("<dl><div role=none><dt>a<dd>b</div></dl>", "pass"),
    ("<dl><div role=shiny><dt>a<dd>b</div></dl>", "pass"),
    ("<dl><div role=group><dt>a<dd>b</div></dl>", "fail"),
    ("<dl><div><div><dt>a<dd>b</div></div></dl>", "fail"),
    ("<dl><span><dt>a<dd>b</span></dl>", "fail"),
    ("<dt>a<dd>b", "fail"),
    ("<ul><dt>a</ul>", "fail"),
    ("<dl role=list><dt>a<dd>b</dl>", "pass"),
    ("<dl role=none><dt>a<dd>b</dl>", "pass"),
    ("<dl role=group><dt>a<dd>b</dl>", "fail"),
    ("<dt role=term>a", "n/a"),
    ("<dt hidden>a", "n/a"),
    ("<dt class=modal>a", "warn"),
    ("<my-list><dt>a</my-list>", "warn"),
    ("<my-list><div><dt>a</div></my-list>", "warn"),
]
DESCRIPTION_LISTS = [
    ("<p>None", "n/a"),
    ("<dl></dl>", "pass"),
    ("<dl><dt>a<dd>b<dt>c<dt>d<dd>e<dd>f</dl>", "pass"),
    ("<dl><div><dt>a<dd>b</div><div><dt>a<dd>b</div></dl>", "pass"),
    ("<dl><script>1</script><dt>a<dd>b</dl>", "pass"),
    ("<dl><dt>a</dl>", "fail"),
    ("<dl><dd>a</dl>", "fail"),
    ("<dl><dd>a<dt>b</dl>", "fail"),
    ("<dl><dd>a<dt>b<dd>c</dl>", "pass"),
    ("<dl><div><dt>a</div></dl>", "pass"),  # The check does not judge the order inside a group.
    ("<dl><div><dt>a<dd>b</dd><p>c</div></dl>", "fail"),
    ("<dl><div><div><dt>a<dd>b</div></div></dl>", "fail"),
    ("<dl><p>c</p><dt>a<dd>b</dl>", "fail"),
    ("<dl>text<dt>a<dd>b</dl>", "fail"),
    ("<dl><div>text<dt>a<dd>b</div></dl>", "fail"),
    ("<dl><dfn>c</dfn><dt>a<dd>b</dl>", "pass"),
    ("<dl><li>c<dt>a<dd>b</dl>", "pass"),
    ("<dl><dt role=button>a<dd>b</dl>", "fail"),
    ("<dl><dt role=term>a<dd role=definition>b</dl>", "pass"),
    ("<dl><div role=group><dt>a<dd>b</div></dl>", "fail"),
    ("<dl><div class=divider-hidden></div><dt>a<dd>b</dl>", "pass"),
    ("<dl><hr class=d-none><dt>a<dd>b</dl>", "warn"),
    ("<dl><my-row></my-row></dl>", "warn"),
    ("<dl>{{#rows}}<dt>a<dd>b</dd>{{/rows}}</dl>", "warn"),
    ("<dl role=list><p>a</dl>", "n/a"),
    ("<dl hidden><p>a</dl>", "n/a"),
]
TABLE = "<table><tr><th id=h1>A<th id=h2>B<tr>{}</table>"
HEADERS = [
    ("<p>None", "n/a"),
    (TABLE.format("<td>1<td>2"), "pass"),
    (TABLE.format("<td headers=h1>1<td headers='h1  h2'>2"), "pass"),
    (TABLE.format("<td headers=gone>1"), "fail"),
    (TABLE.format("<td headers='h1 gone'>1"), "fail"),
    (TABLE.format("<td id=d>1<td headers=d>2"), "fail"),  # The referenced cell is not a header.
    (TABLE.format("<td id=d role=rowheader>1<td headers=d>2"), "pass"),
    (TABLE.format("<th id=d role=cell>1<td headers=d>2"), "fail"),
    (TABLE.format("<th id=d role=shiny>1<td headers=d>2"), "pass"),
    (TABLE.format("<td id=d headers=d>1"), "fail"),
    (TABLE.format("<th id=d headers=d>1"), "fail"),
    (TABLE.format("<th id=d headers=h1>1"), "pass"),
    (TABLE.format("<td headers=''>1"), "warn"),
    (TABLE.format("<td headers=' '>1"), "warn"),
    (TABLE.format("<td headers=''>1<td headers=gone>2"), "fail"),
    (TABLE.format("<td headers=gone hidden>1"), "pass"),
    (TABLE.format("<td headers=gone class=d-none>1"), "warn"),
    ("<table><thead><tr><th id=a>A<tbody><tr><td headers=a>1<tfoot><tr><td headers=a>1</table>", "pass"),
    ("<table><tr><th id=a>A</table><table><tr><td headers=a>1</table>", "fail"),
    ("<table><tr><th id=a>A<tr><td><table><tr><td headers=a>1</table></table>", "fail"),
    ("<table role=none><tr><td headers=gone>1</table>", "n/a"),
    ("<table role=none tabindex=0><tr><td headers=gone>1</table>", "fail"),
    ("<table role=grid><tr><th id=a>A<td headers=a>1</table>", "pass"),
    ("<table role=list><tr><td headers=gone>1</table>", "n/a"),
    # The table has no row, so it has no header cell.
    ("<table><tr role=none><th id=a>A<td headers=a>1</table>", "fail"),
    ("<table hidden><tr><td headers=gone>1</table>", "n/a"),
    ("<div role=table><p headers=gone>1</div>", "n/a"),
]
HTML4 = (
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"><title>A page</title>'
)
SCOPES = [
    ("<table><tr><th>A</table>", "n/a"),
    ("<table><tr><th scope=col>A</table>", "pass"),
    ("<table><tr><th scope=ROW>A</table>", "pass"),
    ("<table><tr><th scope=colgroup>A<th scope=rowgroup>B</table>", "pass"),
    ("<table><tr><th scope=column>A</table>", "fail"),
    ("<table><tr><th scope=''>A</table>", "fail"),
    ("<table><tr><th scope=' col'>A</table>", "fail"),
    ("<table><tr><td scope=row>A</table>", "fail"),
    (HTML4 + "<table><tr><td scope=row>A</table>", "pass"),
    (HTML4 + "<table><tr><td scope=rows>A</table>", "fail"),
    ("<!doctype\nhtml><title>A page</title><table><tr><td scope=row>A</table>", "fail"),
    ("<table hidden><tr><td scope=row>A</table>", "n/a"),
    ("<table class=modal><tr><td scope=row>A</table>", "warn"),
    ("<p scope=row>A", "n/a"),
]
CAPTIONS = [
    ("<p>None", "n/a"),
    ("<table><tr><td>A</table>", "pass"),
    ("<table summary=Sales><tr><td>A</table>", "pass"),
    ("<table><caption>Sales</caption></table>", "pass"),
    ("<table summary=Sales><caption>Sales</caption></table>", "fail"),
    ("<table summary=' sales '><caption><b>SALES</b></caption></table>", "fail"),
    ("<table summary='Sales by  month'><caption>Sales <i>by</i> month</caption></table>", "fail"),
    ("<table summary='Sales by month'><caption>Sales</caption></table>", "pass"),
    ("<table summary=''><caption></caption></table>", "pass"),
    ("<table summary=' '><caption> </caption></table>", "pass"),
    ("<table summary=Sales><caption>Sales <img src=a alt=chart></caption></table>", "pass"),
    (
        "<table summary=Sales><caption hidden>Sales</caption></table>",
        "pass",
    ),  # Screen readers announce the cell once, although axe-core reports a fault.
    ("<table class=modal summary=Sales><caption>Sales</caption></table>", "warn"),
    ("<table hidden summary=Sales><caption>Sales</caption></table>", "n/a"),
]
DATA_TABLES = [
    ("<p>None", "n/a"),
    ("<table><tr><td>A<td>B</table>", "n/a"),  # A table without headers counts as a layout table.
    ("<table role=none><tr><th>A</table>", "n/a"),
    ("<table datatable=0><tr><th>A</table>", "n/a"),
    ("<table><caption>A</caption><tr><td>1</table>", "pass"),
    ("<table><tr><td><abbr>A</abbr></table>", "pass"),
    ("<table role=grid><tr><td>A</table>", "pass"),
    ("<table><tr><td>1<td>2<td>3<td>4<td>5<tr><td>1<td>2<td>3<td>4<td>5</table>", "pass"),
    ("<table><tr><td>1<td>2<tr><td>1<td><table></table></table>", "n/a"),
    ("<table>" + "<tr><td>1<td>2" * 20 + "</table>", "pass"),
    ("<table>" + "<tr><td>1" * 20 + "</table>", "n/a"),
    ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "pass"),
    ("<table><tr><th>A<td>1<tr><th>B<td>2</table>", "pass"),
    ("<table><tr><th>A</table>", "warn"),
    ("<table><tr><th>A<th>B</table>", "warn"),
    ("<table><tr><th>A<th>B<tr><td>1</table>", "warn"),
    ("<table><tr><th>A<th><tr><td>1</table>", "pass"),  # The check for header cells does not judge empty headers.
    ("<table><tr><th>A<th>B<tr><td colspan=2>1</table>", "pass"),
    ("<table><tr><th colspan=2>A<tr><td>1<td>2</table>", "pass"),
    ("<table><tr><th rowspan=2>A<th>B<tr><th>C<tr><td>1<td>2</table>", "pass"),
    ("<table><tr><th rowspan=0>A<td>1<tr><td>2</table>", "pass"),
    ("<table><tr><td>1<th>A</table>", "warn"),
    ("<table><tr><td>1<th>A<tr><td>1<td>2</table>", "pass"),
    ("<table><tr><th scope=col>A<td>1</table>", "warn"),
    ("<table><tr><th scope=row>A<tr><td>1</table>", "warn"),
    ("<table><tr><th scope=row>A<td>1</table>", "pass"),
    ("<table><tr><th role=rowheader>A<td>1</table>", "pass"),
    ("<table><tr><td role=columnheader>A<tr><td>1</table>", "pass"),
    ("<table><tr><td role=columnheader>A<td>1</table>", "warn"),
    ("<table><tr><th id=a>A<th>B<td headers=a>1</table>", "warn"),
    ("<table><tr><th id=a>A<td headers=a>1</table>", "pass"),
    ("<table><tr><th id=a>A<tr><th>B<td aria-labelledby=a>1</table>", "pass"),
    ("<table><tr><th>A<td headers=gone>1</table>", "pass"),
    ("<table><tr><th>Sales<tr><th>A<th>B<tr><td>1<td>2</table>", "pass"),
    ("<table><thead><tr><th>A</thead><tbody></tbody></table>", "warn"),
    ("<table><tfoot><tr><th>A</tfoot><tbody><tr><td>1</table>", "warn"),
    ("<table><tbody><tr><td>1</tbody><thead><tr><th>A</thead></table>", "pass"),
    ("<table hidden><tr><th>A</table>", "n/a"),
    ("<table class=modal><tr><th>A</table>", "pass"),
]
HEADING_ORDER = [
    ("<p>None", "n/a"),
    ("<h1>a</h1><h2>b</h2><h3>c</h3><h2>d</h2>", "pass"),
    ("<h1>a</h1><h3>b</h3>", "warn"),
    ("<h3>a</h3><h4>b</h4><h2>c</h2>", "pass"),  # The first heading may have any level.
    ("<h1>a</h1><h2>b</h2><h4>c</h4>", "warn"),
    ("<h1>a</h1><h2 hidden>b</h2><h3>c</h3>", "warn"),
    ("<h1>a</h1><h2 class=d-none>b</h2><h3>c</h3>", "pass"),
    ("<h1>a</h1><h3 class=d-none>b</h3>", "pass"),
    ("<h1>a</h1><h2 role=none>b</h2><h3>c</h3>", "warn"),
    ("<h1>a</h1><h2 role=none tabindex=0>b</h2><h3>c</h3>", "pass"),
    ("<h1>a</h1><h2 role=tab>b</h2><h3>c</h3>", "warn"),
    ("<h1>a</h1><div role=heading aria-level=2>b</div><h3>c</h3>", "pass"),
    ("<h1>a</h1><div role=heading aria-level=3>b</div>", "warn"),
    ("<h1>a</h1><div role=heading>b</div><h3>c</h3>", "pass"),  # The default level of role=heading is 2.
    ("<h1>a</h1><div role=heading aria-level=x>b</div><h3>c</h3>", "pass"),
    ("<h1>a</h1><h2 aria-level=3>b</h2>", "warn"),
    ("<h1>a</h1><h3 aria-level=2>b</h3>", "pass"),
    ("<h1>a</h1><h3 aria-level=0>b</h3>", "warn"),
    ("<h1>a</h1><h3 aria-level=-2>b</h3>", "warn"),
    ("<h2>a</h2><h3 aria-level=10>b</h3>", "warn"),
    ("<p role=heading hidden>a", "n/a"),
    # W3C WAI, "Page Structure", Headings: a sidebar has its own levels.
    ("<h1>a</h1><aside><h3>b</h3></aside><h3>c</h3>", "warn"),
    ("<h1>a</h1><div class=sidebar><h2>b</h2></div><h3>c</h3>", "warn"),
    ("<h1>a</h1><nav><h2>b</h2></nav><aside><h3>c</h3></aside><h4>d</h4>", "warn"),
    ("<h1>a</h1><aside><h2>b</h2><h4>c</h4></aside>", "warn"),
    ("<h1>a</h1><aside><h3>b</h3></aside><h2>c</h2>", "pass"),
    ("<h1>a</h1><h2>b</h2><aside><h2>c</h2></aside><h3>d</h3>", "pass"),
    ("<aside><h3>a</h3></aside><h1>b</h1><h2>c</h2>", "pass"),
]
LEVEL_ONE_HEADINGS = [
    ("<h1>a</h1>", "pass"),
    ("<h2>a</h2>", "warn"),
    ("<h2>a</h2><div role=dialog>b</div>", "pass"),
    ("<h2>a</h2><div role=dialog hidden>b</div>", "warn"),
    ("<h2>a</h2><div role=dialog class=modal>b</div>", "warn"),
    # The rest of the page has aria-hidden, so the dialog is open.
    ("<div aria-hidden=true><h1>a</h1></div><div role=dialog class=modal>b</div>", "pass"),
    ("<div aria-hidden=true><h1>a</h1></div><p>b", "warn"),
    ("<h1 hidden>a</h1><div role=dialog class=modal>b</div>", "warn"),
    ("<h2>a</h2><dialog>b</dialog>", "warn"),
    ("<p>a", "warn"),
    ("<h1 hidden>a</h1><p>a", "warn"),
    ("<h1 class=d-none>a</h1>", "pass"),
    ("<h2 aria-level=1>a</h2>", "pass"),
    ("<h1 aria-level=2>a</h1>", "warn"),
    ("<h1 role=none>a</h1>", "warn"),
    ("<h1 role=heading>a</h1>", "warn"),
    ("<div role=heading aria-level=1>a</div>", "pass"),
    ("<div role=heading>a</div>", "warn"),
    ("<h1></h1>", "pass"),
    ("<div id=root></div><noscript>Needs scripts</noscript>", "n/a"),  # Scripts build the content of the page.
]
BANNERS = [
    ("<p>None", "n/a"),
    ("<header>a</header>", "pass"),
    ("<div role=banner>a</div>", "pass"),
    ("<main><header>a</header></main>", "n/a"),
    ("<article><header>a</header></article>", "n/a"),
    ("<section><div role=banner>a</div></section>", "pass"),
    ("<section aria-label=x><div role=banner>a</div></section>", "warn"),
    ("<section title=x><div role=banner>a</div></section>", "pass"),
    ("<section aria-labelledby=x><div role=banner id=x>a</div></section>", "warn"),
    ("<main><div role=banner>a</div></main>", "warn"),
    ("<div role=main><header>a</header></div>", "warn"),
    ("<div role=search><header>a</header></div>", "warn"),
    ("<search><header>a</header></search>", "warn"),
    ("<div role=application><header>a</header></div>", "warn"),
    ("<div role='region navigation'><header>a</header></div>", "pass"),
    ("<form aria-label=x><header>a</header></form>", "pass"),
    ("<form role=form><header>a</header></form>", "warn"),
    ("<nav role=list><div role=banner>a</div></nav>", "pass"),
    ("<header><header>a</header></header>", "warn"),
    ("<header role=none>a</header>", "n/a"),
    ("<div role=main class=modal><header>a</header></div>", "pass"),
    ("<div role=main hidden><header>a</header></div>", "n/a"),
]
CONTENTINFOS = [
    ("<p>None", "n/a"),
    ("<footer>a</footer>", "pass"),
    ("<aside><footer>a</footer></aside>", "n/a"),
    ("<aside><div role=contentinfo>a</div></aside>", "warn"),
    # An aside inside an article is not a landmark.
    ("<article><aside><div role=contentinfo>a</div></aside></article>", "pass"),
    ("<article><aside title=x><div role=contentinfo>a</div></aside></article>", "warn"),
    ("<div role=main><footer>a</footer></div>", "warn"),
]
MAINS = [
    ("<p>None", "n/a"),
    ("<main>a</main>", "pass"),
    ("<div><main>a</main></div>", "pass"),
    ("<section><main>a</main></section>", "pass"),
    ("<article><main>a</main></article>", "pass"),
    ("<nav><main>a</main></nav>", "warn"),
    ("<aside><main>a</main></aside>", "warn"),
    ("<div role=region><main>a</main></div>", "warn"),
    ("<header><main>a</main></header>", "warn"),
    ("<main><main>a</main></main>", "warn"),
    ("<main><div role=main>a</div></main>", "warn"),
    ("<form><main>a</main></form>", "pass"),
    ("<nav hidden><main>a</main></nav>", "n/a"),
]
MULTIPLE_BANNERS = [
    ("<p>None", "n/a"),
    ("<header>a</header>", "pass"),
    ("<header>a</header><header>b</header>", "warn"),
    ("<header>a</header><div role=banner>b</div>", "warn"),
    ("<header role=banner>a</header>", "pass"),
    ("<header>a</header><article><header>b</header></article>", "pass"),
    ("<header>a</header><main><header>b</header></main>", "pass"),
    ("<header>a</header><div role=main><header>b</header></div>", "pass"),
    ("<header>a</header><div role=region><header>b</header></div>", "pass"),
    ("<header>a</header><section role=none><header>b</header></section>", "warn"),
    ("<article><header>a</header></article>", "pass"),
    ("<header>a</header><header hidden>b</header>", "pass"),
    ("<header>a</header><header role=none>b</header>", "pass"),
    ("<header class=desktop>a</header><header class=mobile>b</header>", "pass"),
]
MULTIPLE_CONTENTINFOS = [
    ("<p>None", "n/a"),
    ("<footer>a</footer>", "pass"),
    ("<footer>a</footer><footer>b</footer>", "warn"),
    ("<footer>a</footer><section><footer>b</footer></section>", "pass"),
    ("<footer>a</footer><div role=contentinfo aria-hidden=true>b</div>", "pass"),
]
MULTIPLE_MAIN_LANDMARKS = [
    ("<p>None", "n/a"),
    ("<main>a</main>", "pass"),
    ("<main>a</main><main>b</main>", "warn"),
    ("<main>a</main><div role=main>b</div>", "warn"),
    ("<main role=main>a</main>", "pass"),  # The same element is a landmark by its tag and its role.
    ("<main>a</main><main hidden>b</main>", "pass"),
    ("<main>a</main><main class=d-none>b</main>", "pass"),
    ("<main role=presentation>a</main>", "n/a"),
]
SINGLE_MAIN_LANDMARK = [
    ("<p>None", "warn"),
    ("<main>a</main>", "pass"),
    ("<div role=main>a</div>", "pass"),
    ("<main hidden>a</main><p>b", "warn"),
    ("<main role=article>a</main>", "warn"),
    ("<p>a</p><dialog open>b</dialog>", "pass"),
    ("<main aria-hidden=true>a</main><div aria-modal=true class=lightbox>b</div>", "pass"),
    ("<div aria-modal=true class=lightbox>b</div>", "warn"),
    ("<main>a</main><main>b</main>", "pass"),
    ("<div id=root></div>", "n/a"),
]
UNIQUE_LANDMARKS = [
    ("<p>None", "n/a"),
    ("<main>a</main><nav>b</nav><aside>c</aside>", "pass"),
    ("<nav>a</nav><nav>b</nav>", "warn"),
    ("<nav role=navigation>a</nav><main role=main>b</main>", "pass"),
    ("<nav aria-label=Shop>a</nav><nav>b</nav>", "pass"),
    ("<nav aria-label=Shop>a</nav><nav aria-label=shop>b</nav>", "warn"),
    ("<nav aria-label=Shop>a</nav><div role=navigation aria-label=Shop>b</div>", "warn"),
    ("<nav aria-labelledby=h><h2 id=h>Shop</h2></nav><nav title=Shop>b</nav>", "warn"),
    ("<nav aria-label=Shop>a</nav><aside aria-label=Shop>b</aside>", "pass"),
    ("<section>a</section><section>b</section>", "n/a"),
    ("<section aria-label=x>a</section><section aria-label=x>b</section>", "warn"),
    ("<div role=region>a</div><div role=region>b</div>", "warn"),
    ("<section title=x>a</section><section title=x>b</section>", "n/a"),
    ("<form>a</form><form>b</form>", "n/a"),
    ("<form aria-label=x>a</form><form aria-label=x>b</form>", "warn"),
    ("<form role=search>a</form><form role=search>b</form>", "n/a"),
    ("<form role=search aria-label=x>a</form><div role=search aria-label=x>b</div>", "warn"),
    ("<div role=search>a</div><div role=search>b</div>", "warn"),
    ("<search>a</search><search>b</search>", "n/a"),
    ("<article><aside>a</aside></article><article><aside>a</aside></article>", "n/a"),
    ("<article><header>a</header></article><header>b</header>", "pass"),
    ("<nav>a</nav><nav hidden>b</nav>", "pass"),
    ("<nav class=desktop-nav>a</nav><nav class=mobile-nav>b</nav>", "n/a"),
    ("<nav>a</nav><nav class=offcanvas>b</nav>", "pass"),
    ("<nav role=doc-toc>a</nav><nav>b</nav>", "warn"),
    ("<nav role=none>a</nav><nav>b</nav>", "pass"),
]
CONTENT_OUTSIDE_OF_LANDMARKS = [
    ("<main>a</main>", "pass"),
    ("<p>a", "warn"),
    ("<main>a</main><p>b", "warn"),
    ("<main>a</main><div></div>", "pass"),
    ("<main>a</main><div> &nbsp; </div>", "pass"),
    ("<main>a</main><img src=a alt=x>", "warn"),
    ("<main>a</main><img src=a alt=x role=none>", "pass"),
    ("<main>a</main><div aria-label=x></div>", "warn"),
    ("<main>a</main><div role=img aria-label=x></div>", "warn"),
    ("<main>a</main><svg></svg>", "pass"),
    ("<main>a</main><iframe src=a></iframe>", "pass"),
    ("<main>a</main><button>b</button>", "pass"),
    ("<main>a</main><a href=/>b</a>", "warn"),
    ("<main>a</main><input>", "warn"),
    ("<main>a</main><input type=hidden>", "pass"),
    ("<main>a</main><input type=submit>", "pass"),
    ("<main>a</main><p hidden>b", "pass"),
    ("<main>a</main><p aria-hidden=true>b", "pass"),
    ("<main>a</main><p class=modal>b", "pass"),
    ("<main>a</main><script>1</script><noscript><p>b</noscript>", "pass"),
    ("<main>a</main><div role=dialog>b</div>", "pass"),
    ("<main>a</main><dialog open>b</dialog>", "pass"),
    ("<main>a</main><div role=alert>b</div>", "pass"),
    ("<main>a</main><output>b</output>", "pass"),
    ("<main>a</main><div aria-live=polite>b</div>", "pass"),
    ("<main>a</main><div aria-live=off>b</div>", "warn"),
    ("<main>a</main><section>b</section>", "warn"),
    ("<main>a</main><section aria-label=x>b</section>", "pass"),
    ("<main>a</main><form>b</form>", "warn"),
    ("<main>a</main><form aria-label=x>b</form>", "pass"),
    ("<header>a</header><main>b</main><footer>c</footer>", "pass"),
    ("<section><header>a</header></section><main>b</main>", "warn"),
    ("<a href=#m>Skip</a><main id=m>b</main>", "pass"),
    ("<a href=#m>Skip</a><main><a name=m></a>b</main>", "pass"),
    ("<a href=#gone>Skip</a><main id=m>b</main>", "warn"),
    ("<header><a href=/>Home</a></header><a href=#m>Skip</a><main id=m>b</main>", "warn"),
    ("<a href='#'>Top</a><main>b</main>", "warn"),
    ("<a href='#/m'>Skip</a><main id=m>b</main>", "warn"),
    ("<a href='/shop/shoes#m'>Skip</a><a href=/>b</a><main id=m>b</main>", "warn"),
    ("<a href='/shop/shoes#m'>Skip</a><main id=m>b</main>", "pass"),
    ("<main>a</main><ul role=none><li>b</ul>", "warn"),
    ("<main>a</main><div role=none>b</div>", "warn"),
    ("text", "n/a"),
    ("text<main>a</main>", "pass"),  # The check for landmarks does not judge text directly in the body.
    ("<main>a</main><textarea hidden>b</textarea>", "pass"),
    ("<div id=root><img src=spinner></div>", "n/a"),
    ("<div class=modal><p>a</div>", "n/a"),
    ("<div class='navbar-collapse collapse'><p>a</div><div hidden>b</div>", "n/a"),
    ("<div class=page><div class=modal><p>a</div></div>", "n/a"),
    ("<div class=o-hidden><p>a</div>", "warn"),
    ("<div class=modal><p>a</div><header>b</header>", "pass"),
    ("<div class=modal><p>a</div><p>b", "warn"),
]
CASES = {
    "list": LISTS,
    "listitem": LIST_ITEMS,
    "dlitem": DESCRIPTION_ITEM_TAGS,
    "definition-list": DESCRIPTION_LISTS,
    "td-headers-attr": HEADERS,
    "scope-attr-valid": SCOPES,
    "table-duplicate-name": CAPTIONS,
    "th-has-data-cells": DATA_TABLES,
    "heading-order": HEADING_ORDER,
    "page-has-heading-one": LEVEL_ONE_HEADINGS,
    "landmark-banner-is-top-level": BANNERS,
    "landmark-contentinfo-is-top-level": CONTENTINFOS,
    "landmark-main-is-top-level": MAINS,
    "landmark-no-duplicate-banner": MULTIPLE_BANNERS,
    "landmark-no-duplicate-contentinfo": MULTIPLE_CONTENTINFOS,
    "landmark-no-duplicate-main": MULTIPLE_MAIN_LANDMARKS,
    "landmark-one-main": SINGLE_MAIN_LANDMARK,
    "landmark-unique": UNIQUE_LANDMARKS,
    "region": CONTENT_OUTSIDE_OF_LANDMARKS,
}
FUNCTIONS = {function.__check__.id: function for function in vars(checks).values() if hasattr(function, "__check__")}


def judge(rule: str, markup: str) -> Verdict:
    served_page = page(markup if markup.lower().startswith("<!doctype") else body(markup))
    finding: Verdict = FUNCTIONS[rule](AccessibleDocument(document(served_page)))
    return finding


@pytest.mark.parametrize(("rule", "markup", "expected"), [(rule, *row) for rule, rows in CASES.items() for row in rows])
def test_structure_check_verdict_equals_axe_core(rule: str, markup: str, expected: str) -> None:
    assert verdict(judge(rule, markup)) == expected


def test_definite_faults_are_listed_first() -> None:
    finding = judge("list", "<ul id=l1><my-item></my-item></ul><ul id=l2><p>a</ul>")
    assert isinstance(finding, Fail)
    assert [item["selector"] for item in rows(finding)] == ["#l2"]
    finding = judge("list", "<ul id=l1><my-item></my-item></ul>")
    assert isinstance(finding, Warn)
    assert message(finding) == (
        "1 list contains something other than list items, unless scripts or style sheets change that."
    )
    assert labels(finding)[0].startswith("<ul ")


def test_empty_headers_attribute_needs_a_review() -> None:
    cells = "<table><tr><th id=h>A<th>B<tr><td headers=h>1<td id=c headers=''>2</table>"
    finding = judge("td-headers-attr", cells)
    assert isinstance(finding, Review)
    assert outcome(finding) == "empty"
    assert message(finding) == (
        "Only a person can tell whether 1 of 2 cells with a headers attribute lacks a reference."
    )
    assert [item["selector"] for item in rows(finding)] == ["#c"]
    assert outcome(judge("td-headers-attr", cells.replace("headers=h", "headers=c"))) == "invalid"


def test_visible_frame_may_fill_a_heading_gap() -> None:
    assert verdict(judge("heading-order", "<h1>a</h1><iframe src=/a></iframe><h3>b</h3>")) == "pass"
    assert verdict(judge("heading-order", "<h1>a</h1><iframe src=/a hidden></iframe><h3>b</h3>")) == "warn"


def test_outermost_element_is_listed() -> None:
    finding = judge("region", "<div id=all><main>a</main><div id=lost><div><p>b</p><p>c</p></div></div></div>")
    assert isinstance(finding, Warn)
    assert [item["selector"] for item in rows(finding)] == ["#lost"]


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize(
    "markup",
    [
        "<ul><div role=main><header>" * 300,
        "<div>" * 400 + "<header>a</header><aside>b</aside>" * 2_000,
        "<table><tr><th colspan=9999 rowspan=0>A"
        + "<th colspan=1000 rowspan=65534>B" * 500
        + "<tr>" * 500
        + "</table>",
        "<table>" + "<tr><th headers='a b'>A<td id=a headers=b>1" * 1_500 + "</table>",
        "<table><tr><th>A<td>" * 120,
        "<dl><div><dt>a" * 1_000,
        "<nav aria-labelledby=x>a</nav>" * 1_000 + "<p id=x>x",
        "<a href=#x></a><header></header><h2>a</h2><p>b" * 1_000,
        "<p aria-level=99999999999 role=heading>a<p aria-level=1 role=heading>b",
        "<!--" * 2_000 + "<td scope=row>" * 100,
    ],
)
def test_expensive_markup_gets_a_verdict(rule: str, markup: str) -> None:
    assert verdict(judge(rule, markup)) in VERDICTS.values()


def test_fix_for_two_main_landmarks() -> None:
    finding = judge("landmark-unique", "<main>A</main><main>B</main>")
    assert isinstance(finding, Warn)
    assert finding.fix == Fix("Keep one `<main>`, whatever the names; use `<div>` or `<section>` for the others.")
    finding = judge("landmark-unique", "<nav>A</nav><nav>B</nav>")
    assert isinstance(finding, Warn)
    assert finding.fix is None


APP = "<header><h2>Boats</h2></header><p>Open daily.</p>{}<footer>Pier 3</footer>"


@pytest.mark.parametrize("rule", ["landmark-one-main", "page-has-heading-one", "region"])
@pytest.mark.parametrize(
    ("markup", "is_judged"),
    [
        (APP.format("<div id=app></div><script src=a.js></script>"), False),
        (APP.format("<div id=root>Loading…</div><script type=module src=a.js></script>"), False),
        (APP.format("<div id=content><div class=spinner><i></i></div></div><script>render()</script>"), False),
        (APP.format("<app-root></app-root><script src=a.js></script>"), False),
        (APP.format("<div id=app></div>"), True),
        (APP.format("<div id=app></div><script type=application/json>{}</script>"), True),
        (APP.format("<div id=app><p>Rafts for hire.</p></div><script src=a.js></script>"), True),
        (APP.format("<div id=app><img src=a></div><script src=a.js></script>"), True),
        (APP.format("<div id=ad></div><script src=a.js></script>"), True),
        # A skip link may lead to an empty element before the content.
        (APP.format("<a href=#content>Skip</a><a id=content></a><p>Rafts.</p><script src=a.js></script>"), True),
    ],
)
def test_scripts_may_build_missing_parts(rule: str, markup: str, is_judged: bool) -> None:
    assert verdict(judge(rule, markup)) == ("warn" if is_judged else "n/a")
