// Corrects rules of axe-core about lists, headings, landmarks and content of links.
(() => {
  const {getRole} = axe.commons.aria;
  const {isFocusable, isInTabOrder, isVisibleToScreenReaders} = axe.commons.dom;
  const wrapCheck = (id, correct) => {
    const {evaluate} = axe._audit.checks[id];
    return {id, evaluate: function corrected(...all) { return correct.call(this, evaluate.bind(this), ...all); }};
  };
  const isElement = (virtual) => virtual?.props.nodeType === 1;
  const nameOf = (virtual) => virtual.props.nodeName;

  // Lists whose items are in custom elements. A list may own items through elements without a role (WAI-ARIA 1.2, "Allowed
  // Accessibility Child Roles"), but HTML allows no other elements there, except custom elements with items in their shadow
  // trees, of which HTML says nothing.
  const isCustom = (virtual) => isElement(virtual) && nameOf(virtual).includes('-') && !getRole(virtual);
  const isGeneric = (virtual) => isCustom(virtual) || (isElement(virtual) && ['div', 'slot', 'span'].includes(nameOf(virtual)) && !getRole(virtual));
  const isIgnored = (virtual) => isElement(virtual) && ['link', 'script', 'style', 'template'].includes(nameOf(virtual));
  const isBlank = (virtual) => virtual.props.nodeType === 3 && !/\S/.test(virtual.props.nodeValue);
  const isItem = (virtual) => isElement(virtual) && (['dd', 'dt', 'li'].includes(nameOf(virtual)) || getRole(virtual) === 'listitem');
  const ownedBy = (custom) => {
    const owned = [];
    const pending = [...custom.children];
    while (pending.length) {
      const child = pending.shift();
      if (isGeneric(child)) pending.unshift(...child.children);
      else if (!isIgnored(child) && !isBlank(child)) owned.push(child);
    }
    return owned;
  };
  // An element without content, such as one that still loads, has no items.
  const itemsIn = (child) => {
    const owned = isCustom(child) ? ownedBy(child) : [];
    return owned.some(isItem) ? owned : [child];
  };
  const throughCustomElements = (judge, node, options, virtual, ...others) =>
    judge(node, options, Object.create(virtual, {children: {value: virtual.children?.flatMap(itemsIn)}}), ...others);
  // Nearest ancestor with a role, if at least one custom element is in between.
  const ownerThroughCustomElements = (virtual) => {
    let [parent, isCrossed] = [virtual.parent, false];
    for (; parent && isGeneric(parent); parent = parent.parent) isCrossed ||= isCustom(parent);
    return isCrossed ? parent : null;
  };
  const orOwner = (names, roles = []) => (judge, node, options, virtual, ...others) => {
    const result = judge(node, options, virtual, ...others);
    const owner = result === true ? null : ownerThroughCustomElements(virtual);
    if (!owner) return result;
    const isList = names.includes(nameOf(owner)) && [null, 'list', 'none', 'presentation'].includes(getRole(owner));
    return isList || roles.includes(getRole(owner)) || result;
  };

  // Headings in the order of the document. The levels in a sidebar, navigation or footer are the same on all pages, whatever
  // comes before (W3C WAI, "Page Structure", Headings), so that the content is compared with itself, and so is each such part.
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading], iframe, frame';
  const judgeOrder = axe._audit.checks['heading-order'].evaluate;
  let listedTree = null;
  function listHeadings(...all) {
    if (listedTree === axe._tree) return true;
    listedTree = axe._tree;
    const {data} = this;
    this.data = (found) => {
      const nodes = axe.utils.querySelectorAllFilter(axe._tree[0], HEADINGS, isVisibleToScreenReaders);
      const parts = new Map([[null, []]]);
      nodes.forEach(({actualNode}, index) => {
        const part = __scan.repeatedSectionOf(actualNode);
        if (!parts.has(part)) parts.set(part, []);
        parts.get(part).push(found.headingOrder[index]);
      });
      data.call(this, {headingOrder: [...parts.values()].flat()});
    };
    return judgeOrder.apply(this, all);
  }

  // WAI-ARIA 1.2, main, banner and contentinfo: landmarks are those of one document, and a frame has another. The headings of a
  // frame, such as an embedded film, are those of another document, too.
  const inEachFrame = (id) => {
    const {after} = axe._audit.checks[id];
    return (results) => {
      const frames = Map.groupBy(results, ({node}) => node.ancestry.slice(0, -1).join(' >>> '));
      return [...frames.values()].flatMap((ofFrame) => after(ofFrame));
    };
  };

  // HTML, the a element: "there must be no interactive content descendant". axe-core judges only roles that hide their
  // content from screen readers.
  const INTERACTIVE = 'a[href], button, input, select, textarea';
  const EDITABLE = '[contenteditable]:not([contenteditable=false i])';
  const MEDIA_AND_FRAMES = `audio[controls], details > summary, iframe, video[controls], ${EDITABLE}`;
  const isLink = (virtual) =>
    getRole(virtual) === 'link' && (nameOf(virtual) === 'a' ? virtual.hasAttr('href') : isFocusable(virtual));
  const controlsIn = (virtual) =>
    (virtual.children ?? []).flatMap((child) => {
      if (!isElement(child) || !isVisibleToScreenReaders(child)) return [];
      const {actualNode} = child;
      const isControl = isFocusable(child) && (actualNode.matches(INTERACTIVE) || isInTabOrder(child));
      return isControl || actualNode.matches(MEDIA_AND_FRAMES) ? [child] : controlsIn(child);
    });
  // A summary element that opens nothing is no control. Generators of documentation put one into a section.
  const isPlainSummary = (virtual) => nameOf(virtual) === 'summary' && !virtual.hasAttr('role') && !virtual.actualNode.matches('details > summary');
  const nested = axe._audit.rules.find((rule) => rule.id === 'nested-interactive');
  const matchesNested = nested.matches;

  axe.configure({
    rules: [{id: 'nested-interactive', matches: (node, virtual, ...others) => isLink(virtual) || (!isPlainSummary(virtual) && matchesNested(node, virtual, ...others))}],
    checks: [
      wrapCheck('only-listitems', throughCustomElements),
      wrapCheck('only-dlitems', throughCustomElements),
      wrapCheck('structured-dlitems', throughCustomElements),
      wrapCheck('listitem', orOwner(['menu', 'ol', 'ul'], ['list'])),
      wrapCheck('dlitem', orOwner(['dl'])),
      wrapCheck('no-focusable-content', function hasNoControl(judge, node, options, virtual, ...others) {
        if (!isLink(virtual)) return judge(node, options, virtual, ...others);
        const controls = controlsIn(virtual);
        this.relatedNodes(controls.map(({actualNode}) => actualNode));
        return !controls.length;
      }),
      {id: 'heading-order', evaluate: listHeadings, after: inEachFrame('heading-order')},
      {id: 'landmark-is-unique', after: inEachFrame('landmark-is-unique')},
    ],
  });
})()
