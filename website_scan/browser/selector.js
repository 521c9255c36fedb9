// A CSS selector that matches one element and no other, starting at the nearest unique ID or the root; and its start tag.
// Methods are taken from prototypes, because a form's fields with the same names would hide them.
const LEVELS = 100;
const attribute = (node, name) => Element.prototype.getAttribute.call(node, name) || '';
const parentOf = (node) => Object.getOwnPropertyDescriptor(Node.prototype, 'parentElement').get.call(node);
const tagOf = (node) => Object.getOwnPropertyDescriptor(Element.prototype, 'localName').get.call(node);
const childrenOf = (node) => Object.getOwnPropertyDescriptor(Element.prototype, 'children').get.call(node);
const isUnique = (id) => Document.prototype.querySelectorAll.call(document, `#${id}`).length === 1;

function selectorOf(node) {
  const steps = [];
  for (let each = node; each && steps.length < LEVELS; each = parentOf(each)) {
    const id = attribute(each, 'id');
    const tag = tagOf(each);
    if (/^-?[A-Za-z_][\w-]*$/.test(id) && id.length <= 80 && isUnique(id)) {
      steps.unshift('#' + id);
      break;
    }
    if (tag === 'html' || tag === 'head' || tag === 'body' || !parentOf(each)) {
      steps.unshift(tag);
      continue;
    }
    const same = Array.from(childrenOf(parentOf(each))).filter((other) => tagOf(other) === tag);
    steps.unshift(same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(each) + 1})` : tag);
  }
  return steps.join(' > ');
}

function startTagOf(node) {
  const names = Element.prototype.getAttributeNames.call(node).slice(0, 12);
  return `<${tagOf(node)}${names.map((name) => ` ${name}="${attribute(node, name).slice(0, 100)}"`).join('')}>`.slice(0, 400);
}
