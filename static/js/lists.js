// Table with selectable rows: the checkbox in the header selects all rows of the page, and the bar shows how many are
// selected.
const form = document.getElementById("ticked");
const boxes = () => [...form.querySelectorAll("tbody .box input")];
const all = form.querySelector("[name=all]");
const told = form.querySelector("[data-ticked]");
const head = document.createElement("input");
Object.assign(head, { type: "checkbox", ariaLabel: `Select all ${form.dataset.things} of this page` });
form.querySelector("thead .box").replaceChildren(head);

function showSelectedCount() {
  const number = boxes().filter((box) => box.checked).length;
  head.checked = number === boxes().length;
  head.indeterminate = number > 0 && number < boxes().length;
  for (const box of [head, ...boxes()]) box.disabled = !!all?.checked;
  told.textContent = all?.checked || !number ? "" : `${number} selected`;
}
head.addEventListener("change", () => {
  for (const box of boxes()) box.checked = head.checked;
  showSelectedCount();
});
form.addEventListener("change", showSelectedCount);
addEventListener("pageshow", showSelectedCount);
// A row with a new result replaces the old row and stays selected.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const box = detail.target.querySelector("[name=entry]");
  const renewed = detail.fragment.querySelector("[name=entry]");
  if (box && renewed) renewed.checked = box.checked;
});
document.addEventListener("htmx:oobAfterSwap", showSelectedCount);
