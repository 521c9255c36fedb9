// Resolves when the page has been laid out anew and its document has not changed for a moment, or after a second.
() => new Promise((resolve) => {
  const QUIET_MS = 150;
  const MAX_MS = 1000;
  let timer = 0;
  const finish = () => {
    observer.disconnect();
    resolve();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(finish, QUIET_MS);
  };
  const observer = new MutationObserver(wait);
  observer.observe(document, {attributes: true, childList: true, characterData: true, subtree: true});
  setTimeout(finish, MAX_MS);
  requestAnimationFrame(() => requestAnimationFrame(wait));
})
