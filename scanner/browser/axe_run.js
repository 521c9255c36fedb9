// One frame's part of an axe run: what it found stays here for the top frame, and goes out as JSON for the others.
// Two rules of axe-core judge what nobody sees; they are told here what the W3C's own rules (ACT) apply to.
(async (options, context, isTop) => {
  const {isInTabOrder, isVisibleOnScreen} = axe.commons.dom;

  // Text that takes its spacing from the style attribute, and not from an element in between (ACT 24afc2, 9e45ec, 78fd32).
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

  // Whether people see the frame, and a control in it (ACT akn7bn).
  const frameIsSeen = () => {
    try {
      const frame = window.frameElement;
      if (!frame) return true;
      const [box, view] = [frame.getBoundingClientRect(), frame.ownerDocument.defaultView];
      return box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0;
    } catch {
      return true; // of another origin
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
  // Every node of every rule that passes would be described by selectors, which takes most of the time on a large page.
  // Without frames these nodes go nowhere, so that only those that a report tells need one (axe_finish.js).
  if (isTop && !frames.length) axe.utils.nodeSerializer.update({toSpec: (element) => element});
  const partial = await axe.runPartial(context, options);
  globalThis.__partial = partial;
  return {
    frames: frames.map((each) => ({selector: each.frameSelector, context: each.frameContext})),
    partial: isTop ? null : JSON.stringify(partial),
  };
})
