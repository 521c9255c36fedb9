// Returns the browser's performance entries of the load. Times are in milliseconds since the navigation began.
(async () => {
  const observe = (type) => new Promise((done) => {
    const entries = [];
    const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
    observer.observe({type, buffered: true});
    setTimeout(() => {
      entries.push(...observer.takeRecords());
      observer.disconnect();
      done(entries);
    }, 20);
  });
  const [largest, shifts] = await Promise.all(['largest-contentful-paint', 'layout-shift'].map(observe));
  const navigation = performance.getEntriesByType('navigation')[0] || {};
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  const last = largest[largest.length - 1];
  const blocking = performance.getEntriesByType('resource')
    .filter((entry) => entry.renderBlockingStatus === 'blocking').map((entry) => entry.name);
    const shiftedElement = (shift) => (shift.sources || []).filter((source) => source.node && source.node.nodeType === 1)
      .slice(0, 1).map((source) => selectorOf(source.node))[0] || '';
  return {
    firstContentfulPaint: paint ? paint.startTime : null,
    largestContentfulPaint: last ? {
      time: last.startTime,
      url: last.url || '',
      selector: last.element ? selectorOf(last.element) : '',
      snippet: last.element ? startTagOf(last.element) : '',
      isLazy: Boolean(last.element) && attribute(last.element, 'loading').toLowerCase() === 'lazy',
      isHigh: Boolean(last.element) && attribute(last.element, 'fetchpriority').toLowerCase() === 'high',
    } : null,
    // All shifts count, because phone emulation marks early shifts as caused by input, although there was none.
    layoutShifts: shifts.map((shift) => ({time: shift.startTime, value: shift.value, source: shiftedElement(shift)})),
    began: performance.timeOrigin, // milliseconds since 1970
    load: navigation.loadEventEnd || null,
    renderBlocking: blocking,
  };
})()
