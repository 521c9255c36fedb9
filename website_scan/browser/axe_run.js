// Runs axe-core in one frame. The top frame's result stays in this world; the result of another frame is returned as JSON.
(async (options, context, isTop) => {
  // axe-core searches for frames before it has built the page's tree, and then finds no modal dialog on the whole page,
  // unless the tree already exists. Both steps build their own tree, and nodes of the two trees must not be mixed.
  axe.setup();
  __scan.extendAttributes(axe._tree[0]);
  let frames = [];
  if (axe.utils.querySelectorAll(axe._tree[0], 'iframe, frame').length) {
    frames = axe.utils.getFrameContexts(context, options);
    axe.teardown();
    axe.setup();
  }
  // axe-core would compute selectors for every node of every passed rule, which takes most of the time on a large page. The
  // nodes of the top frame need not be serialized, so axe_finish.js computes selectors only for nodes in a report.
  axe.utils.nodeSerializer.update({toSpec: (element) => __scan.toSpec(element, isTop)});
  // Results from before custom elements were judged again cannot be used on another width.
  const isSame = __scan.looksTheSame(axe._tree[0]) && !__scan.customElements.length;
  const runOnly = isSame ? {runOnly: {type: 'rule', values: __scan.ruleIds.filter(__scan.measures)}} : {};
  const partial = await axe.runPartial(context, {...options, ...runOnly});
  globalThis.__partial = partial;
  if (!isSame) __scan.ruleIds = partial.results.map(({id}) => id);
  return {
    frames: frames.map((frame) => ({selector: frame.frameSelector, context: frame.frameContext})),
    partial: isTop ? null : JSON.stringify(partial),
    customElements: __scan.collect(partial),
    isShortened: isSame,
  };
})
