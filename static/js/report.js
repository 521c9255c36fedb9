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

// What is further down is loaded once the page is there, not when it is printed: paper does not wait.
addEventListener("load", () => {
  for (const each of document.querySelectorAll('.report img[loading="lazy"]')) each.loading = "eager";
});

// On paper there is nothing to open.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".report details:not(.drop, [open])")];
  for (const each of opened) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of opened) each.open = false;
});
