// Returns the layout of the page: its markup, number of letters by font size, tap targets and images.
(() => {
  const MARKUP = 4_000_000, TEXTS = 20_000, TARGETS = 500, IMAGES = 500;
  const root = Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.call(document);
  const markup = root ? Object.getOwnPropertyDescriptor(Element.prototype, 'outerHTML').get.call(root) : '';
  const all = (selector) => Array.from(Document.prototype.querySelectorAll.call(document, selector));
  const box = (node) => Element.prototype.getBoundingClientRect.call(node);

  const letters = {};
  const sizes = new Map();
  const walker = root && Document.prototype.createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
  for (let count = 0; walker && count < TEXTS && walker.nextNode(); count += 1) {
    const text = walker.currentNode;
    const length = text.data.replace(/\s+/g, '').length;
    const parent = parentOf(text);
    if (!length || !parent || ['script', 'style', 'noscript', 'template', 'title', 'textarea'].includes(tagOf(parent))) continue;
    if (!sizes.has(parent)) {
      const style = getComputedStyle(parent);
      const isVisible = Element.prototype.getClientRects.call(parent).length > 0 && style.visibility === 'visible';
      sizes.set(parent, isVisible ? Math.round(parseFloat(style.fontSize) * 10) / 10 : 0);
    }
    const size = sizes.get(parent);
    if (size) letters[size] = (letters[size] || 0) + length;
  }

  const tappable = 'a[href], button, input:not([type=hidden i]), select, textarea, summary, [role=button], [role=link], [role=checkbox], [role=tab]';
  const isInline = (node) => {
    // WCAG 2.5.8 exempts a link within a line of text (exception "Inline").
    if (getComputedStyle(node).display !== 'inline') return false;
    const parent = parentOf(node);
    return parent && parent.textContent.trim().length > node.textContent.trim().length + 5;
  };
  const boxes = all(tappable).slice(0, TARGETS * 4)
    .map((node) => ({node, rect: box(node)}))
    .filter(({node, rect}) => rect.width > 0 && rect.height > 0 && getComputedStyle(node).visibility === 'visible' && !isInline(node))
    .slice(0, TARGETS);
  const isNear = (one, other) => {
    const x = (one.left + one.right) / 2, y = (one.top + one.bottom) / 2;
    const dx = Math.max(other.left - x, 0, x - other.right), dy = Math.max(other.top - y, 0, y - other.bottom);
    return Math.hypot(dx, dy) < 24;
  };
  const isAncestorOrDescendant = (node, other) => Node.prototype.contains.call(node, other) || Node.prototype.contains.call(other, node);
  const targets = boxes.map(({node, rect}) => ({
    selector: selectorOf(node), width: rect.width, height: rect.height,
    crowded: boxes.some((other) => other.node !== node && !isAncestorOrDescendant(node, other.node) && isNear(rect, other.rect)),
  }));

  const images = all('img').slice(0, IMAGES).map((node) => {
    const rect = box(node), style = getComputedStyle(node);
    const source = (name) => Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, name).get.call(node);
    return {
      selector: selectorOf(node), url: source('currentSrc'), width: rect.width, height: rect.height,
      naturalWidth: source('naturalWidth'), naturalHeight: source('naturalHeight'),
      top: rect.top + scrollY, left: rect.left + scrollX, fit: style.objectFit,
      visible: rect.width > 0 && rect.height > 0 && style.visibility === 'visible',
      lazy: attribute(node, 'loading').toLowerCase() === 'lazy',
      eager: attribute(node, 'loading').toLowerCase() === 'eager',
      pixelated: ['pixelated', 'crisp-edges', '-webkit-optimize-contrast'].includes(style.imageRendering) || style.filter.includes('blur'),
      choices: Boolean(attribute(node, 'srcset')) || Boolean(parentOf(node) && tagOf(parentOf(node)) === 'picture'),
    };
  });
  return {
    markup: markup.length <= MARKUP ? markup : null, markupLength: markup.length, letters, targets, images,
    viewport: {width: innerWidth, height: innerHeight, ratio: devicePixelRatio},
  };
})()
