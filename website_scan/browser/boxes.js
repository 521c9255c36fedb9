// Positions and sizes in the document of the elements of these selectors; call with null for the same elements again.
// null for an element that a picture would not show: hidden, clipped, outside of the page, or behind a fixed or sticky banner.
(selectors) => {
  const LIMIT_MS = 300, LEVELS = 200, LEAST_PX = 4, SEAM = ' >>> ';
  const ends = performance.now() + LIMIT_MS;
  const getter = (kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get;
  const read = (kind, name, node) => getter(kind, name).call(node);
  const rectOf = (node) => Element.prototype.getBoundingClientRect.call(node);
  const parentOf = (node) => read(Element, 'assignedSlot', node) || read(Node, 'parentElement', node)
    || (read(Node, 'parentNode', node) instanceof ShadowRoot ? read(ShadowRoot, 'host', read(Node, 'parentNode', node)) : null);

  // The only element that matches a selector, and the frames on the path to it.
  const found = (selector) => {
    let root = document, node = null;
    const frames = [];
    for (const part of selector.split(SEAM)) {
      if (node) {
        const inner = node instanceof HTMLIFrameElement ? read(HTMLIFrameElement, 'contentDocument', node) : null;
        if (inner) frames.push(node);
        root = inner || read(Element, 'shadowRoot', node);
        if (!root) return null;
      }
      const search = root instanceof ShadowRoot ? DocumentFragment.prototype.querySelectorAll : Document.prototype.querySelectorAll;
      const all = search.call(root, part);
      if (all.length !== 1) return null;
      [node] = all;
    }
    return {node, frames};
  };

  const staysInPlace = (style) => style.position === 'fixed' || style.position === 'sticky';
  // The visible part of a box after clipping by all its ancestors, within its own frame.
  const shown = (node) => {
    const own = rectOf(node), box = {left: own.left, top: own.top, right: own.right, bottom: own.bottom};
    if (!Element.prototype.checkVisibility.call(node, {opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true})) return null;
    const view = read(Node, 'ownerDocument', node).defaultView;
    let style = view.getComputedStyle(node);
    for (let each = parentOf(node), level = 0; each && level < LEVELS && style.position !== 'fixed'; each = parentOf(each), level += 1) {
      style = view.getComputedStyle(each);
      if (each === read(Document, 'documentElement', read(Node, 'ownerDocument', each)) || tagIsBody(each)) continue;
      const around = style.overflowX !== 'visible' || style.overflowY !== 'visible' || style.clipPath !== 'none' ? rectOf(each) : null;
      if (!around) continue;
      if (style.overflowX !== 'visible' || style.clipPath !== 'none') [box.left, box.right] = [Math.max(box.left, around.left), Math.min(box.right, around.right)];
      if (style.overflowY !== 'visible' || style.clipPath !== 'none') [box.top, box.bottom] = [Math.max(box.top, around.top), Math.min(box.bottom, around.bottom)];
    }
    return box.right - box.left >= LEAST_PX && box.bottom - box.top >= LEAST_PX ? box : null;
  };
  const tagIsBody = (node) => read(Element, 'localName', node) === 'body';

  // A fixed or sticky banner or dialog may cover elements of the first screen.
  const isCovered = (node, box) => {
    const document = read(Node, 'ownerDocument', node), view = document.defaultView;
    const x = (Math.max(0, box.left) + Math.min(view.innerWidth, box.right)) / 2;
    const y = (Math.max(0, box.top) + Math.min(view.innerHeight, box.bottom)) / 2;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return false;
    let top = Document.prototype.elementFromPoint.call(document, x, y);
    for (let level = 0; top && level < LEVELS; top = parentOf(top), level += 1) {
      if (Node.prototype.contains.call(top, node)) return false;
      if (staysInPlace(view.getComputedStyle(top)) && !Node.prototype.contains.call(node, top)) return true;
    }
    return false;
  };

  const boxOf = ({node, frames}) => {
    if (!read(Node, 'isConnected', node)) return null;
    const box = shown(node);
    if (!box || (!frames.length && isCovered(node, box))) return null;
    for (const frame of [...frames].reverse()) {
      const around = rectOf(frame), width = read(HTMLElement, 'offsetWidth', frame), height = read(HTMLElement, 'offsetHeight', frame);
      // The boxes of its content would have to be transformed with it.
      if (Math.abs(around.width - width) > 1 || Math.abs(around.height - height) > 1) return null;
      const seen = shown(frame), style = getComputedStyle(frame);
      if (!seen) return null;
      const dx = around.left + read(Element, 'clientLeft', frame) + parseFloat(style.paddingLeft);
      const dy = around.top + read(Element, 'clientTop', frame) + parseFloat(style.paddingTop);
      [box.left, box.right] = [Math.max(box.left + dx, seen.left), Math.min(box.right + dx, seen.right)];
      [box.top, box.bottom] = [Math.max(box.top + dy, seen.top), Math.min(box.bottom + dy, seen.bottom)];
    }
    const left = Math.max(0, box.left + scrollX), top = Math.max(0, box.top + scrollY);
    const width = Math.min(box.right + scrollX, page.width) - left, height = Math.min(box.bottom + scrollY, page.height) - top;
    return width >= LEAST_PX && height >= LEAST_PX ? [left, top, width, height].map(Math.round) : null;
  };

  const root = read(Document, 'documentElement', document);
  const page = root ? {
    width: read(Element, 'clientWidth', root),
    height: Math.max(read(Element, 'scrollHeight', root), read(Element, 'clientHeight', root)),
  } : {width: 0, height: 0};
  const tried = (what) => {
    try { return performance.now() < ends ? what() : null; } catch { return null; }
  };
  if (selectors) globalThis.__named = selectors.map((each) => tried(() => found(each)));
  return {page, scroll: [scrollX, scrollY], boxes: globalThis.__named.map((each) => each && tried(() => boxOf(each)))};
}
