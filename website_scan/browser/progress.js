// Computes the visual progress of a load from its frames. Like speedline, which Lighthouse uses, the script compares histograms
// of colours, without pixels that are almost white like an empty screen. Returns the progress of every frame, 0 to 1, without
// images that had arrived by then, and the share of the last frame's content that every image makes up.
// `frames` are pairs of a time and a JPEG in base64, `urls` are pairs of an image's URL and the time of its arrival.
async (frames, urls) => {
  const ELEMENTS = 3_000, IMAGES = 30, BLOCK_PX = 24, MOSTLY = 0.8, WHITE = 249;
  const STEP = 2; // every second pixel in both directions is enough for a histogram
  const read = (kind, name, node) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(node);
  const arrived = new Map(urls);
  const addresses = (node, style) => {
    const sources = (style.backgroundImage.match(/url\("[^"]+"\)/g) || []).map((value) => value.slice(5, -2));
    if (node instanceof HTMLImageElement) sources.push(read(HTMLImageElement, 'currentSrc', node));
    if (node instanceof HTMLVideoElement) sources.push(read(HTMLVideoElement, 'poster', node));
    return sources.map((url) => url.split('#')[0]).filter((url) => arrived.has(url));
  };
  const images = [];
  for (const node of Array.from(Document.prototype.querySelectorAll.call(document, '*')).slice(0, ELEMENTS)) {
    const box = Element.prototype.getBoundingClientRect.call(node);
    const [left, top] = [Math.max(0, box.left), Math.max(0, box.top)];
    const [right, bottom] = [Math.min(innerWidth, box.right), Math.min(innerHeight, box.bottom)];
    if (right - left < 1 || bottom - top < 1) continue;
    const [url] = addresses(node, getComputedStyle(node));
    if (!url || !Element.prototype.checkVisibility.call(node, {opacityProperty: true, visibilityProperty: true})) continue;
    images.push({url, node, box: {left, top, right, bottom}});
  }
  const visibleImages = images.slice(0, IMAGES);
  const numbers = new Map(visibleImages.map((image, index) => [image.node, index + 1]));

  // By block of the screen: number of the image that is drawn there, from 1; 0 if something else hides all images.
  const columns = Math.ceil(innerWidth / BLOCK_PX), rows = Math.ceil(innerHeight / BLOCK_PX);
  const blocks = new Uint8Array(columns * rows);
  const hiding = new Map();
  const hides = (node) => {
    if (!hiding.has(node)) {
      const {backgroundColor, opacity} = getComputedStyle(node);
      const alpha = Number((backgroundColor.match(/^rgba\(.*, ([\d.]+)\)$/) || ['', '1'])[1]);
      hiding.set(node, alpha * Number(opacity) >= MOSTLY || /^(canvas|embed|iframe|img|object|svg|video)$/i.test(node.localName));
    }
    return hiding.get(node);
  };
  if (visibleImages.length) {
    const sheet = new CSSStyleSheet(); // elementsFromPoint omits elements without pointer events
    sheet.replaceSync('* { pointer-events: auto !important }');
    document.adoptedStyleSheets.push(sheet);
    for (let block = 0; block < blocks.length; block += 1) {
      const [x, y] = [(block % columns + 0.5) * BLOCK_PX, (Math.floor(block / columns) + 0.5) * BLOCK_PX];
      if (!visibleImages.some(({box}) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)) continue;
      const stack = Document.prototype.elementsFromPoint.call(document, x, y);
      blocks[block] = numbers.get(stack.find((node) => numbers.has(node) || hides(node))) || 0;
    }
    document.adoptedStyleSheets.splice(document.adoptedStyleSheets.indexOf(sheet), 1);
  }

  const pixels = [];
  for (const [, frame] of frames) {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(frame), (character) => character.charCodeAt(0))]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d', {willReadFrequently: true});
    context.drawImage(bitmap, 0, 0);
    pixels.push(context.getImageData(0, 0, bitmap.width, bitmap.height));
  }
  const last = pixels[pixels.length - 1];
  const pixelsByImage = new Array(visibleImages.length + 1).fill(0);
  const histogram = (frame, time) => {
    const counts = new Int32Array(768);
    const {data, width, height} = frame;
    const hasLastSize = width === last.width && height === last.height;
    const isExcluded = [false, ...visibleImages.map((image) => hasLastSize && arrived.get(image.url) <= time)];
    for (let y = 0; y < height; y += STEP) {
      const row = Math.floor(y / height * rows) * columns;
      for (let x = 0; x < width; x += STEP) {
        const at = 4 * (y * width + x);
        const red = data[at], green = data[at + 1], blue = data[at + 2];
        if (red >= WHITE && green >= WHITE && blue >= WHITE) continue;
        const image = blocks[row + Math.floor(x / width * columns)];
        if (time === Infinity) pixelsByImage[image] += 1;
        if (isExcluded[image]) continue;
        counts[red] += 1;
        counts[256 + green] += 1;
        counts[512 + blue] += 1;
      }
    }
    return counts;
  };
  const final = histogram(last, Infinity);
  const total = final.reduce((sum, count) => sum + count, 0);
  const matching = (counts) => counts.reduce((sum, count, colour) => sum + Math.min(count, final[colour]), 0);
  const content = pixelsByImage.reduce((sum, count) => sum + count, 0);
  return {
    progress: pixels.map((frame, index) => (total ? matching(histogram(frame, frames[index][0])) / total : 1)),
    images: visibleImages.map((image, index) => [image.url, content ? pixelsByImage[index + 1] / content : 0]),
  };
}
