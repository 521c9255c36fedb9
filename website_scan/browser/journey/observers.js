// Observes what follows an input: the next frame, layout shifts, long tasks, and messages for screen readers.
const MAX_MESSAGES = 20, MAX_LETTERS = 300, MAX_TASKS = 100;
const LIVE = '[aria-live], [role=alert], [role=status], [role=log], output';
const INPUTS = /^(pointer|mouse)(down|up)$|^(dbl|aux)?click$|^key(down|up|press)$|^(before)?input$/;
let messages = [], shift = 0, tasks = [], delays = [], inputAt = null, frameDelay = null, began = performance.now(), lastActive = null;

const observe = (type, options, handle) => {
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(handle));
  observer.observe({type, buffered: true, ...options});
  return () => observer.takeRecords().forEach(handle);
};
const flushes = [
  observe('layout-shift', {}, (entry) => { if (!entry.hadRecentInput && entry.startTime >= began) shift += entry.value; }),
  observe('longtask', {}, (entry) => { if (entry.startTime + entry.duration >= began && tasks.length < MAX_TASKS) tasks.push(entry.duration); }),
  observe('event', {durationThreshold: 16}, (entry) => { if (INPUTS.test(entry.name) && entry.startTime >= began - 1) delays.push(entry.duration); }),
];
for (const name of ['pointerdown', 'keydown', 'beforeinput']) {
  addEventListener(name, (event) => {
    if (!event.isTrusted || inputAt !== null) return;
    inputAt = event.timeStamp;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { if (frameDelay === null && inputAt !== null) frameDelay = performance.now() - inputAt; };
      channel.port2.postMessage(0);
    });
  }, {capture: true, passive: true});
}

const politenessOf = (region) => {
  const value = attribute(region, 'aria-live').toLowerCase();
  if (['off', 'polite', 'assertive'].includes(value)) return value;
  return attribute(region, 'role') === 'alert' ? 'assertive' : 'polite';
};
const record = (region) => {
  const politeness = politenessOf(region), text = textOf(region).slice(0, MAX_LETTERS);
  const isHidden = !Element.prototype.checkVisibility.call(region, {visibilityProperty: true}) || closest(region, '[aria-hidden=true]');
  if (!text || politeness === 'off' || isHidden || messages.length >= MAX_MESSAGES) return;
  const selector = selectorOf(region), earlier = messages.find((message) => message.selector === selector);
  if (earlier) earlier.text = text;
  else messages.push({text, politeness, selector});
};
new MutationObserver((records) => {
  const regions = new Set();
  for (const {target, addedNodes, type} of records) {
    if (regions.size >= MAX_MESSAGES) break;
    if (type === 'childList' && !addedNodes.length) continue;
    const outer = isConnected(target) ? closest(target, LIVE) : null;
    if (outer && (type !== 'attributes' || outer === target)) regions.add(outer);
    // A new alert is announced. Other new regions are announced only when their content changes later.
    for (const node of addedNodes) {
      if (isElement(node) && isConnected(node)) [node, ...all(node, '[role=alert]')].filter((inner) => matches(inner, '[role=alert]')).forEach((inner) => regions.add(inner));
    }
  }
  // A page that is still being parsed announces nothing.
  if (document.readyState !== 'loading') regions.forEach(record);
}).observe(document, {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['hidden']});

// Begins a step: forgets what has happened so far, and remembers which element has the focus. Without input, a lost focus
// stays lost. Late messages count to the next step.
journey.beginStep = (hasInput) => {
  flushes.forEach((flush) => flush());
  [shift, tasks, delays, inputAt, frameDelay, began] = [0, [], [], null, null, performance.now()];
  if (hasInput || !isNobody(activeElement())) lastActive = activeElement();
  rememberShown(hasInput);
};
journey.observed = () => {
  flushes.forEach((flush) => flush());
  const announced = messages;
  messages = [];
  return {messages: announced, shift, tasks, nextPaint: inputAt === null ? null : delays.length ? Math.max(...delays) : frameDelay};
};
addEventListener('focusin', (event) => { lastActive = event.composedPath()[0]; }, {capture: true, passive: true});
const isNobody = (node) => !node || node === read(Document, 'body', document) || node === read(Document, 'documentElement', document);
const DIALOGS = 'dialog[open], [role=dialog], [role=alertdialog]';
journey.focused = () => (isNobody(activeElement()) ? null : activeElement());
journey.focusFacts = (node) => ({selector: selectorOf(node), isInDialog: closest(node, DIALOGS) !== null});
journey.isFocusLost = () => isNobody(activeElement()) && !isNobody(lastActive) && (!isConnected(lastActive) || !isVisible(lastActive));
const MAX_DIALOGS = 5;
const isShownDialog = (node) => isVisible(node) || Array.from(read(Element, 'children', node)).some(isVisible);
journey.dialogs = () => Array.from(elementsIn(document)).filter((node) => matches(node, DIALOGS) && isShownDialog(node) && !closest(node, '[aria-hidden=true]')).slice(0, MAX_DIALOGS);
journey.dialogFacts = (node) => ({
  selector: selectorOf(node),
  isModal: (node instanceof HTMLDialogElement && matches(node, ':modal')) || attribute(node, 'aria-modal') === 'true',
  hasFocusInside: contains(node, activeElement()),
});
// Entries of the page's storage; long values are cut.
journey.storage = () => {
  const MAX_ENTRIES = 200, MAX_VALUE = 10_000;
  return ['localStorage', 'sessionStorage'].flatMap((area) => {
    try {
      const storage = globalThis[area];
      return Array.from({length: Math.min(storage.length, MAX_ENTRIES)}, (_, index) => {
        const key = Storage.prototype.key.call(storage, index), value = Storage.prototype.getItem.call(storage, key) || '';
        return {area, key: key.slice(0, 200), value: value.slice(0, MAX_VALUE), length: value.length};
      });
    } catch {
      return []; // Sandboxed documents have no storage.
    }
  });
};
