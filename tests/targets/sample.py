"""Sample HTTPS site with a page that has some resources and some faults."""

from __future__ import annotations

from tests.targets.server import Answer, Certificate, Site

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>A bakery in the old town</title>
    <meta name="description" content="Bread, rolls and cakes from our own oven, every morning from six.">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/style.css">
    <script src="/menu.js"></script>
  </head>
  <body>
    <h1>Fresh from the oven</h1>
    <p>We bake every morning. <a href="/order">Order for tomorrow</a>.</p>
    <img src="/bread.png" width="400" height="300">
    <img src="/rolls.png" alt="A basket of rolls" width="400" height="300">
  </body>
</html>
"""
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 2000


def sample_site() -> Site:
    image = Answer(PNG, headers={"Content-Type": "image/png", "Cache-Control": "max-age=31536000"})
    return Site(
        {
            "/": Answer(
                PAGE,
                headers={
                    "Content-Type": "text/html; charset=utf-8",
                    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
                    "X-Content-Type-Options": "nosniff",
                    "Server": "nginx/1.25.3",
                },
            ),
            "/style.css": Answer("body { font: 1rem serif }", headers={"Content-Type": "text/css"}),
            "/menu.js": Answer("console.log(1)", headers={"Content-Type": "text/javascript"}),
            "/order": Answer("<!doctype html><title>Order</title><h1>Order</h1>"),
            "/bread.png": image,
            "/rolls.png": image,
            "/robots.txt": Answer("User-agent: *\nDisallow: /admin/\n", headers={"Content-Type": "text/plain"}),
            "/slow": Answer(PAGE, delay_s=4.0),
        },
        certificate=Certificate.VALID,
    )
