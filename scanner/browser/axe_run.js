// One frame's part of an axe run. The top frame's result stays here; those of the others are returned as JSON.
// Two rules of axe-core judge elements that nobody sees; here they are restricted as in the W3C's ACT rules.
(async (options, context, isTop) => {
  const {isInTabOrder, isVisibleOnScreen} = axe.commons.dom;

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

  axe.configure({
    rules: [{id: 'avoid-inline-spacing', matches: (node) => isVisibleOnScreen(node) && spacesText(node)}],
    checks: [{id: 'frame-focusable-content', evaluate: (node, _, root) => !(frameIsSeen() && holdsSeenControl(root))}],
  });
  const frames = axe.utils.getFrameContexts(context, options);
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
