// Shows closed shadow trees to scripts of this isolated world, as if they were open. The page's own scripts see no difference.
(() => {
  const asked = new Set();
  const rootsIn = (root) => [root, ...[...root.querySelectorAll('*')].flatMap((node) => (node.shadowRoot ? rootsIn(node.shadowRoot) : []))];
  const mayHost = (node) => node.localName.includes('-') && !node.shadowRoot && !asked.has(node) && node.matches(':defined');
  // Custom elements whose shadow trees are closed, or that have none. Each is returned once.
  globalThis.__newHosts = (limit) => {
    const hosts = rootsIn(document).flatMap((root) => [...root.querySelectorAll('*')].filter(mayHost));
    const fresh = hosts.slice(0, Math.max(0, limit - asked.size));
    fresh.forEach((host) => asked.add(host));
    return fresh;
  };
  globalThis.__showClosedTree = (host, root) => {
    Object.defineProperty(host, 'shadowRoot', {value: root});
    for (const slot of root.querySelectorAll('slot')) {
      for (const node of slot.assignedNodes()) Object.defineProperty(node, 'assignedSlot', {value: slot});
    }
  };
})()
