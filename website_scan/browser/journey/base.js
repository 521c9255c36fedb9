// Functions that the other scripts of this folder share. They call methods of prototypes, because elements of the page may
// have names such as `activeElement`, which replace properties of the document.
const read = (kind, name, node) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(node);
const boxOf = (node) => Element.prototype.getBoundingClientRect.call(node);
const isElement = (node) => node instanceof Element;
const rootOf = (node) => Node.prototype.getRootNode.call(node);
const isConnected = (node) => read(Node, 'isConnected', node);
const matches = (node, selector) => Element.prototype.matches.call(node, selector);
const shadowOf = (node) => (isElement(node) ? read(Element, 'shadowRoot', node) : null);
const textOf = (node) => (read(Node, 'textContent', node) || '').replace(/\s+/g, ' ').trim();
const childNodesOf = (node) => Array.from(read(Node, 'childNodes', node));
const all = (root, selector) => {
  const kind = root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element;
  return Array.from(kind.prototype.querySelectorAll.call(root, selector));
};
// Parent element as shown: the slot, or the host of a shadow tree.
const outerOf = (node) => {
  const slot = isElement(node) || node instanceof Text ? node.assignedSlot : null;
  const parent = slot || read(Node, 'parentNode', node);
  return parent instanceof ShadowRoot ? read(ShadowRoot, 'host', parent) : parent;
};
const pathOf = (node) => {
  const path = [];
  for (let current = node; current && path.length < 500; current = outerOf(current)) path.push(current);
  return path;
};
const closest = (node, selector) => pathOf(node).find((outer) => isElement(outer) && matches(outer, selector)) || null;
const contains = (outer, node) => pathOf(node).includes(outer);
const isVisible = (node) => {
  if (!isElement(node) || !isConnected(node)) return false;
  if (!Element.prototype.checkVisibility.call(node, {visibilityProperty: true, contentVisibilityAuto: true})) return false;
  const box = boxOf(node);
  return box.width > 0 && box.height > 0;
};
const activeElement = () => {
  let active = read(Document, 'activeElement', document);
  while (shadowOf(active) && read(ShadowRoot, 'activeElement', shadowOf(active))) active = read(ShadowRoot, 'activeElement', shadowOf(active));
  return active;
};
const nextFrame = () => new Promise((resolve) => {
  setTimeout(resolve, 250); // A frame outside of the screen is not drawn.
  requestAnimationFrame(resolve);
});
journey.nextFrames = async () => { await nextFrame(); await nextFrame(); };
journey.areVisible = (...nodes) => nodes.map(isVisible);
journey.selectorOf = selectorOf;
journey.startTagOf = startTagOf;
journey.title = () => read(Document, 'title', document).slice(0, 1_000);
