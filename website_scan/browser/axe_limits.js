// Ends rules of axe-core that take too long, so that the results of the other rules are not lost. After the time, no
// further element is judged, except the first texts of each look, which are judged for contrast: on a page with thousands
// of rows, the others look the same.
(milliseconds) => {
  const SLOWEST = 'color-contrast';
  const MAX_LOOKS = 300;
  let ends = performance.now() + milliseconds;
  const MIN_LOOKS_MS = 1500;
  // The contrast of texts is the last rule. Its time begins with its first element, and again after that one, because
  // axe-core then measures the whole page once.
  let looksEnd = ends;
  const extendLooks = () => {
    looksEnd = Math.max(ends, performance.now() + Math.max(milliseconds / 3, MIN_LOOKS_MS));
  };
  const unfinished = new Map();
  const {rules, checks} = axe._audit;
  const ruleClass = rules[0].constructor.prototype;
  const checkClass = Object.values(checks)[0].constructor.prototype;
  const {run: runRule, gatherAndMatchNodes: gather} = ruleClass;
  const {run: runCheck} = checkClass;

  // A check with the function `after` compares elements, so that missing ones would change its result.
  const comparesElements = (rule) => [...rule.any, ...rule.all, ...rule.none].some((check) => checks[check.id ?? check]?.after);
  const looks = new Map();
  let lookByNode = new Map();
  const lookOf = (node) => {
    if (!node || node === document.documentElement) return 0;
    if (lookByNode.has(node)) return lookByNode.get(node);
    const style = getComputedStyle(node);
    const key = [lookOf(node.parentElement), node.localName, node.className, node.getAttribute('style'), style.color,
      style.backgroundColor, style.backgroundImage, style.fontSize, style.fontWeight, style.opacity].join('\n');
    if (!looks.has(key)) looks.set(key, looks.size + 1);
    lookByNode.set(node, looks.get(key));
    return looks.get(key);
  };
  const isFirstOfLook = (node, seen) => {
    if (seen.size >= MAX_LOOKS || performance.now() > looksEnd || !(node instanceof Element)) return false;
    const look = lookOf(node);
    return !seen.has(look) && Boolean(seen.add(look));
  };
  let [matched, judged] = [new Set(), new Set()];

  let current = null;
  let isMeasured = false;
  const isOver = () => performance.now() > ends;
  const skip = () => unfinished.set(current.id, !comparesElements(current));
  ruleClass.run = function run(...others) {
    current = this;
    if (this.preload) return runRule.apply(this, others); // it runs after all others, and takes no time
    if (this.id === SLOWEST) extendLooks();
    const matches = this.matches.original ?? this.matches;
    this.matches = function matchesInTime(node, ...more) {
      if (isOver() && !(this.id === SLOWEST && isFirstOfLook(node, matched))) {
        skip();
        return false;
      }
      return matches.call(this, node, ...more);
    };
    this.matches.original = matches;
    return runRule.apply(this, others);
  };
  ruleClass.gatherAndMatchNodes = function gatherAndMatchNodes(context, options) {
    const nodes = gather.call(this, context, options);
    if (this.id !== SLOWEST) return nodes;
    const rest = __scan.withoutKnownPasses(nodes, context, isOver);
    extendLooks();
    return rest;
  };
  checkClass.run = function run(node, options, context, resolve, reject) {
    const isCheap = current.preload || (current.id === SLOWEST && __scan.isContrastKnown(node));
    if (isOver() && !isCheap && !(current.id === SLOWEST && isFirstOfLook(node?.actualNode, judged))) {
      skip();
      resolve(null);
      return;
    }
    runCheck.call(this, node, options, context, resolve, reject);
    if (current.id === SLOWEST && !isMeasured) {
      isMeasured = true;
      extendLooks();
    }
  };
  rules.sort((one, other) => (one.id === SLOWEST) - (other.id === SLOWEST));
  globalThis.__allowTime = (more) => {
    ends = Math.max(ends, performance.now() + more);
  };
  // The page has another width now. The limits begin again.
  globalThis.__beginWidth = (more) => {
    lookByNode = new Map();
    [matched, judged] = [new Set(), new Set()];
    isMeasured = false;
    ends = performance.now() + more;
    looksEnd = ends;
  };
  // Unfinished rules, and whether the faults that they found stand nevertheless.
  globalThis.__unfinished = () => Object.fromEntries(unfinished);
}
