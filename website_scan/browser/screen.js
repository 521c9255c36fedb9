// Returns what visitors see: visible texts and elements by region, and indicators that the page is still loading. Includes open
// shadow trees. Regions: `frame` is a page's banner, navigation and footer, `dialog` what lies above the page, `content` the rest.
(() => {
  const began = performance.now();
  const ELEMENTS = 20_000, TEXT = 2_000, THINGS = 60, SIGNS = 3, ANCESTORS = 40;
  const LOADING_NAME = /(^|[\s_-])(spinner|preloader|loader|loading|skeleton|shimmer|splash)([\s_-]|$)/i;
  const CONSENT_NAME = /cookie|consent|gdpr|onetrust|didomi|usercentrics|(^|[\s_-])(cmp|privacy)([\s_-]|$)/i;
  const ROOT_SELECTOR = 'main, [role=main], #root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main, #content, app-root';
  const SKIPPED = new Set(['head', 'script', 'style', 'noscript', 'template', 'title', 'link', 'meta', 'source', 'track']);
  const FIELDS = new Set(['input', 'textarea', 'select']);
  const VISUAL_TAGS = new Set([...FIELDS, 'img', 'svg', 'canvas', 'video', 'iframe', 'frame', 'object', 'embed', 'button', 'math', 'progress', 'meter']);
  const of = (kind, name, node) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(node);
  const box = (node) => Element.prototype.getBoundingClientRect.call(node);
  const all = (selector) => Array.from(Document.prototype.querySelectorAll.call(document, selector));
  const root = of(Document, 'documentElement', document);
  const within = (outer, node) => {
    for (let current = node, tree; current; current = tree instanceof ShadowRoot ? tree.host : null) {
      if (Node.prototype.contains.call(outer, current)) return true;
      tree = Node.prototype.getRootNode.call(current);
    }
    return false;
  };
  const alphaOf = (colour) => Number((colour.match(/^rgba\(.*, ([\d.]+)\)$/) || colour.match(/\/ ([\d.]+)\)$/) || ['', '1'])[1]);
  const isPicture = (style) => /url\(/.test(style.backgroundImage);

  // Elements with an endless animation, and drawings with an animated part.
  const animated = new Set();
  for (const animation of Document.prototype.getAnimations.call(document).slice(0, 200)) {
    const target = animation.effect && animation.effect.target;
    if (!target || animation.effect.getTiming().iterations !== Infinity) continue;
    animated.add(target);
    const drawing = Element.prototype.closest.call(target, 'svg');
    if (drawing) animated.add(drawing);
  }

  // Element that hides the whole page, such as a splash screen: fixed, opaque, as large as the screen.
  const stackAt = (x, y) => Document.prototype.elementsFromPoint.call(document, x, y);
  const covers = (node) => {
    const style = getComputedStyle(node), rect = box(node);
    const isLarge = rect.left <= 1 && rect.top <= 1 && rect.right >= innerWidth - 1 && rect.bottom >= innerHeight - 1;
    if (!isLarge || style.position !== 'fixed' || Number(style.opacity) < 0.95) return false;
    return alphaOf(style.backgroundColor) >= 0.95 || isPicture(style);
  };
  const cover = stackAt(innerWidth / 2, innerHeight / 2).slice(0, ANCESTORS).find(covers) || null;
  const isBehind = (node, rect) => {
    if (!cover || within(cover, node)) return false;
    const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
    const stack = stackAt(x, y);
    const isRelated = (other) => within(node, other) || within(other, node);
    const [coverIndex, nodeIndex] = [stack.indexOf(cover), stack.findIndex(isRelated)];
    return nodeIndex < 0 || coverIndex < nodeIndex;
  };

  const texts = {content: '', frame: '', dialog: ''};
  const things = [], signs = [], contentNodes = [];
  let fields = 0, isBelow = false;
  const isInside = (rect) => rect.width > 0 && rect.height > 0 && rect.right > 0 && rect.left < innerWidth && rect.bottom + scrollY > 0;
  const record = (node, rect) => {
    if (contentNodes.length < 200) contentNodes.push(node);
    if (rect.top >= innerHeight) isBelow = true;
  };

  const regionOf = (node, tag, style, role, names, outer) => {
    if (outer.region !== 'content') return outer.region;
    if (tag === 'dialog' || /^(alert)?dialog$/.test(role) || CONSENT_NAME.test(names)) return node === root || tag === 'body' ? 'content' : 'dialog';
    if (tag === 'nav' || /^(banner|navigation|contentinfo)$/.test(role)) return 'frame';
    if ((tag === 'header' || tag === 'footer') && !outer.isSection) return 'frame';
    return style.position === 'fixed' && node !== cover && !within(node, cover) && !covers(node) ? 'dialog' : 'content';
  };
  // Whether an element is clipped to nothing, like text for screen readers only.
  const isClipped = (style, rect) => {
    if (style.overflow !== 'visible' && (rect.width <= 1 || rect.height <= 1)) return true;
    if (/^(inset\((50|100)%|circle\(0|polygon\(0(px|%)? 0(px|%)?, 0)/.test(style.clipPath)) return true;
    return /^(absolute|fixed)$/.test(style.position) && /^rect\([01]px,? [01]px,? [01]px,? [01]px\)$/.test(style.clip);
  };
  const isDrawn = (node, tag) => {
    if (tag === 'img') return of(HTMLImageElement, 'complete', node) && of(HTMLImageElement, 'naturalWidth', node) > 0;
    return tag !== 'input' || attribute(node, 'type').toLowerCase() !== 'hidden';
  };

  const stack = [[root, {opacity: 1, region: 'content', isSection: false, isBusy: false}]];
  for (let count = 0; stack.length && count < ELEMENTS && texts.content.length < TEXT; count += 1) {
    const [node, outer] = stack.pop();
    const tag = tagOf(node);
    const style = getComputedStyle(node);
    // An element with display: contents has no box, but its children may have boxes.
    if (SKIPPED.has(tag) || (style.display !== 'contents' && !Element.prototype.checkVisibility.call(node))) continue;
    const rect = box(node), role = attribute(node, 'role').toLowerCase();
    const opacity = outer.opacity * Number(style.opacity);
    if (opacity < 0.05 || isClipped(style, rect)) continue;
    const names = `${attribute(node, 'id')} ${attribute(node, 'class')}`;
    const region = regionOf(node, tag, style, role, names, outer);
    const isPage = node === root || tag === 'body' || /^(main|#document)$/.test(tag);
    const isMarkedBusy = attribute(node, 'aria-busy') === 'true' || role === 'progressbar' || tag === 'progress';
    const isBusy = outer.isBusy || (!isPage && (isMarkedBusy || LOADING_NAME.test(names) || animated.has(node)));
    const inner = {opacity, region, isBusy, isSection: outer.isSection || /^(main|article|section|aside)$/.test(tag)};
    const isShown = style.visibility === 'visible';
    if (isBusy && !outer.isBusy && isShown && region !== 'frame' && rect.width >= 8 && rect.height >= 8 && signs.length < SIGNS && isInside(rect)) {
      if (!isBehind(node, rect)) signs.push(selectorOf(node));
    }
    const isVisualElement = VISUAL_TAGS.has(tag) || role === 'img' || isPicture(style) || (tag === 'audio' && node.hasAttribute('controls'));
    if (isVisualElement && isShown && rect.width >= 5 && rect.height >= 5 && isInside(rect) && isDrawn(node, tag) && !isBehind(node, rect)) {
      const share = Math.min(1, rect.width * rect.height / (innerWidth * innerHeight));
      const isTurning = isBusy || (tag === 'svg' && Element.prototype.querySelector.call(node, '[repeatCount=indefinite]') !== null);
      if (things.length < THINGS) things.push({tag: VISUAL_TAGS.has(tag) || tag === 'audio' ? tag : 'background', region, share, isTurning});
      if (FIELDS.has(tag) && !/^(checkbox|radio|submit|button|image|range)$/i.test(attribute(node, 'type'))) fields += 1;
      record(node, rect);
    }
    const shadow = of(Element, 'shadowRoot', node);
    const children = [...(shadow ? of(Node, 'childNodes', shadow) : []), ...of(Node, 'childNodes', node)];
    const isTransparent = alphaOf(style.webkitTextFillColor || style.color) < 0.05 && style.webkitBackgroundClip !== 'text';
    for (const child of children) {
      const kind = of(Node, 'nodeType', child);
      if (kind === 1) continue;
      const text = kind === 3 ? child.data.replace(/[\s\u200b\u2060\ufeff\u00ad]+/g, ' ').trim() : '';
      if (!text || !isShown || isTransparent || !parseFloat(style.fontSize)) continue;
      const range = document.createRange();
      range.selectNodeContents(child);
      const textRect = Array.from(range.getClientRects()).find(isInside);
      if (!textRect || isBehind(node, textRect)) continue;
      texts[region] = `${texts[region]} ${text}`.trim().slice(0, TEXT);
      record(node, textRect);
    }
    if (tag === 'svg') continue;
    for (const child of children.reverse()) if (of(Node, 'nodeType', child) === 1) stack.push([child, inner]);
  }
  const emptyRoots = all(ROOT_SELECTOR).slice(0, 20).filter((container) => !contentNodes.some((node) => within(container, node))).map(selectorOf);
  const hasScripts = Document.prototype.querySelector.call(document, 'script:not([type*=json])') !== null;
  const hasPainted = performance.getEntriesByName('first-contentful-paint').length > 0;
  return {at: began, title: of(Document, 'title', document).slice(0, 200), texts, things, signs, emptyRoots, fields, isBelow, hasScripts, hasPainted};
})()
