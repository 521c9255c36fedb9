// Records trusted input, and describes elements by the kinds of selectors that Chrome's Recorder writes.
(() => {
  const ROLES = {A: 'link', BUTTON: 'button', SELECT: 'combobox'};
  const clean = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const nameOf = (element) => clean(
    element.getAttribute('aria-label') || (element.labels && element.labels[0] && element.labels[0].firstChild.textContent)
      || (element.matches('a, button') && element.textContent));
  const step = (element) => {
    if (element.id) return '#' + element.id;
    const alike = [...element.parentNode.children].filter((other) => other.localName === element.localName);
    return element.localName + (alike.length > 1 ? `:nth-of-type(${alike.indexOf(element) + 1})` : '');
  };
  const cssIn = (element) => {
    const parts = [];
    for (let node = element; node && node.localName !== 'html'; node = node.parentElement) {
      parts.unshift(step(node));
      if (node.id) break;
    }
    return parts.join(' > ');
  };
  const xpathOf = (element) => {
    if (element.id) return `/*[@id="${element.id}"]`;
    if (element.localName === 'body') return '/html/body'.slice(1);
    const alike = [...element.parentNode.children].filter((other) => other.localName === element.localName);
    return `${xpathOf(element.parentElement)}/${element.localName}[${alike.indexOf(element) + 1}]`;
  };
  // An element in shadow trees has one selector for each tree, from the outermost.
  const throughTrees = (element, select) => {
    const root = element.getRootNode();
    return [...(root.host ? throughTrees(root.host, select) : []), select(element)];
  };
  const selectorsOf = (element) => {
    const selectors = [], name = nameOf(element), role = ROLES[element.tagName], css = throughTrees(element, cssIn);
    if (name) selectors.push([`aria/${name}${role ? `[role="${role}"]` : ''}`]);
    selectors.push(css);
    if (css.length === 1) selectors.push(['xpath//' + xpathOf(element)]);
    selectors.push(['pierce/' + css[css.length - 1]]);
    if (element.matches('a, button') && clean(element.textContent)) selectors.push(['text/' + clean(element.textContent)]);
    return selectors;
  };
  const record = (recorded) => addStep(JSON.stringify(recorded));
  const listen = (type, handle) => addEventListener(type, (event) => event.isTrusted && handle(event), true);
  const targetOf = (event) => event.composedPath()[0];
  const IGNORED = ['checkbox', 'radio'];
  listen('keydown', (event) => record({type: 'keyDown', target: 'main', key: event.key}));
  listen('keyup', (event) => record({type: 'keyUp', target: 'main', key: event.key}));
  listen('input', (event) => {
    const element = targetOf(event);
    if (IGNORED.includes(element.type)) return;
    record({type: 'change', target: 'main', selectors: selectorsOf(element), value: element.value});
  });
  listen('click', (event) => {
    const element = targetOf(event).closest('a, button, input, select') || targetOf(event);
    // Enter and labels also cause clicks, which have no place.
    if (event.detail === 0 || (event.clientX === 0 && event.clientY === 0)) return;
    const box = element.getBoundingClientRect();
    record({
      type: event.detail === 2 ? 'doubleClick' : 'click', target: 'main', selectors: selectorsOf(element),
      offsetX: event.clientX - box.x, offsetY: event.clientY - box.y,
    });
  });
})();
