/* Draws the API's description with Swagger UI, in the colours of the system, once the page itself is shown. */
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

// In the order in which somebody meets them.
const GROUPS = ["Scans", "Reports", "Usage", "Webhooks"];

const place = document.getElementById("swagger-ui");

function draw() {
  window.SwaggerUIBundle({
    url: place.dataset.url,
    domNode: place,
    presets: [window.SwaggerUIBundle.presets.apis],
    // Title and version stand above already.
    plugins: [() => ({ wrapComponents: { info: () => () => null } })],
    tagsSorter: (first, second) => GROUPS.indexOf(first) - GROUPS.indexOf(second),
    defaultModelsExpandDepth: 0,
  });
}

function load() {
  const styles = document.createElement("link");
  styles.rel = "stylesheet";
  styles.href = place.dataset.styles;
  // Before our own, which has the last word.
  document.getElementById("docs-styles").before(styles);
  const script = document.createElement("script");
  script.src = place.dataset.script;
  script.addEventListener("load", draw);
  document.head.append(script);
}

if (document.readyState === "complete") load();
else window.addEventListener("load", load);
