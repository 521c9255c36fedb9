// Conveniences of the report page: everything on it can be read and done without them.

for (const button of document.querySelectorAll("[data-print]")) {
  button.parentElement.hidden = false;
  button.addEventListener("click", () => print());
}

// Panels close as menus do.
document.addEventListener("click", (event) => {
  for (const drop of document.querySelectorAll(".drop[open]")) {
    if (!drop.contains(event.target)) drop.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const drop of document.querySelectorAll(".drop[open]")) {
    drop.open = false;
    drop.querySelector("summary").focus();
  }
});

// On paper each page says in its margin what it is about: only a style sheet can write there.
const target = document.querySelector(".report-title .target");
if (target) {
  const text = target.textContent.trim().replace(/[\\"\n\r\f]/g, (each) => `\\${each.charCodeAt(0).toString(16)} `);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`@page { @top-left { content: "${text}"; } }`);
  document.adoptedStyleSheets.push(sheet);
}

// On paper there is nothing to open.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".report details:not(.drop, [open])")];
  for (const each of opened) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of opened) each.open = false;
});
