// Replaces how axe-core remembers values. Its library looks arguments up in a list, so that the time grows with the square of
// the number of elements, and each of its colours is in seven tables, which V8's garbage collector has to go through.
(() => {
  // Returns a function that remembers the results of `compute` by one or two arguments. `other` is axe-core's own function.
  globalThis.__memoize = (compute, other) => {
    const {length} = compute;
    if (length !== 1 && length !== 2) return other(compute);
    let results = new Map();
    let resultsBySecond = new Map();
    const resultsOf = (second) => {
      if (!resultsBySecond.has(second)) resultsBySecond.set(second, new Map());
      return resultsBySecond.get(second);
    };
    function remembered(first, second) {
      const known = length === 1 || second === undefined ? results : resultsOf(second);
      let result = known.get(first);
      if (result === undefined && !known.has(first)) {
        result = compute.apply(this, arguments);
        known.set(first, result);
      }
      return result;
    }
    remembered.clear = () => {
      results = new Map();
      resultsBySecond = new Map();
    };
    return Object.defineProperty(remembered, 'length', {value: length});
  };
  // Private field of a class, in place of a WeakMap or WeakSet.
  globalThis.__PrivateField = class {
    #key = Symbol('private');
    get(object) {
      return object[this.#key];
    }
    set(object, value) {
      object[this.#key] = value;
    }
    has(object) {
      return this.#key in object;
    }
    add(object) {
      object[this.#key] = true;
    }
  };
  // Counts the classes, tags and attributes of a page only when a selector needs them.
  globalThis.__countLater = (count) => {
    let counts = null;
    const counted = () => (counts ??= count());
    return {
      get attributes() {
        return counted().attributes;
      },
      get classes() {
        return counted().classes;
      },
      get tags() {
        return counted().tags;
      },
    };
  };
})()
