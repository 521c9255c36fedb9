// Runs the rules that axe_run.js has left out in a frame, because another frame does not look the same on this width.
(async (options, context, isTop) => {
  const {__partial: partial, __scan: scan} = globalThis;
  axe.setup();
  const values = scan.ruleIds.filter((id) => !scan.measures(id));
  const others = await axe.runPartial(context, {...options, runOnly: {type: 'rule', values}});
  partial.results.push(...others.results);
  return isTop ? null : JSON.stringify(partial);
})
