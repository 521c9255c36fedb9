// Benchmark of this machine: returns the milliseconds for a fixed piece of work (strings, objects, sorting), the best of ten:
// on a busy machine, most are interrupted.
// The script does a seventh of the work, because all of it would take as long as loading a small page.
(() => {
  const PARTS = 4_000, OF_WHOLE = 7;
  const work = () => {
    const began = performance.now();
    let text = '';
    const parts = [];
    for (let index = 0; index < PARTS; index += 1) {
      text += String.fromCharCode(97 + (index * 7) % 26);
      parts.push({key: (index * 7919) % 10_007, text: text.slice(-8)});
    }
    parts.sort((one, other) => one.key - other.key);
    return JSON.stringify(parts).length ? performance.now() - began : 0;
  };
  return OF_WHOLE * Math.min(...Array.from({length: 10}, work));
})()
