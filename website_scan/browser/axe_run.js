// One frame's part of an axe run. The top frame's result stays here; those of the others are returned as JSON.
// Some rules of axe-core are wrong on real pages or in the W3C's ACT rules; here they are restricted or replaced.
(async (options, context, isTop) => {
  const {hasContent, isInTabOrder, isVisibleOnScreen, isVisibleToScreenReaders} = axe.commons.dom;
  const {getAllCells, getHeaders, isDataCell, isDataTable, toGrid} = axe.commons.table;
  const {accessibleTextVirtual} = axe.commons.text;
  const {requiredOwned} = axe.commons.aria;

  // Text that inherits its spacing from this style attribute, not from an element in between (ACT 24afc2, 9e45ec, 78fd32).
  const SPACINGS = ['letter-spacing', 'word-spacing', 'line-height'];
  const MOST_TEXTS = 1000;
  const spacesText = (node) => {
    const own = getComputedStyle(node);
    const declared = SPACINGS.filter((name) => node.style.getPropertyPriority(name) === 'important');
    if (!declared.length) return true; // passes
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let seen = 0; seen < MOST_TEXTS && texts.nextNode(); seen += 1) {
      const around = texts.currentNode.parentElement;
      if (!/\S/.test(texts.currentNode.data) || !isVisibleOnScreen(around)) continue;
      const used = getComputedStyle(around);
      if (declared.some((name) => used[name] === own[name] || used.fontSize !== own.fontSize)) return true;
    }
    return false;
  };

  // ACT akn7bn: test if the frame is visible, and if it contains a visible control.
  const frameIsSeen = () => {
    try {
      const frame = window.frameElement;
      if (!frame) return true;
      const [box, view] = [frame.getBoundingClientRect(), frame.ownerDocument.defaultView];
      return box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0;
    } catch {
      return true; // the frame is of another origin
    }
  };
  const isSeen = (each) => isVisibleOnScreen(each) && getComputedStyle(each.actualNode).opacity !== '0';
  const holdsSeenControl = (each) =>
    (each.props.nodeType === 1 && isInTabOrder(each) && isSeen(each)) || (each.children || []).some(holdsSeenControl);

  // ACT b4f0c3: browsers separate properties at white space, and read an unknown word as 0, which axe-core does not.
  const scalesOf = (meta) => {
    const found = (meta.content.toLowerCase().match(/[^=;,\s]+\s*=\s*[^=;,\s]+/g) || []).map((each) => each.split(/\s*=\s*/));
    const {'user-scalable': scalable = 'yes', 'maximum-scale': largest = '5'} = Object.fromEntries(found);
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
  const headersOf = (part) => [...(part?.querySelectorAll('th') || [])].map((each) => each.textContent.trim()).filter(Boolean);
  const repeatsHead = (table) => {
    const [head, foot] = [headersOf(table.tHead), headersOf(table.tFoot)];
    return foot.length > 0 && foot.every((each) => head.includes(each));
  };
  // A row across the whole table is no caption beside a real one, nor if it has controls, as in a calendar, nor above a
  // single row: that table lays out a title above links.
  const mayFakeCaption = (table) =>
    !table.caption && table.rows.length > 2 && !table.rows[0].querySelector('a, button, input, select, textarea');
  // A header without text is a fault of its own. A table that only its size makes a data table may lay out the page.
  function cellsHaveHeaders(table) {
    const grid = toGrid(table);
    const isHeadless = (cell) =>
      hasContent(cell) && isDataCell(cell) && !axe.commons.aria.label(cell) && !getHeaders(cell, grid).some(Boolean);
    if (!getAllCells(table).some(isHeadless)) return true;
    const isDeclared = table.hasAttribute('summary') || table.matches('[role=table], [role=grid], [role=treegrid]');
    return isDeclared || table.querySelector('th, caption, thead, tfoot, [scope], [headers]') ? false : undefined;
  }

  // Worked out when axe-core's tree of the page is there.
  const once = (work) => {
    let value;
    return () => (value ??= work());
  };

  // Links to one address, such as “next” above and below a text, may share a key.
  const addressesOf = new Map();
  for (const each of document.querySelectorAll('[accesskey]')) {
    const key = each.accessKey.toUpperCase();
    addressesOf.set(key, (addressesOf.get(key) ?? new Set()).add(each instanceof HTMLAnchorElement ? each.href : each));
  }
  const sharesAddress = (node) => node instanceof HTMLAnchorElement && addressesOf.get(node.accessKey.toUpperCase())?.size === 1;

  // Navigation and search with the links and forms of an earlier one should have the same name (ARIA Authoring Practices
  // Guide, "Landmark Regions", Navigation).
  const REPEATABLE = 'nav, search, [role=navigation], [role=search]';
  const targetsOf = (node) => {
    const links = [...node.querySelectorAll('a[href], form[action]'), ...(node.matches('[action]') ? [node] : [])];
    const textOf = (each) => each.textContent.trim().replace(/\s+/g, ' ');
    const found = links.map((each) => `${each.getAttribute('href') ?? each.getAttribute('action')} ${textOf(each)}`);
    return [...new Set(found)].sort().join('\n');
  };
  const firstWith = once(() => {
    const shown = [...document.querySelectorAll(REPEATABLE)].filter((each) => isVisibleToScreenReaders(each));
    return new Map(shown.map((each) => [targetsOf(each), each]).reverse());
  });
  const isRepeated = (node) => node.matches(REPEATABLE) && targetsOf(node) !== '' && firstWith().get(targetsOf(node)) !== node;

  // Levels of headings in a sidebar or footer are the same on all pages, whatever stands before (W3C WAI, "Page
  // Structure", Headings). Empty headings are a fault of their own.
  const FIXED = [...['aside', 'footer', 'nav'].map((tag) => `${tag}:not([role])`)]
    .concat(['complementary', 'contentinfo', 'navigation'].map((role) => `[role=${role}]`))
    .concat('[id*=sidebar i]', '[class*=sidebar i]')
    .join();
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading], iframe, frame';
  const firstOfSections = once(() => {
    const headings = [...document.querySelectorAll(HEADINGS)].filter((each) => isVisibleToScreenReaders(each));
    return new Set(headings.filter((each, at) => at && each.closest(FIXED) !== headings[at - 1].closest(FIXED)));
  });
  const isNotCompared = (node, virtual) => firstOfSections().has(node) || !accessibleTextVirtual(virtual);

  // Roles whose parts have roles of their own. An li between is a fault of the role's children alone.
  const OWNERS = new Set(['feed', 'grid', 'listbox', 'menu', 'menubar', 'row', 'rowgroup', 'table', 'tablist', 'tree', 'treegrid']);
  const isPlainItem = (node) =>
    node?.localName === 'li' && !node.getAttribute('role') && node.parentElement?.matches('ul, ol') &&
    OWNERS.has(node.parentElement.getAttribute('role'));

  const wrapsParts = (node) => {
    const parts = requiredOwned(node.getAttribute('role')).map((each) => `[role=${each}]`).join();
    return [...node.children].every((each) => isPlainItem(each) && each.querySelector(parts));
  };
  const {evaluate: judgeParts} = axe._audit.checks['aria-required-children'];
  function hasParts(node, ...others) {
    const result = judgeParts.call(this, node, ...others);
    if (result === false && wrapsParts(node)) this.data({messageKey: 'unallowed', values: 'li around the right ones'});
    return result;
  }

  // Words that a font for icons draws as pictures, which is unknown if the font does not load.
  const ICONS = '[class*="material-icons"], [class*="material-symbols"]';
  const textsOf = (node) => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (texts.length < MOST_TEXTS && walker.nextNode()) texts.push(walker.currentNode);
    return texts.filter((each) => /\S/.test(each.data));
  };
  // Symbols are no visible label (Understanding WCAG 2.5.3), such as the # of a link to a heading, or × for "close".
  const isWord = (text) => /[\p{L}\p{N}]/u.test(text.data) && !text.parentElement.closest(ICONS);
  const showsNoWord = (node) => !textsOf(node).some(isWord);

  // WCAG 1.4.3 excepts inactive controls, which in Bootstrap may have a class in place of an attribute, and decoration.
  const isInactive = (node) => node.closest('.disabled') !== null && getComputedStyle(node).pointerEvents === 'none';
  const ownText = (node) => [...node.childNodes].filter((each) => each.nodeType === 3).map((each) => each.data).join('');
  const separates = (node) => /^[\s|·•]*[|·•][\s|·•]*$/.test(ownText(node));

  const unless = (id, isExcepted) => {
    const {matches} = axe._audit.rules.find((rule) => rule.id === id);
    return {id, matches: (node, ...others) => matches(node, ...others) && !isExcepted(node, ...others)};
  };
  axe.configure({
    rules: [
      {id: 'avoid-inline-spacing', matches: (node) => isVisibleOnScreen(node) && spacesText(node)},
      {id: 'th-has-data-cells', matches: (table) => isDataTable(table) && !repeatsHead(table)},
      {id: 'table-fake-caption', matches: (table) => isDataTable(table) && mayFakeCaption(table)},
      unless('accesskeys', sharesAddress),
      unless('landmark-unique', isRepeated),
      unless('heading-order', isNotCompared),
      unless('listitem', isPlainItem),
      unless('aria-required-parent', (node) => isPlainItem(node.parentElement)),
      unless('label-title-only', (node) => node.getAttribute('placeholder')?.trim()),
      unless('label-content-name-mismatch', showsNoWord),
      unless('color-contrast', (node) => isInactive(node) || separates(node)),
    ],
    checks: [
      {id: 'frame-focusable-content', evaluate: (node, _, root) => !(frameIsSeen() && holdsSeenControl(root))},
      {id: 'td-has-header', evaluate: cellsHaveHeaders},
      {id: 'aria-required-children', evaluate: hasParts},
      {id: 'meta-viewport', evaluate: allowsZoom},
      {id: 'meta-viewport-large', evaluate: allowsLargeZoom},
    ],
  });
  // axe-core looks for frames before it has the page's tree, and then finds no modal dialog on the whole page, unless
  // the tree is there already. Each step makes a tree of its own, and their nodes must not be mixed.
  axe.setup();
  let frames = [];
  if (axe.utils.querySelectorAll(axe._tree[0], 'iframe, frame').length) {
    frames = axe.utils.getFrameContexts(context, options);
    axe.teardown();
    axe.setup();
  }
  // axe-core would compute selectors for every node of every passed rule: most of the time on a large page.
  // Without frames the nodes need not be serialized, so only those in a report get selectors (axe_finish.js).
  if (isTop && !frames.length) axe.utils.nodeSerializer.update({toSpec: (element) => element});
  const partial = await axe.runPartial(context, options);
  globalThis.__partial = partial;
  return {
    frames: frames.map((each) => ({selector: each.frameSelector, context: each.frameContext})),
    partial: isTop ? null : JSON.stringify(partial),
  };
})
