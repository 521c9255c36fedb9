// Shows axe-core the element references that scripts set as properties, such as `ariaLabelledByElements` (HTML, "reflecting
// content attributes in IDL attributes"). They leave an empty attribute, but axe-core reads IDs. In this isolated world only,
// the attribute lists IDs that nothing else on the page has, and `getElementById` finds their elements. Chromium has no
// references for aria-owns.
(() => {
  const PROPERTIES = {
    'aria-activedescendant': 'ariaActiveDescendantElement',
    'aria-controls': 'ariaControlsElements',
    'aria-describedby': 'ariaDescribedByElements',
    'aria-details': 'ariaDetailsElements',
    'aria-errormessage': 'ariaErrorMessageElements',
    'aria-flowto': 'ariaFlowToElements',
    'aria-labelledby': 'ariaLabelledByElements',
  };
  const MAX_REFERENCES = 1000;
  const SELECTOR = Object.keys(PROPERTIES).map((name) => `[${name}=""]`).join();
  const rootsIn = (root) => [root, ...[...root.querySelectorAll('*')].flatMap((node) => (node.shadowRoot ? rootsIn(node.shadowRoot) : []))];
  const roots = rootsIn(document);
  const targets = new Map();
  const idOf = (target) => {
    const id = `scan-reference-${targets.size}`;
    targets.set(id, target);
    return id;
  };
  const showReferences = (node) => {
    const ids = new Map();
    for (const [name, property] of Object.entries(PROPERTIES)) {
      if (node.getAttribute(name) !== '') continue;
      const referenced = [node[property] ?? []].flat();
      if (!referenced.length || targets.size + referenced.length > MAX_REFERENCES) continue;
      ids.set(name, referenced.map(idOf).join(' '));
    }
    if (ids.size) node.getAttribute = (name) => ids.get(name) ?? Element.prototype.getAttribute.call(node, name);
  };
  roots.flatMap((root) => [...root.querySelectorAll(SELECTOR)]).forEach(showReferences);
  if (targets.size) {
    for (const root of roots) {
      const find = root.getElementById.bind(root);
      root.getElementById = (id) => targets.get(id) ?? find(id);
    }
  }
})()
