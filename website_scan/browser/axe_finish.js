// Merge the frames' partial results into one, reduced to the fields of a report.
(async (options, parts) => {
  const NODES = 20;
  const PAIRS = 100;
  if (!parts.length) axe.setup(); // for the selectors, which axe_run.js left out
  const results = await axe.finishRun([globalThis.__partial, ...parts.map((each) => each && JSON.parse(each))], options);
  // CSS has no combinator into a frame or a shadow tree, so `>>>` stands for it.
  // The ancestors, without positions among siblings, because these change with the siblings.
  const ancestry = (node) => node.ancestry.flat(2).join(' >>> ').replace(/:nth-child\(\d+\)/g, '').slice(-300);
  // Order: the worst contrast first; for other rules, page order.
  const ratio = (node) => node.any[0]?.data?.contrastRatio ?? Infinity;
  const colours = (node) => {
    const { fgColor, bgColor } = node.any[0]?.data ?? {};
    return fgColor && bgColor ? `${fgColor} on ${bgColor}` : '';
  };
  // The elements by their pair of colours, the worst pair first. For other rules, all are in one group.
  const grouped = (nodes) => {
    const groups = new Map();
    for (const node of nodes.toSorted((one, other) => ratio(one) - ratio(other) || 0)) {
      const pair = colours(node);
      if (!groups.has(pair)) groups.set(pair, []);
      groups.get(pair).push(node);
    }
    return groups;
  };
  // One of each group, then a second one of each, and so on.
  const shown = (groups) => {
    const all = [...groups.values()].flatMap((group, at) => group.map((node, turn) => ({ node, at, turn })));
    const first = all.toSorted((one, other) => one.turn - other.turn || one.at - other.at).slice(0, NODES);
    return first.toSorted((one, other) => one.at - other.at || one.turn - other.turn).map(({ node }) => node);
  };
  // The start tag of a root or body: axe-core gives all of a short page.
  const snippet = ({ html }) => (/^<(html|body)\b(?:"[^"]*"|[^">])*>/.exec(html)?.[0] ?? html).slice(0, 400);
  // What any of the frames may have is missing in the page, not in each frame.
  const OF_PAGE = new Set(['landmark-one-main', 'page-has-heading-one']);
  const judged = ({ id, nodes }) => (OF_PAGE.has(id) ? nodes.filter((node) => node.target.length === 1) : nodes);
  const rule = (each) => {
    const nodes = judged(each);
    const groups = grouped(nodes);
    return {
      id: each.id, impact: each.impact, tags: each.tags, help: each.help, description: each.description,
      count: nodes.length,
      pairs: [...groups].filter(([pair]) => pair).map(([pair, nodes]) => [pair, nodes.length]).slice(0, PAIRS),
      nodes: shown(groups).map((node) => ({
        selector: node.target.flat(2).join(' >>> '), ancestry: ancestry(node), snippet: snippet(node), impact: node.impact,
        colours: colours(node),
        why: [...node.any, ...node.all, ...node.none].map((check) => check.message).slice(0, 1).join(' ').slice(0, 300),
      })),
    };
  };
  return {
    version: results.testEngine.version,
    violations: results.violations.map(rule), incomplete: results.incomplete.map(rule),
    passes: results.passes.map((each) => each.id), inapplicable: results.inapplicable.map((each) => each.id),
  };
})
