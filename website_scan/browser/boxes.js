// Returns the boxes in the document of the elements that selectors match; with null, of the elements of the previous call.
// The box is null for an element that a picture would not show: hidden, clipped, outside of the page, or behind a fixed or
// sticky banner.
(selectors) => {
  const LIMIT_MS = 300, LEVELS = 200, MIN_PX = 4, SEPARATOR = ' >>> ';
  const deadline = performance.now() + LIMIT_MS;
  const getter = (kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get;
  const read = (kind, name, node) => getter(kind, name).call(node);
  const rectOf = (node) => Element.prototype.getBoundingClientRect.call(node);
  const parentOf = (node) => read(Element, 'assignedSlot', node) || read(Node, 'parentElement', node)
    || (read(Node, 'parentNode', node) instanceof ShadowRoot ? read(ShadowRoot, 'host', read(Node, 'parentNode', node)) : null);

  // Returns the only element that matches a selector, and the frames on the path to the element.
  const findElement = (selector) => {
    let root = document, node = null;
    const frames = [];
    for (const part of selector.split(SEPARATOR)) {
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

  const isFixedOrSticky = (style) => style.position === 'fixed' || style.position === 'sticky';
  // Returns the visible part of an element's box, clipped by all its ancestors, within its own frame.
  const visibleBox = (node) => {
    const own = rectOf(node), box = {left: own.left, top: own.top, right: own.right, bottom: own.bottom};
    if (!Element.prototype.checkVisibility.call(node, {opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true})) return null;
    const view = read(Node, 'ownerDocument', node).defaultView;
    let style = view.getComputedStyle(node);
    for (let ancestor = parentOf(node), level = 0; ancestor && level < LEVELS && style.position !== 'fixed'; ancestor = parentOf(ancestor), level += 1) {
      style = view.getComputedStyle(ancestor);
      if (ancestor === read(Document, 'documentElement', read(Node, 'ownerDocument', ancestor)) || tagIsBody(ancestor)) continue;
      const outer = style.overflowX !== 'visible' || style.overflowY !== 'visible' || style.clipPath !== 'none' ? rectOf(ancestor) : null;
      if (!outer) continue;
      if (style.overflowX !== 'visible' || style.clipPath !== 'none') [box.left, box.right] = [Math.max(box.left, outer.left), Math.min(box.right, outer.right)];
      if (style.overflowY !== 'visible' || style.clipPath !== 'none') [box.top, box.bottom] = [Math.max(box.top, outer.top), Math.min(box.bottom, outer.bottom)];
    }
    return box.right - box.left >= MIN_PX && box.bottom - box.top >= MIN_PX ? box : null;
  };
  const tagIsBody = (node) => read(Element, 'localName', node) === 'body';

  // Whether a fixed or sticky banner or dialog covers an element of the first screen.
  const isCovered = (node, box) => {
    const document = read(Node, 'ownerDocument', node), view = document.defaultView;
    const x = (Math.max(0, box.left) + Math.min(view.innerWidth, box.right)) / 2;
    const y = (Math.max(0, box.top) + Math.min(view.innerHeight, box.bottom)) / 2;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return false;
    let top = Document.prototype.elementFromPoint.call(document, x, y);
    for (let level = 0; top && level < LEVELS; top = parentOf(top), level += 1) {
      if (Node.prototype.contains.call(top, node)) return false;
      if (isFixedOrSticky(view.getComputedStyle(top)) && !Node.prototype.contains.call(node, top)) return true;
    }
    return false;
  };

  const boxOf = ({node, frames}) => {
    if (!read(Node, 'isConnected', node)) return null;
    const box = visibleBox(node);
    if (!box || (!frames.length && isCovered(node, box))) return null;
    for (const frame of [...frames].reverse()) {
      const outer = rectOf(frame), width = read(HTMLElement, 'offsetWidth', frame), height = read(HTMLElement, 'offsetHeight', frame);
      // A transformed frame has no box, because its content's boxes would have to be transformed, too.
      if (Math.abs(outer.width - width) > 1 || Math.abs(outer.height - height) > 1) return null;
      const visible = visibleBox(frame), style = getComputedStyle(frame);
      if (!visible) return null;
      const dx = outer.left + read(Element, 'clientLeft', frame) + parseFloat(style.paddingLeft);
      const dy = outer.top + read(Element, 'clientTop', frame) + parseFloat(style.paddingTop);
      [box.left, box.right] = [Math.max(box.left + dx, visible.left), Math.min(box.right + dx, visible.right)];
      [box.top, box.bottom] = [Math.max(box.top + dy, visible.top), Math.min(box.bottom + dy, visible.bottom)];
    }
    const left = Math.max(0, box.left + scrollX), top = Math.max(0, box.top + scrollY);
    const width = Math.min(box.right + scrollX, page.width) - left, height = Math.min(box.bottom + scrollY, page.height) - top;
    return width >= MIN_PX && height >= MIN_PX ? [left, top, width, height].map(Math.round) : null;
  };

  const root = read(Document, 'documentElement', document);
  const page = root ? {
    width: read(Element, 'clientWidth', root),
    height: Math.max(read(Element, 'scrollHeight', root), read(Element, 'clientHeight', root)),
  } : {width: 0, height: 0};
  const nullOnError = (compute) => {
    try { return performance.now() < deadline ? compute() : null; } catch { return null; }
  };
  if (selectors) globalThis.__named = selectors.map((selector) => nullOnError(() => findElement(selector)));
  return {page, scroll: [scrollX, scrollY], boxes: globalThis.__named.map((element) => element && nullOnError(() => boxOf(element)))};
}
