"""Corpus pages with media and embedded documents."""

from __future__ import annotations

import io
import wave

from tests.website_scan.accessibility.corpus.pages import document, family


def _silent_wav(seconds: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * 8_000 * seconds)
    return file.getvalue()


# Files that the pages load, by path: media type and content.
FILES = {
    "/silence": ("audio/wav", _silent_wav(5)),
    "/drawing": (
        "image/svg+xml",
        b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><circle r="40"/></svg>',
    ),
}

VIDEO = document(
    "How to prune roses",
    """
<header><a href="/">Garden TV</a></header>
<main><h1>How to prune roses</h1>
<video controls poster="/roses.jpg" width="400"><source src="/roses.webm" type="video/webm">
<track kind="captions" src="/roses.vtt" srclang="en" label="English"><track kind="descriptions" src="/d.vtt"
  srclang="en">
<p><a href="/roses.webm">Download the film</a></p></video>
<video autoplay muted loop playsinline src="/loop.webm" aria-hidden="true"></video>
<h2>Transcript</h2><p>Hello and welcome.</p>
<iframe src="about:blank" title="Film on another site: watering" width="300" height="150" loading="lazy"></iframe>
</main>
""",
)

PODCAST = document(
    "Tide talk, episode 12",
    """
<main><h1>Tide talk</h1>
<article aria-labelledby="e12"><h2 id="e12">Episode 12: Eels</h2>
<audio controls src="/silence" aria-label="Episode 12"></audio>
<button aria-label="Play from 2:30">2:30</button><p>With notes and a <a href="/12">transcript</a>.</p></article>
<figure><figcaption>The hosts</figcaption><img src="/hosts.jpg" alt="Two women at a microphone"></figure></main>
""",
)

GALLERY = document(
    "Pictures of the north",
    """
<main><h1>Pictures of the north</h1>
<ul class="gallery"><li><a href="/1"><img src="/1.jpg" alt="Fjord in the morning"></a></li>
<li><a href="/2"><figure><img src="/2.jpg" alt=""><figcaption>Two reindeer</figcaption></figure></a></li>
<li><button><picture><source srcset="/3.avif" type="image/avif"><img src="/3.jpg" alt="Northern lights"
  loading="lazy"></picture></button></li>
<li><img src="/4.jpg" alt="" role="presentation"></li></ul>
<p><img src="/divider.svg" role="none" alt=""> <svg width="9" height="9" role="presentation"><rect width="9"
  height="9"/></svg></p>
<div class="hero" role="img" aria-label="A red hut by the sea" style="background:url(/hut.jpg);height:50px"></div>
<p><object data="/drawing" type="image/svg+xml" aria-label="Map of the journey"></object></p>
<p><embed src="/pano.svg" type="image/svg+xml" aria-label="A view all round"></p>
</main>
""",
)

MAPS = document(
    "Where to find us",
    """
<main><h1>Where to find us</h1>
<img src="/map.png" alt="Map of our shops" usemap="#shops" width="200" height="100">
<map name="shops"><area shape="rect" coords="0,0,50,50" href="/north" alt="Shop in the north">
<area shape="circle" coords="90,50,20" href="/south" alt="Shop in the south"><area shape="default" nohref></map>
<a href="/plan"><img src="/plan.png" alt="Plan of the house"></a>
<iframe src="about:blank" title="Map" width="300" height="100"></iframe>
<input type="image" src="/route.png" alt="Plan a route">
</main>
""",
)

DRAWINGS = document(
    "Energy in figures",
    """
<main><h1>Energy in figures</h1>
<svg role="img" viewBox="0 0 100 20" width="200"><title>Wind 40 %, sun 60 %</title><rect width="40" height="9"/></svg>
<svg role="img" aria-labelledby="st sd" viewBox="0 0 9 9" width="20"><title id="st">Coal</title><desc
  id="sd">Falls</desc></svg>
<svg role="graphics-document" aria-label="Output by month" viewBox="0 0 9 9" width="20"><g role="graphics-symbol"
  aria-label="May">
<circle r="2"/></g></svg>
<svg aria-hidden="true" focusable="false" width="9" height="9"><use href="#i"/></svg>
<button><svg width="9" height="9" role="img"><title>Print</title></svg></button>
<math aria-label="E equals m c squared"><mi>E</mi><mo>=</mo><mi>m</mi></math>
<div role="math" aria-label="a over b">a/b</div>
<canvas width="10" height="10">Output rises.</canvas>
</main>
""",
)

PAGES = {
    **family(
        "video",
        VIDEO,
        no_captions=[('<track kind="captions" src="/roses.vtt" srclang="en" label="English">', "")],
        subtitles_only=[
            ('kind="captions"', 'kind="subtitles"'),
            ('title="Film on another site: watering"', 'title=""'),
        ],
        frame_named_by_nobody=[
            ('title="Film on another site: watering" ', ""),
            ("<h2>Transcript</h2>", "<h4>Transcript</h4>"),
        ],
        frame_hidden=[('title="Film on another site: watering"', 'aria-hidden="true"')],
        page_in_frame=[('src="about:blank" title="Film', 'srcdoc="<h2>Watering</h2><img src=can.png>" title="Film')],
        films_in_links=[("<p>Hello and welcome.</p>", '<a href="/next"><video muted src="/n.webm"></video></a>')],
    ),
    **family(
        "podcast",
        PODCAST,
        plays_at_once=[("<audio controls", "<audio autoplay")],
        plays_with_controls=[
            ("<audio controls", "<audio controls autoplay"),
            ('alt="Two women at a microphone"', 'alt="The hosts"'),
        ],
    ),
    **family(
        "gallery",
        GALLERY,
        alternatives=[
            (' alt="Fjord in the morning"', ""),
            (' alt="Northern lights"', ""),
            (' aria-label="A red hut by the sea"', ""),
        ],
        decoration_that_takes_focus=[
            ('role="presentation"></li>', 'role="presentation" tabindex="0"></li>'),
            ('role="none" alt=""', 'role="none" alt="" aria-live="off"'),
        ],
        objects=[(' aria-label="Map of the journey"', ""), (' aria-label="A view all round"', "")],
        object_content=[(' aria-label="Map of the journey">', ">A map")],
        alt_by_title=[
            ('alt="Fjord in the morning"', 'title="Fjord"'),
            ('alt="Northern lights"', 'aria-label="Lights"'),
        ],
    ),
    **family(
        "maps",
        MAPS,
        areas=[(' alt="Shop in the south"', ""), ('alt="Shop in the north"', 'alt=" "')],
        server_map=[('<a href="/plan"><img', '<a href="/plan"><img ismap'), (' title="Map"', "")],
        image_button=[(' alt="Plan a route"', ""), ('alt="Map of our shops" ', "")],
        area_titles=[('alt="Shop in the north"', 'title="Shop in the north"'), ('alt="Plan a route"', 'value="Route"')],
        unused_map=[('usemap="#shops"', ""), ('alt="Shop in the south"', "")],
    ),
    **family(
        "drawings",
        DRAWINGS,
        titles_empty=[("Wind 40 %, sun 60 %", ""), ("Print</title>", "</title>"), ('id="st"', ""), ('id="sd"', "")],
        focus_in_hidden=[('<use href="#i"/>', '<a href="/x"><text>x</text></a>'), ('role="math" ', 'role="formula" ')],
    ),
}
