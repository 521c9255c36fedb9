// Reads and changes form fields.
const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number']);
const SET = new Set(['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range']);
const CHECKED_ROLES = '[role=checkbox], [role=switch], [role=radio], [role=menuitemcheckbox], [role=menuitemradio]';
journey.fieldOf = (node) => {
  if (node instanceof HTMLLabelElement && node.control) return {kind: 'label'};
  if (node instanceof HTMLSelectElement) return {kind: 'select'};
  if (node instanceof HTMLTextAreaElement) return {kind: 'text', isReadOnly: read(HTMLTextAreaElement, 'readOnly', node)};
  if (node instanceof HTMLInputElement) {
    const type = read(HTMLInputElement, 'type', node);
    if (type === 'checkbox' || type === 'radio') return {kind: 'check', isChecked: read(HTMLInputElement, 'checked', node)};
    if (SET.has(type)) return {kind: 'set', type};
    if (type === 'file') return {kind: 'file'};
    return TYPED.has(type) ? {kind: 'text', isReadOnly: read(HTMLInputElement, 'readOnly', node)} : {kind: 'none'};
  }
  if (node instanceof HTMLElement && read(HTMLElement, 'isContentEditable', node)) return {kind: 'text', isReadOnly: false};
  if (matches(node, CHECKED_ROLES)) return {kind: 'check', isChecked: attribute(node, 'aria-checked') === 'true'};
  return {kind: 'none'};
};
journey.controlOf = (label) => label.control;
journey.shownLabelOf = (node) => labelsOf(node).find(isVisible) || null;
const valueOf = (node) => {
  for (const kind of [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement]) if (node instanceof kind) return read(kind, 'value', node);
  return read(Node, 'textContent', node) || '';
};
const secretFields = new WeakSet();
const MAX_PASSWORD_FIELDS = 10;
// Password fields that can be asked whether they accept pasting. Fields with a value are not asked, because the page could
// change it.
journey.emptyPasswordFields = () => Array.from(elementsIn(document)).filter((node) => node instanceof HTMLInputElement
  && read(HTMLInputElement, 'type', node) === 'password' && valueOf(node) === '' && !matches(node, ':disabled, :read-only') && isVisible(node))
  .slice(0, MAX_PASSWORD_FIELDS);
// Moves the focus to the field and selects its text. Returns whether there is text, or null without focus.
journey.beginTyping = (node, isSecret) => {
  HTMLElement.prototype.focus.call(node);
  if (activeElement() !== node) return null;
  if (isSecret) secretFields.add(node);
  if (node instanceof HTMLInputElement) HTMLInputElement.prototype.select.call(node);
  else if (node instanceof HTMLTextAreaElement) HTMLTextAreaElement.prototype.select.call(node);
  else getSelection().selectAllChildren(node);
  return valueOf(node) !== '';
};
// Types text where the focus is, if it still is in the field. The check and the input are one task of the page's process, so
// no other document and no other field can receive the text.
journey.type = (node, text) => activeElement() === node && (Document.prototype.execCommand.call(document, 'insertText', false, text) || true);
const changed = (node) => {
  node.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  node.dispatchEvent(new Event('change', {bubbles: true}));
};
journey.setValue = (node, value, isSecret) => {
  HTMLElement.prototype.focus.call(node);
  if (isSecret) secretFields.add(node);
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(node, value);
  changed(node);
  return isConnected(node) ? valueOf(node) : value;
};
const MAX_OPTIONS = 2_000;
// Selects an option by its value, or else by its label. Returns null, or the labels of all options.
journey.choose = (node, text) => {
  const options = Array.from(read(HTMLSelectElement, 'options', node)).slice(0, MAX_OPTIONS);
  const labelOf = (option) => (option.label || option.text).replace(/\s+/g, ' ').trim();
  const wanted = text.replace(/\s+/g, ' ').trim();
  const option = options.find((one) => one.value === text) || options.find((one) => labelOf(one) === wanted)
    || options.find((one) => labelOf(one).toLowerCase() === wanted.toLowerCase());
  if (!option || option.disabled) return options.filter((one) => !one.disabled).map(labelOf);
  HTMLElement.prototype.focus.call(node);
  if (read(HTMLSelectElement, 'multiple', node)) for (const one of options) one.selected = false;
  option.selected = true;
  changed(node);
  return null;
};
journey.context = () => ({origin: globalThis.origin, url: read(Document, 'URL', document)});
journey.focusedFrame = () => (/^(iframe|frame|object|embed|fencedframe)$/.test(tagOf(activeElement() || document.documentElement)) ? activeElement() : null);
// Boxes on the screen of everything that shows a secret: fields, and texts even if several elements contain their parts.
journey.secretBoxes = (secrets) => {
  const MARGIN = 2;
  const plain = (text) => text.toLowerCase().replace(/[\s\-().\u200b\u00ad]+/g, '');
  const wanted = secrets.map(plain).filter((secret) => secret.length);
  const hasSecret = (text) => { const compared = plain(text); return wanted.some((secret) => compared.includes(secret)); };
  const boxes = [];
  const add = (box) => { if (box.width && box.height) boxes.push([box.left - MARGIN, box.top - MARGIN, box.width + 2 * MARGIN, box.height + 2 * MARGIN]); };
  const roots = [document];
  for (const node of elementsIn(document)) {
    if (shadowOf(node)) roots.push(shadowOf(node));
    const isField = node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement;
    if (secretFields.has(node) || (isField && hasSecret(valueOf(node)))) add(boxOf(node));
    else if (Element.prototype.getAttributeNames.call(node).some((name) => hasSecret(attribute(node, name)))) {
      const isDrawn = isField || ['::before', '::after', '::marker'].some((part) => hasSecret(getComputedStyle(node, part).content));
      if (isDrawn || tagOf(node) === 'img') add(boxOf(node));
    }
  }
  for (const root of roots) {
    const walker = Document.prototype.createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
    const letters = [];
    let text = '';
    while (walker.nextNode() && text.length < 2_000_000) {
      const node = walker.currentNode, data = node.data;
      for (let index = 0; index < data.length; index += 1) {
        const letter = plain(data[index]);
        if (letter) letters.push([node, index]);
        text += letter.slice(0, 1);
      }
    }
    for (const secret of wanted) {
      for (let at = text.indexOf(secret); at >= 0 && boxes.length < 2_000; at = text.indexOf(secret, at + 1)) {
        const range = Document.prototype.createRange.call(document);
        range.setStart(...letters[at]);
        const [last, index] = letters[at + secret.length - 1];
        range.setEnd(last, index + 1);
        Array.from(range.getClientRects()).forEach(add);
      }
    }
  }
  return boxes;
};
