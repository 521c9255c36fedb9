// Buttons that copy: <button data-copy="ID of the element" hidden>, without an ID what stands before them. Without
// scripts they stay out of sight.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  const label = button.textContent;
  const source = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.previousElementSibling;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// A form is sent once, however often its button is pressed. What does not come through may be sent again after a while,
// and so may the form of a page that is come back to.
const PATIENCE_MS = 10_000;
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.ariaBusy) return event.preventDefault();
  form.ariaBusy = "true";
  setTimeout(() => { form.ariaBusy = null; }, PATIENCE_MS);
});
addEventListener("pageshow", () => {
  for (const form of document.forms) form.ariaBusy = null;
});
