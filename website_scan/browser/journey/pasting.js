// Asks a password field, in the page's own world, whether it blocks pasting. The event is synthetic, so that nothing is
// inserted, and without text. A page that reads the clipboard inserts the text itself, and blocks nothing.
function () {
  if (!(this instanceof HTMLInputElement) || this.value !== '') return false;
  const event = new ClipboardEvent('paste', {bubbles: true, cancelable: true, composed: true});
  const clipboard = new DataTransfer();
  let isRead = false;
  Object.defineProperty(event, 'clipboardData', {get: () => { isRead = true; return clipboard; }});
  return !this.dispatchEvent(event) && !isRead;
}
