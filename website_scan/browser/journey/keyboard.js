// Judges whether the keyboard reaches the element of a pointer step, without using it.
const NATIVE = 'a[href], area[href], button, input, select, textarea, summary, audio[controls], video[controls], iframe';
// Arrow keys move between the items of these widgets (ARIA Authoring Practices, "Roving tabindex").
const ITEMS = '[role=tab], [role=menuitem], [role=menuitemcheckbox], [role=menuitemradio], [role=option], [role=treeitem], [role=gridcell], [role=radio], [role=row]';
const WIDGETS = '[role=tablist], [role=menu], [role=menubar], [role=listbox], [role=tree], [role=grid], [role=treegrid], [role=radiogroup], [role=toolbar]';
const isTabbable = (node) => node instanceof HTMLElement || node instanceof SVGElement ? node.tabIndex >= 0 && isVisible(node) && !isDisabled(node) : false;
// The element that would have the focus, and whether the browser itself acts on Enter or Space there.
journey.keyboardTarget = (node) => {
  const label = closest(node, 'label');
  const control = label instanceof HTMLLabelElement ? label.control : null;
  const outer = pathOf(node).filter(isElement);
  const native = control || outer.find((one) => matches(one, NATIVE));
  if (native && (isTabbable(native) || (control && native.tabIndex >= 0))) return {node: native, isNative: true, reason: ''};
  const focusable = outer.find((one) => one.hasAttribute('tabindex') || (one instanceof HTMLElement && one.isContentEditable));
  const item = outer.find((one) => matches(one, ITEMS));
  const widget = item && closest(item, WIDGETS);
  if (widget && (isTabbable(widget) || Array.from(elementsIn(widget)).some(isTabbable) || all(rootOf(widget), '[aria-controls], [aria-owns]').some((one) => attribute(one, 'aria-controls') === widget.id && isTabbable(one)))) {
    return {node: item, isNative: native !== undefined && native !== null, reason: '', isItem: true};
  }
  if (native && !isVisible(native)) return {node: native, isNative: true, reason: 'hidden'};
  if (native) return {node: native, isNative: true, reason: 'not focusable'};
  if (!focusable || !isTabbable(focusable)) return {node: focusable || node, isNative: false, reason: focusable && !isVisible(focusable) ? 'hidden' : 'not focusable'};
  return {node: focusable, isNative: focusable.isContentEditable, reason: ''};
};
journey.keyboardPath = (node) => pathOf(node);
