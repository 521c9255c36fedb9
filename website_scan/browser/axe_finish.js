// Merges the partial results of frames, and of the widths of the page so far, into one result, reduced to the fields of a
// report.
(async (options, parts, width, isShortened) => {
  const NODES = 20;
  const PAIRS = 100;
  axe.setup(); // axe-core needs its tree to compute the selectors that axe_run.js left out
  const partials = [globalThis.__partial, ...parts.map((part) => part && JSON.parse(part))];
  const results = await axe.finishRun(partials, {...options, elementRef: true});
  axe.teardown(); // before the run on another width
  // axe-core found no selector for an element that was removed in the meantime, and would report all of them as one.
  const removed = new Map();
  for (const node of [...results.violations, ...results.incomplete].flatMap(({nodes}) => nodes)) {
    if (!node.element || node.element.isConnected) continue;
    const {html, element: {localName}} = node;
    removed.set(html, (removed.get(html) ?? 0) + 1);
    Object.assign(node, {target: [localName], ancestry: [localName], removed: `${html} ${removed.get(html)}`});
  }
  // The observer of changes does not see shadow trees.
  for (const {element, target, ancestry} of [...results.violations, ...results.incomplete].flatMap(({nodes}) => nodes)) {
    if (element?.getRootNode() === document) __scan.selectors.set(element, {selector: target, ancestry});
  }
  // Not in this world itself, which an earlier state of the same document may have used.
  const earlier = __scan.runs ?? [];
  if (isShortened) {
    // Rules that were not run again have the results of the width before.
    for (const kind of ['violations', 'incomplete', 'passes', 'inapplicable']) {
      results[kind].push(...earlier.at(-1)[kind].filter(({id}) => !__scan.measures(id)));
    }
  }
  __scan.runs = [...earlier, {width, ...results}];
  const {runs} = __scan;
  // Rules with the nodes that they report on any width. A node without `width` was reported on all of them.
  const mergeNodes = (kind) => {
    const rules = new Map();
    for (const run of runs) {
      for (const rule of run[kind]) {
        if (!rules.has(rule.id)) rules.set(rule.id, {...rule, nodes: new Map()});
        for (const node of rule.nodes) {
          const {nodes} = rules.get(rule.id);
          const key = node.removed ?? JSON.stringify(node.target);
          nodes.set(key, {...node, width: nodes.has(key) || runs.length === 1 ? null : run.width});
        }
      }
    }
    return rules;
  };
  const [failed, undecided] = [mergeNodes('violations'), mergeNodes('incomplete')];
  for (const [id, {nodes}] of undecided) {
    for (const key of failed.get(id)?.nodes.keys() ?? []) nodes.delete(key);
  }
  const listed = (rules) => [...rules.values()].map((rule) => ({...rule, nodes: [...rule.nodes.values()]})).filter(({nodes}) => nodes.length);
  const idsOf = (kind) => runs.map((run) => run[kind].map(({id}) => id));
  const applied = new Set(['violations', 'incomplete', 'passes'].flatMap(idsOf).flat());
  // The ancestors, without positions, which change with the siblings. CSS has no combinator into a frame or a shadow
  // tree, so `>>>` separates their selectors.
  const ancestry = (node) => node.ancestry.flat(2).join(' >>> ').replace(/:nth-child\(\d+\)/g, '').slice(-300);
  // Sort key: the worst contrast comes first. Other rules keep the order of the page.
  const ratio = (node) => node.any[0]?.data?.contrastRatio ?? Infinity;
  const colours = (node) => {
    const { fgColor, bgColor } = node.any[0]?.data ?? {};
    return fgColor && bgColor ? `${fgColor} on ${bgColor}` : '';
  };
  // Elements by their pair of colours, the worst pair first. Rules without colours have one group.
  const groupByColours = (nodes) => {
    const groups = new Map();
    for (const node of nodes.toSorted((one, other) => ratio(one) - ratio(other) || 0)) {
      const pair = colours(node);
      if (!groups.has(pair)) groups.set(pair, []);
      groups.get(pair).push(node);
    }
    return groups;
  };
  // Takes one element of every group, then a second one of every group, and so on, up to the limit.
  const selectNodes = (groups) => {
    const all = [...groups.values()].flatMap((group, at) => group.map((node, turn) => ({ node, at, turn })));
    const first = all.toSorted((one, other) => one.turn - other.turn || one.at - other.at).slice(0, NODES);
    return first.toSorted((one, other) => one.at - other.at || one.turn - other.turn).map(({ node }) => node);
  };
  // Start tag of html or body, because axe-core returns the whole markup of a short page.
  const snippet = ({ html }) => (/^<(html|body)\b(?:"[^"]*"|[^">])*>/.exec(html)?.[0] ?? html).slice(0, 400);
  // Rules about the whole page. What is missing may be in any frame, so results of inner frames do not count.
  const PAGE_RULES = new Set(['bypass', 'landmark-one-main', 'page-has-heading-one']);
  const countedNodes = ({ id, nodes }) => (PAGE_RULES.has(id) ? nodes.filter((node) => node.target.length === 1) : nodes);
  const reduce = (rule) => {
    const nodes = countedNodes(rule);
    const groups = groupByColours(nodes);
    return {
      id: rule.id, impact: rule.impact, tags: rule.tags, help: rule.help, description: rule.description,
      count: nodes.length,
      pairs: [...groups].filter(([pair]) => pair).map(([pair, nodes]) => [pair, nodes.length]).slice(0, PAIRS),
      nodes: selectNodes(groups).map((node) => ({
        selector: node.target.flat(2).join(' >>> '), ancestry: ancestry(node), snippet: snippet(node), impact: node.impact,
        colours: colours(node), width: node.width,
        why: [...node.any, ...node.all, ...node.none].map((check) => check.message).slice(0, 1).join(' ').slice(0, 300),
      })),
    };
  };
  const violations = listed(failed).map(reduce);
  const incomplete = listed(undecided).map(reduce);
  const judged = [...violations, ...incomplete];
  const uncounted = judged.map(({id}) => id).filter((id) => !judged.some((rule) => rule.id === id && rule.count));
  return {
    version: results.testEngine.version,
    violations: violations.filter(({count}) => count), incomplete: incomplete.filter(({count}) => count),
    passes: [...new Set(idsOf('passes').flat()), ...uncounted],
    inapplicable: [...new Set(idsOf('inapplicable').flat())].filter((id) => !applied.has(id)),
  };
})
