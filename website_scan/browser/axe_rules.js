// Restricts or replaces rules of axe-core with false results on real pages or in the W3C's ACT rules.
(() => {
  const {hasContent, isInTabOrder, isMultiline, isVisibleOnScreen, isVisibleToScreenReaders} = axe.commons.dom;
  const {getAllCells, getHeaders, isDataCell, isDataTable, toGrid} = axe.commons.table;
  const {accessibleTextVirtual} = axe.commons.text;
  const {requiredOwned} = axe.commons.aria;

  // The elements with visible text whose spacing is that of the node's style attribute, not of an element in between (ACT
  // 24afc2, 9e45ec, 78fd32). A line height without unit is a multiple of each element's font size.
  const SPACINGS = ['letter-spacing', 'word-spacing', 'line-height'];
  const MAX_TEXTS = 1000;
  const ratioOf = (style, name, normal) => (style[name] === 'normal' ? normal : parseFloat(style[name]) / parseFloat(style.fontSize));
  const spacedBy = (node, name) => {
    const own = getComputedStyle(node);
    const declared = node.style.getPropertyValue(name);
    const isMultiple = (style) => /^[\d.]+$/.test(declared) && Math.abs(ratioOf(style, name) - declared) < 0.01;
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const elements = new Set();
    for (let count = 0; count < MAX_TEXTS && texts.nextNode(); count += 1) {
      if (/\S/.test(texts.currentNode.data)) elements.add(texts.currentNode.parentElement);
    }
    return [...elements].filter((element) => {
      const used = getComputedStyle(element);
      return isVisibleOnScreen(element) && (used[name] === own[name] || isMultiple(used));
    });
  };
  const isImportant = (node, name) => node.style.getPropertyPriority(name) === 'important';
  const setsTextSpacing = (node) => {
    const declared = SPACINGS.filter((name) => isImportant(node, name));
    return !declared.length || declared.some((name) => spacedBy(node, name).length); // without any, the checks pass
  };
  // axe-core takes lines that overlap, because their height is that of the font, for one line.
  const hasSeveralLines = (element) => {
    const range = document.createRange();
    const tops = [...element.childNodes].filter(({nodeType}) => nodeType === 3).flatMap((text) => {
      range.selectNodeContents(text);
      return [...range.getClientRects()].map(({top}) => top);
    });
    return Math.max(...tops) - Math.min(...tops) > parseFloat(getComputedStyle(element).fontSize) / 2;
  };
  function hasWideSpacing(node, {cssProperty: name, minValue, multiLineOnly, normalValue = 0}) {
    if (!isImportant(node, name) || ['inherit', 'unset', 'revert', 'revert-layer'].includes(node.style.getPropertyValue(name))) return true;
    const elements = spacedBy(node, name);
    if (multiLineOnly && !isMultiline(node) && !elements.some(hasSeveralLines)) return true;
    const ratios = elements.map((element) => Math.round(100 * ratioOf(getComputedStyle(element), name, normalValue)) / 100);
    const value = ratios.find((ratio) => ratio < minValue);
    if (value !== undefined) this.data({value, minValue});
    return value === undefined;
  }

  // ACT akn7bn: the rule applies if the frame is visible and contains a visible control.
  const frameIsVisible = () => {
    try {
      const frame = window.frameElement;
      if (!frame) return true;
      const [box, view] = [frame.getBoundingClientRect(), frame.ownerDocument.defaultView];
      return box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0;
    } catch {
      return true; // the frame is of another origin
    }
  };
  const isOpaque = (virtual) => isVisibleOnScreen(virtual) && getComputedStyle(virtual.actualNode).opacity !== '0';
  const containsVisibleControl = (virtual) =>
    (virtual.props.nodeType === 1 && isInTabOrder(virtual) && isOpaque(virtual)) || (virtual.children || []).some(containsVisibleControl);

  // ACT b4f0c3: unlike axe-core, browsers also separate properties at white space, and treat an unknown word as 0.
  const scalesOf = (meta) => {
    const properties = (meta.content.toLowerCase().match(/[^=;,\s]+\s*=\s*[^=;,\s]+/g) || []).map((pair) => pair.split(/\s*=\s*/));
    const {'user-scalable': scalable = 'yes', 'maximum-scale': largest = '5'} = Object.fromEntries(properties);
    const number = (value) => (value.startsWith('device-') ? 5 : parseFloat(value) || 0);
    return {isFixed: scalable !== 'yes' && Math.abs(number(scalable)) < 1, largest: number(largest)};
  };
  const isBetween = (value, least, most) => value >= least && value < most;
  function allowsZoom(meta) {
    const {isFixed, largest} = scalesOf(meta);
    this.data(isFixed ? 'user-scalable' : 'maximum-scale'); // for axe-core's message
    return !isFixed && !isBetween(largest, 0, 2);
  }
  function allowsLargeZoom(meta) {
    this.data('maximum-scale');
    return !isBetween(scalesOf(meta).largest, 2, 5);
  }

  // A footer that repeats the headers at the top of a long table has no data cells of its own.
  const headersOf = (part) => [...(part?.querySelectorAll('th') || [])].map((header) => header.textContent.trim()).filter(Boolean);
  const repeatsHead = (table) => {
    const [head, foot] = [headersOf(table.tHead), headersOf(table.tFoot)];
    return foot.length > 0 && foot.every((text) => head.includes(text));
  };
  // A row across the whole table is no fake caption if the table has a real caption, if the row has controls, as in a
  // calendar, or if only one row follows: such a table lays out a title above links.
  const mayFakeCaption = (table) =>
    !table.caption && table.rows.length > 2 && !table.rows[0].querySelector('a, button, input, select, textarea');
  // Another rule reports headers without text. A table that is a data table only by its size may lay out the page.
  function cellsHaveHeaders(table) {
    const grid = toGrid(table);
    const isHeadless = (cell) =>
      hasContent(cell) && isDataCell(cell) && !axe.commons.aria.label(cell) && !getHeaders(cell, grid).some(Boolean);
    if (!getAllCells(table).some(isHeadless)) return true;
    const isDeclared = table.hasAttribute('summary') || table.matches('[role=table], [role=grid], [role=treegrid]');
    return isDeclared || table.querySelector('th, caption, thead, tfoot, [scope], [headers]') ? false : undefined;
  }

  // Caches a value for as long as axe-core's tree of the page is the same. Every run builds its own tree.
  const oncePerTree = (compute) => {
    let tree = null;
    let value = null;
    return () => {
      if (tree !== axe._tree) [tree, value] = [axe._tree, compute()];
      return value;
    };
  };

  // Links to the same address, such as “next” above and below a text, may share an access key.
  const addressesByKey = oncePerTree(() => {
    const addresses = new Map();
    for (const node of document.querySelectorAll('[accesskey]')) {
      const key = node.accessKey.toUpperCase();
      addresses.set(key, (addresses.get(key) ?? new Set()).add(node instanceof HTMLAnchorElement ? node.href : node));
    }
    return addresses;
  });
  const sharesAddress = (node) =>
    node instanceof HTMLAnchorElement && addressesByKey().get(node.accessKey.toUpperCase())?.size === 1;

  // Navigation and search landmarks with the same links and forms should have the same name (ARIA Authoring Practices
  // Guide, "Landmark Regions", Navigation).
  const REPEATABLE = 'nav, search, [role=navigation], [role=search]';
  const targetsOf = (node) => {
    const links = [...node.querySelectorAll('a[href], form[action]'), ...(node.matches('[action]') ? [node] : [])];
    const textOf = (link) => link.textContent.trim().replace(/\s+/g, ' ');
    const targets = links.map((link) => `${link.getAttribute('href') ?? link.getAttribute('action')} ${textOf(link)}`);
    return [...new Set(targets)].sort().join('\n');
  };
  const firstWith = oncePerTree(() => {
    const landmarks = [...document.querySelectorAll(REPEATABLE)].filter((node) => isVisibleToScreenReaders(node));
    return new Map(landmarks.map((node) => [targetsOf(node), node]).reverse());
  });
  const isRepeated = (node) => node.matches(REPEATABLE) && targetsOf(node) !== '' && firstWith().get(targetsOf(node)) !== node;

  // Levels of headings in a sidebar or footer are the same on all pages, whatever comes before (W3C WAI, "Page Structure",
  // Headings). Another rule reports empty headings.
  const REPEATED_SECTIONS = [...['aside', 'footer', 'nav'].map((tag) => `${tag}:not([role])`)]
    .concat(['complementary', 'contentinfo', 'navigation'].map((role) => `[role=${role}]`))
    .concat('[id*=sidebar i]', '[class*=sidebar i]')
    .join();
  // The section may be in the shadow tree into whose slot the heading goes, or around the element with the shadow tree.
  __scan.repeatedSectionOf = (node) => {
    for (let outer = node; outer; outer = outer.assignedSlot ?? outer.parentElement ?? outer.getRootNode().host) {
      if (outer.matches(REPEATED_SECTIONS)) return outer;
    }
    return null;
  };
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading], iframe, frame';
  const firstOfSections = oncePerTree(() => {
    const headings = axe.utils.querySelectorAllFilter(axe._tree[0], HEADINGS, isVisibleToScreenReaders);
    const firsts = new Map(headings.map(({actualNode}) => [__scan.repeatedSectionOf(actualNode), actualNode]).reverse());
    firsts.delete(null);
    return new Set(firsts.values());
  });
  const isNotCompared = (node, virtual) => firstOfSections().has(node) || !accessibleTextVirtual(virtual);

  // Roles whose children need other roles than listitem. An li in between is a fault only of the element with the role.
  const OWNERS = new Set(['feed', 'grid', 'listbox', 'menu', 'menubar', 'row', 'rowgroup', 'table', 'tablist', 'tree', 'treegrid']);
  const isPlainItem = (node) =>
    node?.localName === 'li' && !node.getAttribute('role') && node.parentElement?.matches('ul, ol') &&
    OWNERS.has(node.parentElement.getAttribute('role'));

  const wrapsChildren = (node) => {
    const required = requiredOwned(node.getAttribute('role')).map((role) => `[role=${role}]`).join();
    return [...node.children].every((child) => isPlainItem(child) && child.querySelector(required));
  };
  const {evaluate: judgeChildren} = axe._audit.checks['aria-required-children'];
  function hasRequiredChildren(node, ...others) {
    const result = judgeChildren.call(this, node, ...others);
    if (result === false && wrapsChildren(node)) this.data({messageKey: 'unallowed', values: 'li around the right ones'});
    return result;
  }

  // Classes of icon fonts, which draw words as pictures. Whether the font has loaded is unknown.
  const ICONS = '[class*="material-icons"], [class*="material-symbols"]';
  const textsOf = (node) => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (texts.length < MAX_TEXTS && walker.nextNode()) texts.push(walker.currentNode);
    return texts.filter((text) => /\S/.test(text.data));
  };
  // Symbols, such as the # of a link to a heading or × for "close", are no visible label (Understanding WCAG 2.5.3).
  const isWord = (text) => /[\p{L}\p{N}]/u.test(text.data) && !text.parentElement.closest(ICONS);
  const showsNoWord = (node) => !textsOf(node).some(isWord);

  // WCAG 1.4.3 excepts decoration and inactive controls, which in Bootstrap may have a class in place of an attribute.
  const isInactive = (node) => node.closest('.disabled') !== null && getComputedStyle(node).pointerEvents === 'none';
  const ownText = (node) => [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join('');
  const isSeparator = (node) => /^[\s|·•]*[|·•][\s|·•]*$/.test(ownText(node));

  const unless = (id, isExcepted) => {
    const {matches} = axe._audit.rules.find((rule) => rule.id === id);
    return {id, matches: (node, ...others) => matches(node, ...others) && !isExcepted(node, ...others)};
  };
  axe.configure({
    rules: [
      {id: 'avoid-inline-spacing', matches: (node) => isVisibleOnScreen(node) && setsTextSpacing(node)},
      {id: 'th-has-data-cells', matches: (table) => isDataTable(table) && !repeatsHead(table)},
      {id: 'table-fake-caption', matches: (table) => isDataTable(table) && mayFakeCaption(table)},
      unless('accesskeys', sharesAddress),
      unless('landmark-unique', isRepeated),
      unless('heading-order', isNotCompared),
      unless('listitem', isPlainItem),
      unless('aria-required-parent', (node) => isPlainItem(node.parentElement)),
      unless('label-title-only', (node) => node.getAttribute('placeholder')?.trim()),
      unless('label-content-name-mismatch', showsNoWord),
      unless('color-contrast', (node) => isInactive(node) || isSeparator(node)),
    ],
    checks: [
      {id: 'frame-focusable-content', evaluate: (node, _, root) => !(frameIsVisible() && containsVisibleControl(root))},
      ...SPACINGS.map((name) => ({id: `important-${name}`, evaluate: hasWideSpacing})),
      {id: 'td-has-header', evaluate: cellsHaveHeaders},
      {id: 'aria-required-children', evaluate: hasRequiredChildren},
      {id: 'meta-viewport', evaluate: allowsZoom},
      {id: 'meta-viewport-large', evaluate: allowsLargeZoom},
    ],
  });
})()
