// Merge the frames' partial results into one, reduced to the fields of a report.
(async (options, parts) => {
  const NODES = 20;
  if (!parts.length) axe.setup(); // for the selectors, which axe_run.js left out
  const results = await axe.finishRun([globalThis.__partial, ...parts.map((each) => each && JSON.parse(each))], options);
  // CSS has no combinator into a frame or a shadow tree, so `>>>` stands for it.
  // The ancestors, without positions among siblings, because these change with the siblings.
  const ancestry = (node) => node.ancestry.flat(2).join(' >>> ').replace(/:nth-child\(\d+\)/g, '').slice(-300);
  // Order: the worst contrast first; for other rules, page order.
  const ratio = (node) => node.any[0]?.data?.contrastRatio ?? Infinity;
  const rule = (each) => ({
    id: each.id, impact: each.impact, tags: each.tags, help: each.help, description: each.description,
    count: each.nodes.length,
    nodes: each.nodes.toSorted((one, other) => ratio(one) - ratio(other) || 0).slice(0, NODES).map((node) => ({
      selector: node.target.flat(2).join(' >>> '), ancestry: ancestry(node), snippet: node.html.slice(0, 400), impact: node.impact,
      why: [...node.any, ...node.all, ...node.none].map((check) => check.message).slice(0, 1).join(' ').slice(0, 300),
    })),
  });
  return {
    version: results.testEngine.version,
    violations: results.violations.map(rule), incomplete: results.incomplete.map(rule),
    passes: results.passes.map((each) => each.id), inapplicable: results.inapplicable.map((each) => each.id),
  };
})
