// Whether a reader can bring an element to the screen by scrolling. axe-core takes an element for hidden if it is outside
// of any ancestor with `overflow: hidden`, even if a box in between scrolls, or if the element is in a box that this
// ancestor does not clip: a fixed or absolute box, an open popover, a modal dialog (CSS Overflow 3, section 3; CSS
// Positioned Layout 3, section 2.1).
(() => {
  const MIN_PX = 2; // axe-core takes smaller boxes for visually hidden
  const remembered = (compute) => {
    const known = new WeakMap();
    return (key) => {
      let value = known.get(key);
      if (value === undefined) {
        value = compute(key);
        known.set(key, value);
      }
      return value;
    };
  };
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const isInTopLayer = remembered((node) => node.matches(':modal') || (node.hasAttribute('popover') && node.matches(':popover-open')));
  const containsFixed = (style) =>
    style.transform !== 'none' || style.perspective !== 'none' || style.filter !== 'none' || style.backdropFilter !== 'none' ||
    /paint|layout|strict|content/.test(style.contain) || /transform|perspective|filter/.test(style.willChange);
  // Whether the content of a scroller begins at its right and at its bottom, from where the reader scrolls back (CSS Overflow 3,
  // section 2.2 "Scrollable Overflow"; CSS Flexible Box Layout 1, `flex-direction` and `flex-wrap`).
  const beginsAtEnd = ({direction, display, flexDirection, flexWrap, writingMode}) => {
    let isInlineReversed = (direction === 'rtl') !== (writingMode === 'sideways-lr');
    let isBlockReversed = writingMode.endsWith('-rl');
    if (display.endsWith('flex')) {
      const [isRow, isWrapReversed] = [flexDirection.startsWith('row'), flexWrap === 'wrap-reverse'];
      if (isRow ? flexDirection === 'row-reverse' : isWrapReversed) isInlineReversed = !isInlineReversed;
      if (isRow ? isWrapReversed : flexDirection === 'column-reverse') isBlockReversed = !isBlockReversed;
    }
    return writingMode.startsWith('horizontal') ? [isInlineReversed, isBlockReversed] : [isBlockReversed, isInlineReversed];
  };
  const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll';
  const clips = (overflow) => overflow === 'hidden' || overflow === 'clip';
  // Every ancestor is asked for its style by each of its descendants.
  const styleOf = remembered((node) => {
    const {position, overflow, overflowX, overflowY} = getComputedStyle(node);
    const isPlain = ![overflowX, overflowY].some((each) => scrolls(each) || clips(each));
    return {position, overflow, overflowX, overflowY, isPlain};
  });
  const containsAll = remembered((node) => containsFixed(getComputedStyle(node)));
  const isContaining = (position, node) => {
    if (position !== 'absolute' && position !== 'fixed') return true;
    return (position === 'absolute' && styleOf(node).position !== 'static') || containsAll(node);
  };

  const boxesOf = remembered((node) => {
    const {scrollWidth, scrollHeight, scrollLeft, scrollTop} = node;
    const box = node.getBoundingClientRect();
    const [isFromRight, isFromBottom] = beginsAtEnd(getComputedStyle(node));
    const contentLeft = (isFromRight ? box.right - scrollWidth : box.left) - scrollLeft;
    const contentTop = (isFromBottom ? box.bottom - scrollHeight : box.top) - scrollTop;
    return {box, contentLeft, contentTop, scrollWidth, scrollHeight};
  });

  // The part of an axis in which a box shows what lies at `from` to `to`; null if it never shows that.
  const through = (from, to, overflow, start, end, contentStart, contentSize) => {
    if (scrolls(overflow)) {
      const isReached = to > contentStart && from < contentStart + contentSize && end - start >= MIN_PX;
      return isReached ? [start, end] : null;
    }
    if (!clips(overflow)) return [from, to];
    const [first, last] = [Math.max(from, start), Math.min(to, end)];
    return last > first && end - start >= MIN_PX ? [first, last] : null;
  };

  const reachesScreen = (element) => {
    let {left, right, top, bottom} = element.getBoundingClientRect();
    if (right - left <= 0 || bottom - top <= 0) return false;
    let style = styleOf(element);
    if (clips(style.overflowX) && (right - left < MIN_PX || bottom - top < MIN_PX)) return false;
    let isFixed = false;
    let isReachedByScrolling = false;
    for (let node = element; node !== document.documentElement; ) {
      if (isInTopLayer(node)) {
        isFixed = true;
        break;
      }
      const {position} = style;
      let parent = parentOf(node);
      while (parent && parent !== document.documentElement && !isContaining(position, parent)) {
        parent = parentOf(parent);
      }
      isFixed = position === 'fixed' && parent === document.documentElement;
      if (!parent || isFixed) break;
      node = parent;
      style = styleOf(node);
      // The viewport takes the overflow of the root element, or else of the body (CSS Overflow 3, section 3.3).
      if (node === document.body || node === document.documentElement) continue;
      isReachedByScrolling = true;
      if (style.isPlain) continue;
      const {box, contentLeft, contentTop, scrollWidth, scrollHeight} = boxesOf(node);
      const across = through(left, right, style.overflowX, box.left, box.right, contentLeft, scrollWidth);
      const down = through(top, bottom, style.overflowY, box.top, box.bottom, contentTop, scrollHeight);
      if (!across || !down) return false;
      [left, right, top, bottom] = [...across, ...down];
    }
    if (right - left <= 0 || bottom - top <= 0) return false;
    const isOnScreen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    return isFixed || !isReachedByScrolling ? isOnScreen : right + scrollX > 0 && bottom + scrollY > 0;
  };

  const reaches = remembered(reachesScreen);
  globalThis.__reachesScreen = (virtual) => {
    const node = virtual?.actualNode ?? virtual;
    return node instanceof Element && reaches(node);
  };

  // The ancestors with `overflow: hidden` that clip an element where it is when a reader has scrolled to it: those inside of
  // the nearest box that scrolls. Null for an element that axe-core has to judge.
  globalThis.__clippingAncestors = remembered((virtual) => {
    if (!virtual || !globalThis.__reachesScreen(virtual)) return null;
    const clipping = [];
    let {position} = styleOf(virtual.actualNode);
    for (let node = virtual; node; node = node.parent) {
      const style = styleOf(node.actualNode);
      const isBetween = node !== virtual && !isContaining(position, node.actualNode);
      if (isBetween) continue;
      if (node !== virtual) ({position} = style);
      const isViewport = node.actualNode === document.body || node.actualNode === document.documentElement;
      if (node !== virtual && !isViewport && (scrolls(style.overflowX) || scrolls(style.overflowY))) break;
      if (style.overflow === 'hidden') clipping.push(node);
      if (isInTopLayer(node.actualNode)) break;
    }
    return clipping;
  });
})
