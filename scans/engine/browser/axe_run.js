// One frame's part of an axe run: what it found stays here for the top frame, and goes out as JSON for the others.
(async (options, context, isTop) => {
  const frames = axe.utils.getFrameContexts(context, options);
  const partial = await axe.runPartial(context, options);
  globalThis.__partial = partial;
  return {
    frames: frames.map((each) => ({selector: each.frameSelector, context: each.frameContext})),
    partial: isTop ? null : JSON.stringify(partial),
  };
})
