from tests.targets.server import Answer

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rafts for hire at the lock</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
    "<body><main><h1>Rafts for hire</h1><p>Rafts and canoes for a day on the river.</p>{content}</main></body></html>"
)
FAINT = '<p style="color:#bbb">The deposit is due on arrival.</p>'
LOCKED = "html,body{margin:0;overflow:hidden}main{height:100vh;overflow:hidden}"
SCROLLING = "html,body{margin:0;overflow:hidden}main{height:100vh;overflow:auto}"
TALL = '<div style="height:2600px">Prices</div>'
# Readers can reach these boxes by scrolling, or nothing clips them.
REACHED = {
    "main": (SCROLLING, TALL + FAINT),
    "one-axis": ("html,body{margin:0;overflow:hidden}main{height:100vh;overflow:hidden scroll}", TALL + FAINT),
    "nested": (SCROLLING, f'{TALL}<div tabindex=0 style="height:200px;overflow:auto">{TALL}{FAINT}</div>'),
    "across": (
        LOCKED,
        f'<div tabindex=0 style="overflow-x:auto"><div style="width:3000px;padding-left:2000px">{FAINT}</div></div>',
    ),
    "right-to-left": (
        LOCKED,
        '<div dir=rtl tabindex=0 style="overflow-x:auto"><div style="width:3000px;padding-right:2000px">'
        f"{FAINT}</div></div>",
    ),
    "fixed": (
        LOCKED,
        f'<div tabindex=0 style="position:fixed;inset:0;overflow:auto;background:#fff">{TALL}{FAINT}</div>',
    ),
    "popover": (
        LOCKED,
        '<div style="height:20px;overflow:hidden"><div id=more popover=manual style="height:50vh;overflow:auto">'
        f"{TALL}{FAINT}</div></div><script>more.showPopover()</script>",
    ),
    "absolute": (
        "",
        f'<div style="height:20px;overflow:hidden"><div style="position:absolute;top:300px"><p>{FAINT}</div></div>',
    ),
    "shadow": (
        LOCKED,
        "<x-pane></x-pane><script>document.querySelector('x-pane').attachShadow({mode: 'open'}).innerHTML = "
        f"`<div tabindex=0 style='height:300px;overflow:auto'>{TALL}{FAINT}</div>`</script>",
    ),
}
# Invisible text needs no contrast.
UNREACHED = {
    "clipped": (LOCKED, f'<div style="height:40px;overflow:hidden"><div style="height:400px"></div>{FAINT}</div>'),
    "collapsed": (SCROLLING, f'<div style="height:0;overflow:hidden"><div style="overflow:auto">{FAINT}</div></div>'),
    "drawer": (
        SCROLLING,
        f'<div style="position:fixed;top:0;left:-320px;width:300px;height:100%;overflow:auto">{FAINT}</div>',
    ),
    "moved-drawer": (
        SCROLLING,
        '<div style="position:fixed;top:0;width:300px;height:100%;overflow:auto;transform:translateX(-100%)">'
        f"{FAINT}</div>",
    ),
    "left-of-scroller": (
        SCROLLING,
        f'<div style="position:relative"><div style="position:absolute;left:-2000px">{FAINT}</div></div>',
    ),
    "screen-readers-only": (
        SCROLLING,
        f'<div style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)">{FAINT}</div>',
    ),
    "carousel": (
        LOCKED,
        f'<div style="width:300px;overflow:hidden"><div style="display:flex"><div style="min-width:300px">One</div>'
        f'<div style="min-width:300px">{FAINT}</div></div></div>',
    ),
    "closed-popover": (LOCKED, f"<div popover=manual>{FAINT}</div>"),
}


def routes(site):
    pages = REACHED | UNREACHED
    return {f"/{name}": Answer(HEAD.format(style=style, content=content)) for name, (style, content) in pages.items()}
