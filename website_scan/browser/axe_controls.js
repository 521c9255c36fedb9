// Corrects rules of axe-core about form controls, sizes of targets, and scrolling by keyboard.
(() => {
  const {isComboboxPopup, labelVirtual} = axe.commons.aria;
  const {isFocusable, isVisibleToScreenReaders} = axe.commons.dom;
  const wrapCheck = (id, correct) => {
    const {evaluate} = axe._audit.checks[id];
    return {id, evaluate: function corrected(...all) { return correct.call(this, evaluate.bind(this), ...all); }};
  };
  const flatParent = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const isInside = (node, container) => {
    for (let current = node; current; current = flatParent(current)) if (current === container) return true;
    return false;
  };

  // HTML, "labeled control": the first labelable descendant of a label in its own tree. Neither a second control nor one in a
  // slot of the label is labelled by it. A label with `for` labels the first element with this ID only.
  const isLabelled = (judge, node, ...others) => (node.labels && !node.labels.length ? false : judge(node, ...others));

  // A field with a description only has no name, which the rules `label` and `select-name` report.
  const hasNoLabel = (node, virtual) => node.labels && !node.labels.length && !labelVirtual(virtual);
  const isNamedByTitle = (judge, node, options, virtual, ...others) =>
    /\S/.test(node.title) && (judge(node, options, virtual, ...others) || hasNoLabel(node, virtual));

  // WCAG 2.5.8, "User Agent Control": the size of the target is determined by the browser and is not modified by the author.
  // The computed style, unlike the used one, tells which sizes nobody has set.
  const BUTTONS = 'button, input[type=button], input[type=reset], input[type=submit]';
  const WITHOUT_TEXT = 'input[type=checkbox], input[type=radio], input[type=range]';
  const CONTROLS = `${BUTTONS}, input:not([type=hidden], [type=image], [type=color]), select`;
  const UNSET_SIZE = {
    'width': 'auto', 'height': 'auto', 'min-width': 'auto', 'min-height': 'auto', 'max-width': 'none', 'max-height': 'none',
    'aspect-ratio': 'auto', 'flex-basis': 'auto', 'zoom': '1', 'transform': 'none', 'scale': 'none',
  };
  const FONT = {'font-size': '13.3333px', 'line-height': 'normal'};
  const BOX_OF_BUTTON = {'padding-top': '1px', 'padding-bottom': '1px', 'padding-left': '6px', 'padding-right': '6px', 'border-top-width': '2px'};
  const BOX_OF_FIELD = {'padding-top': '1px', 'padding-bottom': '1px', 'padding-left': '2px', 'padding-right': '2px', 'border-top-width': '2px'};
  const BOX_OF_SELECT = {'padding-top': '0px', 'padding-bottom': '0px', 'border-top-width': '1px'};
  const boxOf = (node) => {
    if (node.matches(BUTTONS)) return BOX_OF_BUTTON;
    if (node.localName === 'select') return BOX_OF_SELECT;
    return ['date', 'datetime-local', 'file', 'month', 'time', 'week'].includes(node.type) ? {} : BOX_OF_FIELD;
  };
  const hasStyle = (node, expected) => {
    const style = node.computedStyleMap();
    return Object.entries(expected).every(([name, value]) => String(style.get(name) ?? value) === value);
  };
  const isScaled = (node) => Math.abs(node.getBoundingClientRect().height - node.offsetHeight) > 1;
  // A grid or flexible box of the author may be smaller than the control in it. Chromium's radio buttons have 13 pixels, and
  // its buttons and fields of one line have 19 to 22.
  const isSqueezed = (node) => Math.min(node.offsetWidth, node.offsetHeight) < (node.matches(WITHOUT_TEXT) ? 13 : 16);
  const hasUserAgentSize = (node) => {
    if (!node.matches(CONTROLS) || !hasStyle(node, UNSET_SIZE) || isScaled(node) || isSqueezed(node)) return false;
    if (node.matches(WITHOUT_TEXT)) return hasStyle(node, {appearance: 'auto'});
    // Pictures and other text sizes are content of the author, which decides on the size of the button.
    const isPlain = ![...node.querySelectorAll('button *')].some((child) => child.matches('canvas, img, object, svg, video') || !hasStyle(child, FONT));
    return isPlain && hasStyle(node, {...FONT, ...boxOf(node)});
  };

  // A widget with aria-activedescendant scrolls its active item into view (WAI-ARIA Authoring Practices, "Managing Focus in
  // Composites Using aria-activedescendant").
  let active;
  const activeDescendants = () => {
    const widgets = axe.utils.querySelectorAll(axe._tree[0], '[aria-activedescendant]');
    return widgets.filter((widget) => isFocusable(widget)).map(({actualNode}) => actualNode.ariaActiveDescendantElement).filter(Boolean);
  };
  const POPUPS = '[role=grid], [role=listbox], [role=menu], [role=tree]';
  const isScrolledByWidget = (node, virtual) => {
    active ??= activeDescendants();
    const popups = axe.utils.querySelectorAll(virtual, POPUPS).filter((popup) => isVisibleToScreenReaders(popup));
    return active.some((item) => isInside(item, node)) || popups.some((popup) => isComboboxPopup(popup));
  };
  // Since version 130, Chromium puts a scroller without controls in the tab order, unless it has a negative tabindex.
  // Version 130 also has `box-decoration-break` without a prefix, by which a page sees which browser it is in.
  const focusesScrollers = CSS.supports('box-decoration-break', 'clone');
  function isReached(judge, node, options, virtual, ...others) {
    if (judge(node, options, virtual, ...others) || isScrolledByWidget(node, virtual)) return true;
    return focusesScrollers && !node.hasAttribute('tabindex') ? undefined : false;
  }

  const targetSize = axe._audit.rules.find((rule) => rule.id === 'target-size');
  const matchesTarget = targetSize.matches;
  const reached = wrapCheck('focusable-element', isReached);
  reached.metadata = {
    impact: 'serious',
    messages: {
      pass: 'Element is focusable',
      fail: 'Element should be focusable',
      incomplete: 'Older browsers, such as Chromium before version 130, do not reach the element with Tab',
    },
  };
  axe.configure({
    rules: [{id: 'target-size', matches: (node, ...others) => matchesTarget(node, ...others) && !hasUserAgentSize(node)}],
    checks: [wrapCheck('implicit-label', isLabelled), wrapCheck('explicit-label', isLabelled), wrapCheck('title-only', isNamedByTitle), reached],
  });
})()
