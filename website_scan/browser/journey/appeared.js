// Finds messages that a step has made appear and that nothing announces: in no live region that existed before the step, not
// with the focus, not the description of a field, and no content that a control opens.
const MAX_SHOWN = 20_000, MAX_SILENT = 3, MAX_MESSAGE_LETTERS = 200, MIN_MESSAGE_LETTERS = 4;
const MESSAGE_WORDS = /^(alert|error|errors|errormessage|errormsg|message|msg|notice|notification|toast|snackbar|flash|success|warning|feedback|fehler|meldung|hinweis|erreur|mensaje|aviso|errore|messaggio|melding)$/;
const OTHER_WORDS = /^(banner|chat|consent|cookie|cookies|gdpr|privacy|promo|newsletter|tab|tabs|tabpanel|pane|accordion|collapse|collapsible|menu|dropdown|tooltip|popover|popup|modal|dialog|drawer|panel|suggestion|suggestions|autocomplete|combobox|breadcrumb|btn|button|icon|badge)$/;
const COUNT_NOUNS = /^(result|results|search|hits)$/, COUNT_WORDS = /^(count|number|total|status|info|summary)$/;
// Content of widgets, and of what a control opens.
const WIDGET = 'dialog, [popover], details, menu, table, nav, a, button, label, select, option, [aria-modal], [aria-hidden=true], [role=dialog], '
  + '[role=alertdialog], [role=menu], [role=menubar], [role=listbox], [role=option], [role=tabpanel], [role=tooltip], [role=tree], [role=grid], '
  + '[role=row], [role=button], [role=link], [role=tab], [role=feed], [role=combobox], [role=navigation]';
const OPENER = 'summary, [aria-expanded], [aria-haspopup], [aria-controls], [aria-selected], [role=tab], [role=combobox], [popovertarget], [aria-activedescendant]';
const INSIDE = 'input, select, textarea, [contenteditable], iframe, video, ul li:nth-child(2), ol li:nth-child(2), [role=option], [role=menuitem], dialog, [role=dialog]';
const REFERENCES = ['aria-controls', 'aria-owns', 'aria-describedby', 'aria-labelledby', 'aria-errormessage', 'aria-details'];

const wordsOf = (node) => `${attribute(node, 'class')} ${attribute(node, 'id')}`.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^\p{L}]+/u);
const hasWord = (node, pattern) => wordsOf(node).some((word) => pattern.test(word));
const isCount = (node) => hasWord(node, COUNT_NOUNS) && hasWord(node, COUNT_WORDS);
const shownTextOf = (node) => (node.innerText === undefined ? textOf(node) : node.innerText).replace(/\s+/g, ' ').trim();
const isShort = (text) => text.length <= MAX_MESSAGE_LETTERS && (text.match(/\p{L}/gu) || []).length >= MIN_MESSAGE_LETTERS;
const mayBeMessage = (node) => hasWord(node, MESSAGE_WORDS) || isCount(node);

// Elements and texts before the step, or null if the step is not judged.
let shown = null, liveBefore = null, textsBefore = null;
const rememberShown = (hasInput) => {
  shown = liveBefore = textsBefore = null;
  if (!hasInput || read(Document, 'readyState', document) === 'loading') return;
  const elements = [];
  for (const node of elementsIn(document)) {
    if (elements.length >= MAX_SHOWN) return; // Too many to compare.
    elements.push(node);
  }
  shown = new WeakSet(elements.filter(isVisible));
  liveBefore = new WeakSet(elements.filter((node) => matches(node, LIVE) && politenessOf(node) !== 'off'));
  textsBefore = new WeakMap(elements.filter((node) => shown.has(node) && mayBeMessage(node)).map((node) => [node, textOf(node)]));
};
// Outermost element around the message that the step has made appear; the message itself if only its text is new.
const newPartOf = (node) => pathOf(node).filter(isElement).findLast((outer) => !shown.has(outer)) || node;
const isReferenced = (node) => {
  const ids = new Set(pathOf(node).filter(isElement).map((outer) => outer.id).filter(Boolean));
  return ids.size > 0 && REFERENCES.some((name) => all(rootOf(node), `[${name}]`).some((one) => attribute(one, name).split(/\s+/).some((id) => ids.has(id))));
};
const isAnnounced = (node) => pathOf(node).some((outer) => isElement(outer) && (liveBefore.has(outer) || matches(outer, '[role=alert]')));
// Entries of a list, such as messages of an inbox, look like the entries beside them.
const isEntry = (node) => {
  const parent = read(Node, 'parentNode', node), look = attribute(node, 'class');
  return parent && isElement(parent) && Array.from(read(Element, 'children', parent)).some((one) => one !== node && tagOf(one) === tagOf(node) && attribute(one, 'class') === look);
};
const isSilentMessage = (node, active) => {
  const part = newPartOf(node), text = shownTextOf(node);
  if (!isShort(text) || shownTextOf(part) !== text || closest(part, WIDGET) || all(part, INSIDE).length || all(part, 'a, button').length > 2) return false;
  const around = [...pathOf(node).filter(isElement).filter((outer) => contains(part, outer)), outerOf(part)].filter(isElement);
  if (around.some((outer) => hasWord(outer, OTHER_WORDS)) || isEntry(part) || isEntry(node)) return false;
  if (active && (contains(part, active) || contains(active, part) || !shown.has(active))) return false;
  return !isAnnounced(node) && !isReferenced(node);
};
journey.silentMessages = () => {
  if (shown === null) return [];
  const active = isNobody(activeElement()) ? null : activeElement();
  if (active && closest(active, OPENER)) return [];
  const found = [];
  for (const node of elementsIn(document)) {
    if (!mayBeMessage(node) || !isVisible(node)) continue;
    const isNew = !shown.has(node) ? hasWord(node, MESSAGE_WORDS) : textsBefore.has(node) && textsBefore.get(node) !== textOf(node) && !all(node, '*').some((inner) => mayBeMessage(inner));
    const hasDigits = hasWord(node, MESSAGE_WORDS) || /\d/.test(textOf(node));
    if (isNew && hasDigits && isSilentMessage(node, active) && !found.some((outer) => contains(outer, node))) found.push(node);
    if (found.length > MAX_SILENT) return []; // Many new parts at once are content that the step has loaded.
  }
  shown = null;
  return found.map((node) => ({text: shownTextOf(node).slice(0, MAX_LETTERS), selector: selectorOf(node)}));
};
journey.stepFacts = () => ({...journey.observed(), silentMessages: journey.silentMessages(), isFocusLost: journey.isFocusLost()});
