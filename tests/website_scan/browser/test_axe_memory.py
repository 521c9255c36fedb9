"""Test the parts of axe-core that the scanner replaces, because they are slow or fail on large pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from tests.chromium import chromium
from website_scan.browser.axe import axe_source
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy

Evaluate = Callable[[str], Any]
PAGE = (
    "<!doctype html><html lang=en><title>Tea</title><p class=a id=one>Green <b class=a>tea</b></p><p class=b>Black</p>"
)


@pytest.fixture(scope="module")
def evaluate() -> Iterator[Evaluate]:
    """Evaluates an expression in a new page with axe-core."""
    with Network(Policy(), time_limit_s=60.0) as network, BrowserProxy(network) as proxy, chromium() as browser:

        def run(expression: str) -> Any:
            def visit(context: BrowserContext) -> Any:
                page = context.new_page()
                page.set_content(PAGE)
                page.evaluate(f"{axe_source()};0")
                return page.evaluate(expression)

            return browser.visit(proxy, visit)

        yield run


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("traverse('down', grid)", 49_999, id="whole-column"),
        pytest.param("traverse('down', grid, (cell) => cell === 'c700')", 700, id="found"),
        pytest.param("traverse('up', {x: 0, y: 49_999}, grid, () => false)", 49_999, id="upwards"),
        pytest.param("traverse('right', {x: 0, y: 5}, grid)", 1, id="row"),
        pytest.param("traverse('left', {x: 0, y: 5}, grid)", 0, id="beyond-the-table"),
    ],
)
def test_table_with_thousands_of_rows_is_traversed(evaluate: Evaluate, call: str, expected: int) -> None:
    assert (
        evaluate(
            f"""(() => {{
              const {{traverse}} = axe.commons.table;
              const grid = Array.from({{length: 50_000}}, (_, at) => [`c${{at}}`, `d${{at}}`]);
              const cells = {call};
              return cells.length;
            }})()"""
        )
        == expected
    )


def test_cells_are_in_the_order_of_the_walk(evaluate: Evaluate) -> None:
    call = "axe.commons.table.traverse('up', {x: 0, y: 3}, [['a'], ['b'], ['c'], ['d']], (cell) => cell === 'b')"
    assert evaluate(call) == ["c", "b"]


def test_results_are_remembered_by_all_arguments_until_they_are_cleared(evaluate: Evaluate) -> None:
    calls = """(() => {
      const calls = [];
      const other = (compute) => `other ${compute.length}`;
      const note = (...call) => calls.push(call.map(String).join(' '));
      const one = __memoize((value) => { note('one', value); return value === 'none' ? undefined : [value]; }, other);
      const two = __memoize((first, second) => { note('two', first, second); return first + second; }, other);
      const same = one('a') === one('a');
      one('none'); one('none'); one('b');
      two(1, 2); two(1, 2); two(2, 1); two(1); two(1, undefined); two(NaN, 1); two(NaN, 1);
      one.clear(); two.clear();
      one('a'); two(1, 2);
      return {calls, same, lengths: [one.length, two.length],
        others: [__memoize(() => 1, other), __memoize((a, b, c) => 1, other)]};
    })()"""
    assert evaluate(calls) == {
        "calls": [
            *("one a", "one none", "one b", "two 1 2", "two 2 1", "two 1 undefined", "two NaN 1"),
            *("one a", "two 1 2"),
        ],
        "same": True,
        "lengths": [1, 2],
        "others": ["other 0", "other 3"],
    }


def test_failed_computation_is_repeated(evaluate: Evaluate) -> None:
    calls = """(() => {
      let calls = 0;
      const fails = __memoize((value) => { calls += 1; throw new Error(value); }, null);
      for (const value of ['a', 'a']) try { fails(value); } catch { /* expected */ }
      return calls;
    })()"""
    assert evaluate(calls) == 2


def test_colours_have_their_own_values(evaluate: Evaluate) -> None:
    colours = """(() => {
      const {Color} = axe.commons.color;
      const [first, second] = [new Color(10, 20, 30, .5), new Color().parseString('rgb(200 100 50)')];
      const copy = new Color(second);
      second.red = 1;
      const valuesOf = (colour) => [colour.red, colour.green, colour.blue, colour.alpha, colour.toHexString()];
      return [...[first, second, copy].map(valuesOf), Object.keys(first), JSON.stringify(first)];
    })()"""
    assert evaluate(colours) == [
        [10, 20, 30, 0.5, "#0a141e"],
        [1, 100, 50, 1, "#016432"],
        [200, 100, 50, 1, "#c86432"],
        ["alpha"],
        '{"red":10,"green":20,"blue":30,"alpha":0.5}',
    ]


def test_page_is_counted_only_for_selectors(evaluate: Evaluate) -> None:
    selectors = """(() => {
      axe.setup();
      const unused = axe._selectorData;
      document.querySelector('.b').className = 'c';
      const counts = {tags: unused.tags, classes: unused.classes};
      axe.teardown();
      axe.setup();
      const selector = axe.utils.getSelector(document.querySelector('b'));
      axe.teardown();
      return {counts, selector};
    })()"""
    assert evaluate(selectors) == {
        "counts": {"tags": {"HTML": 1, "HEAD": 1, "TITLE": 1, "BODY": 1, "P": 2, "B": 1}, "classes": {"a": 2, "c": 1}},
        "selector": "b",
    }
