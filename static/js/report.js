// Conveniences of the report page. Everything on it can be read and done without scripts.

for (const button of document.querySelectorAll("[data-print]")) {
  button.parentElement.hidden = false;
  button.addEventListener("click", () => print());
}

// Close panels on Escape and on a click elsewhere, as menus do.
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

// Load images below the first screen after the page has loaded, because printing does not wait for lazy images.
addEventListener("load", () => {
  for (const image of document.querySelectorAll('.report img[loading="lazy"]')) image.loading = "eager";
});

// Open all details before printing.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".report details:not(.drop, [open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
