from __future__ import annotations

from tests.targets.server import Answer, Route, Site

TITLES = {
    "/thai": ("windows-874", "cp874", "อู่ซ่อมเรือประมงริมแม่น้ำเจ้าพระยา"),
    "/japanese": ("x-sjis", "cp932", "港の船の修理工房へようこそ①"),
    "/korean": ("windows-949", "cp949", "항구의 배를 고치는 작은 공방"),
    "/hebrew": ("iso-8859-8-i", "iso8859-8", "סדנה לתיקון סירות בנמל הישן"),
    "/macintosh": ("x-mac-cyrillic", "mac-cyrillic", "Мастерская лодок около порта"),
}


def routes(site: Site) -> dict[str, Route]:
    pages: dict[str, Route] = {
        path: Answer(
            f"<!doctype html><meta charset={label}><title>{title}</title><h1>{title}</h1>".encode(codec),
            headers={"Content-Type": "text/html"},
        )
        for path, (label, codec, title) in TITLES.items()
    }
    body = "<!doctype html><title>Boats of the old harbour</title><h1>Boats</h1>"
    pages["/unknown"] = Answer(body, headers={"Content-Type": "text/html; charset=utf-8x"})
    return pages
