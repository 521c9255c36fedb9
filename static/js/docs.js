/* Draws the API's description with Swagger UI, in the colours of the system. */
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

// In the order in which somebody meets them.
const GROUPS = ["Scans", "Reports", "Usage", "Webhooks"];

const place = document.getElementById("swagger-ui");
window.SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  // Title and version stand above already.
  plugins: [() => ({ wrapComponents: { info: () => () => null } })],
  tagsSorter: (first, second) => GROUPS.indexOf(first) - GROUPS.indexOf(second),
  defaultModelsExpandDepth: 0,
});
