// Finds elements, waits until they can be used, and checks that a click reaches them.
const MAX_MATCHES = 100, MAX_NODES = 50_000;
const TEXTLESS = new Set(['head', 'script', 'style', 'noscript', 'template', 'title']);
const searchRoot = (node) => shadowOf(node) || node;

// Every element of a tree and of the open shadow trees in it.
function* elementsIn(root) {
  const pending = [searchRoot(root)];
  for (let count = 0; pending.length && count < MAX_NODES; count += 1) {
    const node = pending.pop();
    if (isElement(node)) yield node;
    const children = Array.from(node instanceof Document ? read(Document, 'children', node) : node instanceof DocumentFragment
      ? read(DocumentFragment, 'children', node) : read(Element, 'children', node)).reverse();
    pending.push(...children);
    if (shadowOf(node) && node !== root) pending.push(shadowOf(node));
  }
}
const ownText = (node) => {
  if (node instanceof HTMLInputElement && /^(button|submit|reset)$/i.test(read(HTMLInputElement, 'type', node))) return read(HTMLInputElement, 'value', node);
  const shadow = shadowOf(node);
  return shadow ? childNodesOf(shadow).map((child) => (isElement(child) ? ownText(child) : textOf(child))).join(' ') + textOf(node) : textOf(node);
};
// Smallest elements that contain the text.
const byText = (root, text) => {
  const wanted = text.replace(/\s+/g, ' ').trim();
  const found = [];
  for (const node of elementsIn(root)) if (!TEXTLESS.has(tagOf(node)) && ownText(node).includes(wanted)) found.push(node);
  const outer = new Set(found.flatMap((node) => pathOf(node).slice(1)));
  const smallest = found.filter((node) => !outer.has(node));
  // Elements with exactly this text precede those that contain it.
  const isExact = (node) => ownText(node).replace(/\s+/g, ' ').trim() === wanted;
  return [...smallest.filter(isExact), ...smallest.filter((node) => !isExact(node))];
};
// Smallest elements whose text has these words, regardless of case and white space.
const byWords = (root, text, matchesWords) => {
  const wanted = text.replace(/\s+/g, ' ').trim().toLowerCase();
  const words = (node) => ownText(node).replace(/\s+/g, ' ').trim().toLowerCase();
  const found = Array.from(elementsIn(root)).filter((node) => !TEXTLESS.has(tagOf(node)) && matchesWords(words(node), wanted));
  const outer = new Set(found.flatMap((node) => pathOf(node).slice(1)));
  return found.filter((node) => !outer.has(node));
};
const byXPath = (root, path) => {
  const result = Document.prototype.evaluate.call(document, path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  return Array.from({length: Math.min(result.snapshotLength, MAX_MATCHES)}, (_, index) => result.snapshotItem(index));
};
const QUERIES = {
  css: (root, text) => all(searchRoot(root), text),
  pierce: (root, text) => Array.from(elementsIn(root)).filter((node) => matches(node, text)),
  text: byText,
  'same-words': (root, text) => byWords(root, text, (words, wanted) => words === wanted),
  'some-words': (root, text) => byWords(root, text, (words, wanted) => words.includes(wanted)),
  xpath: (root, text) => byXPath(searchRoot(root), text),
};
// Beginning of each element's text.
journey.textsOf = (length, ...nodes) => nodes.map((node) => ownText(node).replace(/\s+/g, ' ').trim().slice(0, length));
journey.query = (root, kind, text) => QUERIES[kind](root, text).filter(isElement).slice(0, MAX_MATCHES);

const isDisabled = (node) => matches(node, ':disabled') || closest(node, '[inert], [aria-disabled=true]') !== null;
const labelsOf = (node) => Array.from(node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement
  || node instanceof HTMLButtonElement ? node.labels || [] : []);
// Whether a click on `hit` is a click on `node`.
const isPartOf = (node, hit) => {
  if (!isElement(hit)) return false;
  if (contains(node, hit) || labelsOf(node).some((label) => contains(label, hit))) return true;
  if (!contains(hit, node)) return false;
  // A closed shadow tree is reported as its host, and an element without pointer events lets its parent be hit.
  return getComputedStyle(node).pointerEvents === 'none' || (rootOf(node) !== rootOf(hit) && !shadowOf(hit));
};
const elementAt = (node, x, y) => {
  const tree = rootOf(node);
  const at = (root) => (root instanceof ShadowRoot ? ShadowRoot : Document).prototype.elementFromPoint.call(root, x, y);
  let hit = at(tree) || (tree instanceof ShadowRoot ? Document.prototype.elementFromPoint.call(document, x, y) : null);
  for (let inner = hit; inner && inner !== node; hit = inner) {
    inner = shadowOf(hit) ? at(shadowOf(hit)) : null;
    if (inner === hit || !inner) break;
  }
  return hit;
};
const nameOfElement = (node) => {
  const tag = startTagOf(node), text = textOf(node).slice(0, 40);
  return text ? `${tag} “${text}”` : tag;
};
// What covers a point of the element; empty if a click there reaches it.
journey.coverAt = (node, x, y) => {
  const hit = elementAt(node, x, y);
  if (isPartOf(node, hit)) return '';
  return hit ? nameOfElement(hit) : 'the edge of the screen';
};
const sameBox = (one, other) => ['left', 'top', 'width', 'height'].every((side) => Math.abs(one[side] - other[side]) < 0.5);
const pointsOf = (node, offset) => {
  const clip = (box) => ({
    left: Math.max(0, box.left), top: Math.max(0, box.top),
    right: Math.min(innerWidth, box.right), bottom: Math.min(innerHeight, box.bottom),
  });
  const box = boxOf(node);
  if (offset && offset[0] <= box.width && offset[1] <= box.height && offset[0] >= 0 && offset[1] >= 0) return [[box.left + offset[0], box.top + offset[1]]];
  return [box, ...Element.prototype.getClientRects.call(node)].slice(0, 6).map(clip)
    .filter(({left, top, right, bottom}) => right > left && bottom > top)
    .map(({left, top, right, bottom}) => [(left + right) / 2, (top + bottom) / 2]);
};
const isOnScreen = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
// Scrolls to the element and returns its state: ok with a point, gone, hidden, disabled, moving or covered.
journey.prepare = async (node, offset, mayBeCovered) => {
  if (!isConnected(node)) return {state: 'gone'};
  if (!isVisible(node)) return {state: 'hidden'};
  if (isDisabled(node)) return {state: 'disabled'};
  journey.reveal(node);
  await nextFrame();
  const before = boxOf(node);
  await nextFrame();
  if (!isConnected(node)) return {state: 'gone'};
  if (!sameBox(before, boxOf(node))) return {state: 'moving'};
  const points = pointsOf(node, offset);
  if (!points.length) return {state: 'outside'};
  const covers = points.map(([x, y]) => journey.coverAt(node, x, y));
  const free = mayBeCovered ? 0 : covers.indexOf('');
  return free < 0 ? {state: 'covered', by: covers[0]} : {state: 'ok', x: points[free][0], y: points[free][1]};
};
journey.reveal = (node) => {
  if (!isOnScreen(boxOf(node))) Element.prototype.scrollIntoView.call(node, {block: 'center', inline: 'center', behavior: 'instant'});
};
journey.isLoaded = () => read(Document, 'readyState', document) === 'complete';
// Position of a frame's content in the document around it.
journey.frameOffset = (node) => {
  const box = boxOf(node), style = getComputedStyle(node);
  return [
    box.left + read(Element, 'clientLeft', node) + parseFloat(style.paddingLeft),
    box.top + read(Element, 'clientTop', node) + parseFloat(style.paddingTop),
  ];
};

// Events of a click that would reach another element are stopped, for example if a banner appears at the last moment.
const POINTER_EVENTS = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
let armed = null;
const onPointerEvent = (event) => {
  if (!armed || !event.isTrusted) return;
  if (armed.result === '') armed.result = isPartOf(armed.node, event.composedPath()[0]) ? 'reached' : nameOfElement(event.target);
  if (armed.result !== 'reached' && armed.result !== 'missed') {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (event.type === 'click' && isConnected(armed.node) && !isPartOf(armed.node, event.composedPath()[0])) {
    armed.result = 'missed';
  }
};
for (const name of POINTER_EVENTS) addEventListener(name, onPointerEvent, {capture: true, passive: false});
journey.armClick = (node) => {
  if (!isConnected(node)) return false;
  armed = {node, result: ''};
  return true;
};
// What the click reached: `reached`, `missed` if the element moved while the button was pressed, the element that was hit
// instead, or empty if nothing was hit.
journey.disarmClick = () => {
  const result = armed ? armed.result : '';
  armed = null;
  return result;
};
const isSame = (actual, expected) => (expected === null ? actual === null || actual === undefined : String(actual) === String(expected));
// Number of elements that have the visibility, attributes and properties.
journey.countMatching = (isShown, attributes, properties, ...nodes) => nodes.filter((node) => isConnected(node)
  && (isShown === null || isVisible(node) === isShown)
  && attributes.every(([name, value]) => Element.prototype.getAttribute.call(node, name) === value)
  && properties.every(([name, value]) => isSame(name.split('.').reduce((object, key) => (object === null || object === undefined ? object : object[key]), node), value))).length;
journey.scrollTo = (node, x, y) => {
  const position = {left: x, top: y, behavior: 'instant'};
  if (!node) return scrollTo(position);
  journey.reveal(node);
  Element.prototype.scrollTo.call(node, position);
};
