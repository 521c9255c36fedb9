// Decides on a further width which rules need not run again. The results of a rule that does not measure the layout are the
// same, if scripts have not changed the page since, and each element is shown or hidden as before. Such results of the
// first width are used again. This saves half of the time on a page that looks the same to a screen reader on all widths.
(() => {
  // Rules that measure sizes, positions, fonts or colours, or for which axe-core takes a table for a layout by its size.
  const MEASURES = new Set([
    'bypass', 'color-contrast', 'css-orientation-lock', 'empty-table-header', 'frame-focusable-content',
    'label-content-name-mismatch', 'link-in-text-block', 'p-as-heading', 'scope-attr-valid', 'scrollable-region-focusable',
    'skip-link', 'table-duplicate-name', 'table-fake-caption', 'target-size', 'td-has-header', 'td-headers-attr',
    'th-has-data-cells',
  ]);
  const {dom} = axe.commons;
  let seenBefore = '';
  let hasChanged = false;
  const observer = new MutationObserver(() => {
    hasChanged = true;
  });
  const visibility = (root) => {
    const bits = [];
    const nodes = [root];
    while (nodes.length) {
      const node = nodes.pop();
      if (node.props.nodeType === 1) {
        bits.push((dom.isVisibleToScreenReaders(node) ? 2 : 0) + (dom.isVisibleOnScreen(node) ? 1 : 0));
      }
      nodes.push(...node.children);
    }
    return bits.join('');
  };
  // Returns true if only the rules that measure have to run. Called on each width, with axe-core's tree of the page.
  __scan.looksTheSame = (root) => {
    const seen = visibility(root);
    hasChanged ||= observer.takeRecords().length > 0;
    if (hasChanged) __scan.selectors = new WeakMap();
    const isSame = seen === seenBefore && !hasChanged;
    seenBefore = seen;
    hasChanged = false;
    observer.observe(document, {attributes: true, characterData: true, childList: true, subtree: true});
    return isSame;
  };
  __scan.measures = (id) => MEASURES.has(id);
})()
