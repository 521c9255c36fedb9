// Functions for a CSS selector that matches only one element, from the nearest unique ID or the root, and for its start tag.
// The functions call methods of prototypes, because a form's fields may have the same names as its own methods.
const LEVELS = 100;
const attribute = (node, name) => Element.prototype.getAttribute.call(node, name) || '';
const parentOf = (node) => Object.getOwnPropertyDescriptor(Node.prototype, 'parentElement').get.call(node);
const tagOf = (node) => Object.getOwnPropertyDescriptor(Element.prototype, 'localName').get.call(node);
const childrenOf = (node) => Object.getOwnPropertyDescriptor(Element.prototype, 'children').get.call(node);
const isUnique = (id) => Document.prototype.querySelectorAll.call(document, `#${id}`).length === 1;

function selectorOf(node) {
  const steps = [];
  for (let current = node; current && steps.length < LEVELS; current = parentOf(current)) {
    const id = attribute(current, 'id');
    const tag = tagOf(current);
    if (/^-?[A-Za-z_][\w-]*$/.test(id) && id.length <= 80 && isUnique(id)) {
      steps.unshift('#' + id);
      break;
    }
    if (tag === 'html' || tag === 'head' || tag === 'body' || !parentOf(current)) {
      steps.unshift(tag);
      continue;
    }
    const same = Array.from(childrenOf(parentOf(current))).filter((other) => tagOf(other) === tag);
    steps.unshift(same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(current) + 1})` : tag);
  }
  return steps.join(' > ');
}

function startTagOf(node) {
  const names = Element.prototype.getAttributeNames.call(node).slice(0, 12);
  return `<${tagOf(node)}${names.map((name) => ` ${name}="${attribute(node, name).slice(0, 100)}"`).join('')}>`.slice(0, 400);
}
