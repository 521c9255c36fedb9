// One frame's part of an axe run. The top frame's result stays here; those of the others are returned as JSON.
// Some rules of axe-core are wrong on real pages or in the W3C's ACT rules; here they are restricted or replaced.
(async (options, context, isTop) => {
  const {isInTabOrder, isVisibleOnScreen} = axe.commons.dom;
  const {isDataTable} = axe.commons.table;

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
  // A row across the whole table is no caption beside a real one, nor if it has controls, as in a calendar.
  const mayFakeCaption = (table) => !table.caption && !table.rows[0]?.querySelector('a, button, input, select, textarea');

  axe.configure({
    rules: [
      {id: 'avoid-inline-spacing', matches: (node) => isVisibleOnScreen(node) && spacesText(node)},
      {id: 'th-has-data-cells', matches: (table) => isDataTable(table) && !repeatsHead(table)},
      {id: 'table-fake-caption', matches: (table) => isDataTable(table) && mayFakeCaption(table)},
    ],
    checks: [
      {id: 'frame-focusable-content', evaluate: (node, _, root) => !(frameIsSeen() && holdsSeenControl(root))},
      {id: 'meta-viewport', evaluate: allowsZoom},
      {id: 'meta-viewport-large', evaluate: allowsLargeZoom},
    ],
  });
  // axe-core looks for frames before it has the page's tree, and then finds no modal dialog on the whole page, unless
  // the tree is there already. Each step makes a tree of its own, and their nodes must not be mixed.
  axe.setup();
  const frames = axe.utils.getFrameContexts(context, options);
  axe.teardown();
  axe.setup();
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
