// Lets axe-core judge the contrast of one text of each kind. The key of a text names everything that axe-core's result depends
// on, so that texts with the same key have the same result, on each width of the page. axe-core itself finds the elements
// below a text, with `getTextElementStack`. It judges the text itself where the key cannot show the result: for overlaps, large
// pseudo-elements and backgrounds smaller than the text.
(() => {
  const {getTextElementStack, getVisibleChildTextRects, isVisibleOnScreen} = axe.commons.dom;
  const {Color, incompleteData} = axe.commons.color;
  const {hasUnicode, removeUnicode, sanitize, visibleVirtual} = axe.commons.text;
  const {getNodeFromTree} = axe.utils;
  const CHECK = axe._audit.checks['color-contrast'];
  const GRAPHICS = new Set(['CANVAS', 'IFRAME', 'IMG', 'OBJECT', 'SVG', 'VIDEO']);
  const TEXT = [
    'color', 'fontSize', 'fontWeight', 'textShadow', 'webkitTextFillColor', 'webkitTextStrokeColor', 'webkitTextStrokeWidth',
  ];
  const MAX_ELEMENTS_BELOW = 500;
  const MAX_KINDS = 5000;
  const PIXELS = /^[0-9.]+px$/;
  const ASCII = /^[\0-\x7f]*$/;

  const numbers = new Map();
  const numberOf = (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  };
  const alphas = new Map();
  const alphaOf = (colour) => {
    if (!alphas.has(colour)) alphas.set(colour, new Color().parseString(colour).alpha);
    return alphas.get(colour);
  };

  // Styles and boxes are the same for as long as axe-core's tree of the page. Every run builds its own tree.
  let tree = null;
  let [layers, boxes, pseudoAreas] = [];
  const begin = () => {
    if (tree === axe._tree) return;
    tree = axe._tree;
    [layers, boxes, pseudoAreas] = [new Map(), new Map(), new Map()];
  };
  const remembered = (known, key, compute) => {
    let value = known.get(key);
    if (value === undefined) {
      value = compute(key);
      known.set(key, value);
    }
    return value;
  };

  const imageOf = ({nodeName}, image) => {
    if (GRAPHICS.has(nodeName.toUpperCase())) return 'graphic';
    if (image === 'none') return '';
    return image.includes('gradient') ? 'gradient' : 'image';
  };
  // What an element paints below a text, and the stacking contexts that it is in.
  const computeLayer = (node) => {
    const {backgroundColor, backgroundImage, display, mixBlendMode, opacity, position} = getComputedStyle(node);
    const image = imageOf(node, backgroundImage);
    const contexts = (getNodeFromTree(node)._stackingOrder ?? []).map(({vNode}) => vNode).filter(Boolean);
    return {
      alpha: alphaOf(backgroundColor) * opacity,
      contexts,
      image,
      isFloating: position === 'fixed' || position === 'sticky',
      isInline: display === 'inline',
      isSolid: opacity === '1',
      number: numberOf([image, backgroundColor, opacity, mixBlendMode].join('|')),
    };
  };
  const layerOf = (node) => remembered(layers, node, computeLayer);

  // The box of a background, with the part that is reached by scrolling.
  const computeBox = (node) => {
    const {top, left, right, bottom} = node.getBoundingClientRect();
    const {overflow, paddingLeft, paddingRight, paddingTop, paddingBottom} = getComputedStyle(node);
    if (overflow !== 'scroll' && overflow !== 'auto' && node !== document.documentElement) return {top, left, right, bottom};
    const sum = (...all) => all.reduce((total, each) => total + parseInt(each, 10), 0);
    return {
      top, left,
      right: left + node.scrollWidth + sum(paddingLeft, paddingRight),
      bottom: top + node.scrollHeight + sum(paddingTop, paddingBottom),
    };
  };
  const surrounds = (node, rects) => {
    const {top, left, right, bottom} = remembered(boxes, node, computeBox);
    return rects.every((rect) => rect.top >= top && rect.bottom <= bottom && rect.left >= left && rect.right <= right);
  };

  const pseudoArea = (node, pseudo) => {
    const style = getComputedStyle(node, pseudo);
    const isDrawn = style.content !== 'none' && style.display !== 'none' && style.visibility !== 'hidden';
    if (!isDrawn || style.position !== 'absolute') return 0;
    if (style.backgroundImage === 'none' && alphaOf(style.backgroundColor) * style.opacity === 0) return 0;
    const {width, height} = style;
    return PIXELS.test(width) && PIXELS.test(height) ? parseFloat(width) * parseFloat(height) : Infinity;
  };
  // The area of the largest pseudo-elements on a node or around it that may cover a text.
  const largestPseudoArea = (virtual) => {
    const above = [];
    for (let node = virtual; node && !pseudoAreas.has(node); node = node.parent) above.push(node);
    for (const node of above.reverse()) {
      const own = pseudoArea(node.actualNode, '::before') + pseudoArea(node.actualNode, '::after');
      pseudoAreas.set(node, Math.max(own, node.parent ? pseudoAreas.get(node.parent) : 0));
    }
    return pseudoAreas.get(virtual);
  };

  // The elements below a line of a text, as axe-core orders them.
  const below = (stack, node) => {
    let elements = [];
    let isBelow = false;
    for (const element of stack) {
      isBelow ||= element === node;
      if (!isBelow && layerOf(element).isFloating) elements = [];
      else elements.push(element);
    }
    const {body, documentElement} = document;
    const page = layerOf(documentElement);
    if (elements.indexOf(body) > 1 && page.alpha === 0 && !page.image) {
      elements = elements.filter((element) => element !== body && element !== documentElement).concat(
        [body, documentElement].filter((element) => elements.includes(element)));
    }
    return elements;
  };
  const isSame = (one, other) => one.length === other.length && one.every((element, at) => element === other[at]);
  // The elements below all lines of a text; null if they differ, or if something lies over the text.
  const stackOf = (node) => {
    const [first, ...others] = getTextElementStack(node);
    if (!first) return null;
    const elements = below(first, node);
    const isProven = elements[0] === node && elements.includes(document.body);
    return isProven && others.every((stack) => isSame(stack, first) || isSame(below(stack, node), elements)) ? elements : null;
  };
  // Names the colours below a text, in their order, and how stacking contexts group them; null if axe-core has to judge whether
  // an element lies below the whole text.
  const groundOf = (virtual) => {
    const {actualNode: node} = virtual;
    const stack = stackOf(node);
    if (!stack || stack.length > MAX_ELEMENTS_BELOW) return null;
    const rects = getVisibleChildTextRects(node);
    const indices = new Map();
    const indexOf = (context) => {
      const isKnown = indices.has(context);
      if (!isKnown) indices.set(context, indices.size);
      const layer = isKnown ? '' : `=${layerOf(context.actualNode).number}`;
      return `${indices.get(context)}${layer}`;
    };
    const parts = [];
    let isCovered = false;
    let isSolid = true;
    for (const element of stack) {
      const layer = layerOf(element);
      if (!isCovered && !layer.image && layer.alpha !== 0 && !layer.isInline && !surrounds(element, rects)) return null;
      isCovered ||= layer.image !== '' || layer.alpha === 1;
      isSolid &&= layer.isSolid && layer.contexts.every((context) => layerOf(context.actualNode).isSolid);
      parts.push([layer.number, ...layer.contexts.map(indexOf)].join(':'));
    }
    // A rule that has read the colours of this element has left them multiplied by the opacity, and without its shadow.
    const isRead = virtual._stackingContext || virtual._cache.getBackgroundColor;
    return isRead && !(isSolid && getComputedStyle(node).textShadow === 'none') ? null : parts.join();
  };

  // axe-core does not judge emojis, and decides the same of other signs, such as €, if there is no other text.
  const hasOnlySigns = (text) =>
    !ASCII.test(text) && hasUnicode(text, {nonBmp: true}) && sanitize(removeUnicode(text, {nonBmp: true})) === '';
  const computeKey = (virtual) => {
    const {actualNode: node} = virtual;
    if (!isVisibleOnScreen(virtual)) return null;
    const text = visibleVirtual(virtual, false, true);
    if (text.length === 1 || hasOnlySigns(text)) return null;
    const {width, height} = virtual.boundingClientRect;
    const {pseudoSizeThreshold = 0.25} = CHECK.options;
    if (!(largestPseudoArea(virtual) <= width * height * pseudoSizeThreshold)) return null;
    const ground = groundOf(virtual);
    if (ground === null) return null;
    const style = getComputedStyle(node);
    return `${numberOf(TEXT.map((name) => style[name]).join('|'))}|${ground}`;
  };
  // Returns null if axe-core has to judge this text itself.
  const keyOf = (virtual) => {
    begin();
    try {
      return computeKey(virtual);
    } catch {
      incompleteData.clear();
      return null; // axe-core reports what it cannot measure or read
    }
  };

  const {evaluate} = CHECK;
  const knownByKey = new Map();
  const knownByText = new WeakMap();
  const judge = (virtual, context) => {
    try {
      const {data, result} = CHECK.runSync(virtual, {options: CHECK.options}, context);
      return {data, result};
    } catch {
      return null; // axe-core reports the error when it judges the text again
    }
  };
  const resultOf = (virtual, context) => {
    const key = keyOf(virtual);
    const known = knownByKey.get(key) ?? (key === null ? null : judge(virtual, context));
    if (known) {
      if (knownByKey.size < MAX_KINDS) knownByKey.set(key, known);
      knownByText.set(virtual, known);
    }
    return known?.result;
  };
  // Returns the texts that axe-core has to judge or report, and one that passes. Most texts of most pages pass, and axe-core
  // would describe each of them.
  __scan.withoutKnownPasses = (texts, context, isOver) => {
    let hasPass = false;
    return texts.filter((virtual) => {
      const isPass = !isOver() && resultOf(virtual, context) === true;
      const isNeeded = !isPass || !hasPass;
      hasPass ||= isPass;
      return isNeeded;
    });
  };
  __scan.isContrastKnown = (virtual) => knownByText.has(virtual);
  function evaluateOnce(node, options, virtual, ...others) {
    const known = knownByText.get(virtual);
    incompleteData.clear(); // axe-core may have left the reason of another text there
    if (!known) return evaluate.call(this, node, options, virtual, ...others);
    this.data({...known.data});
    return known.result;
  }
  axe.configure({checks: [{id: 'color-contrast', evaluate: evaluateOnce}]});
})()
