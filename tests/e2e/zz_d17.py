"""pictures of chosen pages: NAMES=a,b WIDTHS=390,1440 OUT=dir"""
import os
from pathlib import Path

from tests.e2e.pages import render_pages, window


def test_shots(db):
    rendering = render_pages()
    out = Path(os.environ["OUT"]); out.mkdir(exist_ok=True, parents=True)
    names = os.environ["NAMES"].split(",")
    def shot(page, name):
        for w in map(int, os.environ.get("WIDTHS","390,1440").split(",")):
            page.set_viewport_size({"width": w, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > w: print("WIDE", name, w, wide)
            for t in os.environ.get("THEMES","light,dark").split(","):
                page.emulate_media(color_scheme=t)
                page.screenshot(path=out/f"{name}-{w}-{t}.png", full_page=True, animations="disabled")
    with window() as b:
        for n in names:
            b.look(rendering, n, lambda p, n=n: shot(p, n))
