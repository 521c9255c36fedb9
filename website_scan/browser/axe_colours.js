// Corrects rules of axe-core about colours, and about links that only their colour distinguishes.
(() => {
  const {Color, getBackgroundColor} = axe.commons.color;

  // CSS Color 4, 4.4 "Missing Color Components": `none` is shown as 0. Browsers keep it in computed colours, and axe-core cannot
  // calculate with it.
  // Parsing is slow, and most elements have one of a few colours.
  const MAX_COLOURS = 1000;
  const parsed = new Map();
  const {parseString} = Color.prototype;
  Color.prototype.parseString = function parseOnce(text) {
    const known = parsed.get(text);
    if (known) return Object.assign(this, known);
    parseString.call(this, /\(.*\bnone\b/i.test(text) ? text.replace(/\bnone\b/gi, '0') : text);
    const {r, g, b, alpha} = this;
    if (parsed.size < MAX_COLOURS) parsed.set(text, {r, g, b, alpha});
    return this;
  };

  // Cues of links besides colour (WCAG 1.4.1, techniques G182 and G183).
  const TEXT_STYLES = ['font-variant-caps', 'text-emphasis-style', 'text-transform'];
  const FONT_STYLES = ['font-weight', 'font-style', 'font-size'];
  const EDGES = ['border-bottom', 'border-top', 'border-left', 'border-right', 'outline'];
  const MIN_SPACING_PX = 0.5; // Nobody sees a smaller difference between the spacings of letters.
  const COLOUR = /[a-z-]+\([^()]*\)/i;
  // A transparent line, or one in the colour of the background, is no cue. Style sheets draw such lines to change them when the
  // mouse is over the link.
  const isSeen = (colour, background) => {
    const {alpha, red, green, blue} = new Color().parseString(colour);
    const isSame = background && [red - background.red, green - background.green, blue - background.blue].every((difference) => Math.abs(difference) < 1);
    return alpha > 0 && !isSame;
  };
  // Splits at commas outside parentheses.
  const layersOf = (shadow) => shadow.split(/,(?![^(]*\))/);
  // Style sheets with utility classes set shadows of no size or without a colour.
  const isShadowVisible = (layer, background) => {
    const lengths = layer.replace(COLOUR, '').match(/-?[\d.]+(?=px)/g) ?? [];
    return lengths.some((length) => Number(length) !== 0) && isSeen(COLOUR.exec(layer)?.[0] ?? 'black', background);
  };
  const hasShadow = (shadow, background) => shadow !== 'none' && layersOf(shadow).some((layer) => isShadowVisible(layer, background));
  const hasShape = (filter) => /\b(?:drop-shadow|url)\(|\bblur\((?!0px)/.test(filter);
  // Other filters change the colour, which axe-core has measured without them.
  const changesColour = (filter) => /\b(?:brightness|contrast|grayscale|hue-rotate|invert|opacity|saturate|sepia)\(/.test(filter);
  const isDrawn = (node) => {
    if (node.localName === 'img' && node.complete && !node.naturalWidth) return false; // It could not be loaded.
    const box = node.getBoundingClientRect();
    return box.width > 2 && box.height > 2 && axe.commons.dom.isVisibleOnScreen(node) && getComputedStyle(node).opacity !== '0';
  };
  const isIconByStyle = (node) => {
    const {backgroundImage, maskImage} = getComputedStyle(node);
    return !/\S/.test(node.textContent) && (backgroundImage !== 'none' || maskImage !== 'none');
  };
  const hasIcon = (link) => [...link.querySelectorAll('*')].some((node) => (node.matches('canvas, img, object, svg, video') || isIconByStyle(node)) && isDrawn(node));
  const hasPseudoContent = (node) => ['::before', '::after'].some((pseudo) => !['none', 'normal', '""'].includes(getComputedStyle(node, pseudo).content));
  const hasPseudoElement = (node) => ['::before', '::after'].some((pseudo) => getComputedStyle(node, pseudo).content !== 'none');
  const spacingOf = (style) => parseFloat(style.letterSpacing) || 0;
  const fontOf = (style) => style.fontFamily.split(',')[0].trim().toLowerCase();
  const linesOf = (style) => style.textDecorationLine.split(' ').filter((line) => line !== 'none');
  // The lines of a text are drawn through the links in it (CSS Text Decoration 3, section 2), so that a link cannot lack them.
  const hasLine = (style, around, background) => {
    const isOther = linesOf(style).some((line) => !linesOf(around).includes(line)) || style.textDecorationStyle !== around.textDecorationStyle;
    return linesOf(style).length > 0 && isOther && isSeen(style.textDecorationColor, background);
  };
  const hasEdge = (style, background) =>
    EDGES.some((edge) => {
      const [kind, width, colour] = ['style', 'width', 'color'].map((part) => style.getPropertyValue(`${edge}-${part}`));
      return kind !== 'none' && parseFloat(width) > 0 && isSeen(colour, background);
    });
  const isMarked = (node, block, background) => {
    const [style, around] = [getComputedStyle(node), getComputedStyle(block)];
    const differs = (name) => style[name] !== around[name];
    return (
      Math.abs(spacingOf(style) - spacingOf(around)) >= MIN_SPACING_PX || fontOf(style) !== fontOf(around) ||
      [...FONT_STYLES, ...TEXT_STYLES].some(differs) || style.backgroundImage !== 'none' || hasShape(style.filter) ||
      hasLine(style, around, background) || hasEdge(style, background) || hasShadow(style.boxShadow, background) ||
      (differs('textShadow') && hasShadow(style.textShadow, background)) ||
      (differs('webkitTextStrokeWidth') && isSeen(style.webkitTextStrokeColor, background))
    );
  };
  const INLINE = new Set(['contents', 'inline', 'inline-flex', 'inline-grid']);
  const blockOf = (link) => {
    let block = link.parentElement ?? link.getRootNode().host;
    while (block?.parentElement && INLINE.has(getComputedStyle(block).display)) block = block.parentElement;
    return block;
  };
  // The link, and the elements in it and around it that contain all of its text and nothing else.
  const wrappersOf = (link, block) => {
    const text = link.textContent.trim();
    const around = [];
    for (let node = link.parentElement; node && node !== block; node = node.parentElement) around.push(node);
    return [link, ...link.querySelectorAll('*'), ...around].filter((node) => node.textContent.trim() === text);
  };
  const {evaluate} = axe._audit.checks['link-in-text-block-style'];
  function hasCue(node, ...others) {
    const result = evaluate.call(this, node, ...others);
    if (result === undefined || getComputedStyle(node).display === 'block') return result;
    const block = blockOf(node);
    const background = getBackgroundColor(node);
    if (wrappersOf(node, block).some((wrapper) => isMarked(wrapper, block, background)) || hasIcon(node)) return true;
    const [style, around] = [getComputedStyle(node), getComputedStyle(block)];
    const isUnsure = changesColour(style.filter) || style.fontStretch !== around.fontStretch || hasPseudoElement(node);
    return isUnsure || [...node.querySelectorAll('*')].some(hasPseudoContent) ? undefined : false;
  }
  axe.configure({checks: [{id: 'link-in-text-block-style', evaluate: hasCue}]});
})()
