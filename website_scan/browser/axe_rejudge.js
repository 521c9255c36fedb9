// Judges a frame again with the rules whose results the browser's accessibility tree may refute.
(async (options, context, facts, isTop) => {
  const {__partial: partial, __scan: scan} = globalThis;
  if (!scan.tell(facts)) return isTop ? null : JSON.stringify(partial);
  axe.setup();
  const again = await axe.runPartial(context, {...options, runOnly: {type: 'rule', values: scan.rules}});
  const results = new Map(again.results.map((result) => [result.id, result]));
  partial.results = partial.results.map((result) => results.get(result.id) ?? result);
  return isTop ? null : JSON.stringify(partial);
})
