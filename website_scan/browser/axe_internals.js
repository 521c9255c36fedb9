// Tells axe-core what only the browser knows of custom elements: role, name and states by ElementInternals, and labels of
// form-associated custom elements. axe-core first judges the page. Then this script lists the custom elements that matter to
// its results, or that may have a role, the scanner asks the browser's accessibility tree about them, and the rules judge the
// page again.
(() => {
  const MAX_ELEMENTS = 100;
  const MAX_DESCENDANTS = 500; // of one reported element
  const MAX_PAGE_ELEMENTS = 10_000;
  // Rules whose result depends on the role, name or state of a custom element.
  const RULES = new Set([
    'aria-allowed-attr', 'aria-allowed-role', 'aria-command-name', 'aria-conditional-attr', 'aria-dialog-name',
    'aria-input-field-name', 'aria-meter-name', 'aria-progressbar-name', 'aria-prohibited-attr', 'aria-required-attr',
    'aria-required-children', 'aria-required-parent', 'aria-toggle-field-name', 'aria-tooltip-name', 'aria-treeitem-name',
    'button-name', 'definition-list', 'dlitem', 'empty-heading', 'empty-table-header', 'label', 'label-title-only',
    'link-name', 'list', 'listitem', 'nested-interactive', 'role-img-alt', 'select-name', 'summary-name', 'svg-img-alt',
  ]);
  // Rules about the page, which any custom element may satisfy.
  const PAGE_RULES = new Set(['bypass', 'landmark-one-main', 'page-has-heading-one', 'region']);
  // Rules that compare elements with a role, or that the role of an element brings into effect.
  const RULES_OF_ROLES = [
    ...RULES, ...PAGE_RULES, 'heading-order', 'landmark-banner-is-top-level', 'landmark-complementary-is-top-level',
    'landmark-contentinfo-is-top-level', 'landmark-main-is-top-level', 'landmark-no-duplicate-banner',
    'landmark-no-duplicate-contentinfo', 'landmark-no-duplicate-main', 'landmark-unique',
  ];
  // Name of the role in Chromium's tree, where ARIA has another name for it.
  const ROLES = {image: 'img'};
  const ATTRIBUTES = {
    checked: 'aria-checked', expanded: 'aria-expanded', level: 'aria-level', pressed: 'aria-pressed',
    selected: 'aria-selected', valuemax: 'aria-valuemax', valuemin: 'aria-valuemin', valuenow: 'aria-valuenow',
  };
  const isCustom = (node) => node.localName?.includes('-') && node.matches(':defined');
  const flatParent = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  // Fields of a form replace its properties, such as `children`.
  const {get: childrenOf} = Object.getOwnPropertyDescriptor(Element.prototype, 'children');
  const ownChildren = (node) => [...(node.shadowRoot ? node.shadowRoot.children : childrenOf.call(node))];
  const flatChildren = (node) => ownChildren(node).flatMap((child) => [child, ...(child.assignedElements?.() ?? [])]);
  const withDescendants = (node, limit = MAX_DESCENDANTS) => {
    const nodes = [node];
    for (let at = 0; at < nodes.length && nodes.length < limit; at += 1) nodes.push(...flatChildren(nodes[at]).slice(0, limit));
    return nodes;
  };
  const ancestorsOf = (node) => {
    const ancestors = [];
    for (let parent = flatParent(node); parent; parent = flatParent(parent)) ancestors.push(parent);
    return ancestors;
  };
  const namersOf = (node) => {
    const ids = (node.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean);
    return [...(node.labels ?? []), ...ids.map((id) => node.getRootNode().getElementById(id)).filter(Boolean)];
  };
  // Elements that may give a reported element its role, name, owner or content.
  const relatedTo = (rule, reported) => {
    if (PAGE_RULES.has(rule)) return withDescendants(document.documentElement, MAX_PAGE_ELEMENTS);
    if (!RULES.has(rule)) return [];
    const around = (node) => [node, ...namersOf(node)].flatMap((each) => withDescendants(each)).concat(ancestorsOf(node));
    return reported.slice(0, MAX_ELEMENTS).flatMap(around);
  };
  const isReported = ({any, all, none}) =>
    (any.length && any.every((check) => check.result !== true)) ||
    all.some((check) => check.result !== true) || none.some((check) => check.result !== false);
  const mayHaveRole = (node) => isCustom(node) && !node.hasAttribute('role');
  const elements = new WeakMap();
  const shownAttributes = new WeakMap();
  // Makes the attributes visible to axe-core, and to nothing else. It also selects elements by their attributes.
  const show = (node, shown) => {
    const {getAttribute} = node; // element references may have replaced it
    shownAttributes.set(node, shown);
    node.getAttribute = (attribute) => shown.get(attribute) ?? getAttribute.call(node, attribute);
    node.hasAttribute = (attribute) => shown.has(attribute) || Element.prototype.hasAttribute.call(node, attribute);
  };
  // The browser has read the label for the name that is shown. axe-core would read this name again as part of the label.
  const {evaluate: differsFromLabel} = axe._audit.checks['no-implicit-explicit-label'];
  const readsLabel = (node) => shownAttributes.get(node)?.has('aria-label');
  function differsInName(node, ...others) {
    return readsLabel(node) ? false : differsFromLabel.call(this, node, ...others);
  }
  axe.configure({checks: [{id: 'no-implicit-explicit-label', evaluate: differsInName}]});
  const scan = {
    // Remembers the element of a result, which axe-core otherwise describes by selectors only.
    toSpec: (described, isTop) => {
      if (isTop) Object.assign(described.spec, scan.selectors.get(described.element));
      const spec = isTop ? described : described.toJSON();
      elements.set(spec, described.element);
      return spec;
    },
    // Selectors and ancestries of elements from an earlier width, unless the document has changed since.
    selectors: new WeakMap(),
    customElements: [],
    rules: [],
    // The rules that axe-core has run on the first width.
    ruleIds: [],
    // Returns the number of custom elements that matter to the results.
    collect: (partial) => {
      const found = new Set();
      const rules = [];
      for (const {id, nodes} of partial.results) {
        const reported = nodes.filter(isReported).map(({node}) => elements.get(node)).filter(Boolean);
        const custom = (reported.length ? relatedTo(id, reported) : []).filter(isCustom);
        if (custom.length) rules.push(id);
        custom.forEach((node) => found.add(node));
      }
      withDescendants(document.documentElement, MAX_PAGE_ELEMENTS).filter(mayHaveRole).forEach((node) => found.add(node));
      scan.customElements = [...found].slice(0, MAX_ELEMENTS);
      scan.rules = rules;
      return scan.customElements.length;
    },
    // Shows axe-core the role, name and states of the custom elements, as the browser's accessibility tree has them. Returns
    // true if the page has to be judged again.
    tell: (facts) => {
      scan.customElements.forEach((node, index) => {
        const {role, name, states} = facts[index] ?? {};
        const shown = new Map();
        if (role && !node.getAttribute('role')) shown.set('role', ROLES[role] ?? role);
        if (name && !node.getAttribute('aria-label')?.trim()) shown.set('aria-label', name);
        for (const [state, value] of Object.entries(states ?? {})) {
          if (ATTRIBUTES[state] && !node.hasAttribute(ATTRIBUTES[state])) shown.set(ATTRIBUTES[state], value);
        }
        if (shown.has('role')) scan.rules = RULES_OF_ROLES;
        if (shown.size) show(node, shown);
      });
      return scan.rules.length > 0;
    },
    // Lets the tree of axe-core list the attributes that it is shown.
    extendAttributes: (virtualNode) => {
      if (scan.hasExtendedAttributes) return;
      scan.hasExtendedAttributes = true;
      const {prototype} = virtualNode.constructor;
      const {get} = Object.getOwnPropertyDescriptor(prototype, 'attrNames');
      const attrNames = function attrNames() {
        const shown = shownAttributes.get(this.actualNode);
        return shown ? [...new Set([...get.call(this), ...shown.keys()])] : get.call(this);
      };
      Object.defineProperty(prototype, 'attrNames', {get: attrNames, configurable: true});
    },
  };
  globalThis.__scan = scan;
})()
