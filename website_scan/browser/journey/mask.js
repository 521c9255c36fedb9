// Covers boxes of a picture, a PNG in base64, with grey, and returns a picture of the media type `type` in base64. The boxes
// are in CSS pixels from the picture's corner; `size` is the picture's size in CSS pixels.
async (picture, boxes, size, type, quality) => {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (character) => character.charCodeAt(0))]));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext('2d', {willReadFrequently: true});
  context.drawImage(bitmap, 0, 0);
  context.fillStyle = '#777';
  const [horizontal, vertical] = [bitmap.width / size[0], bitmap.height / size[1]];
  for (const [left, top, width, height] of boxes) {
    context.fillRect(Math.floor(left * horizontal), Math.floor(top * vertical), Math.ceil(width * horizontal) + 1, Math.ceil(height * vertical) + 1);
  }
  const bytes = new Uint8Array(await (await canvas.convertToBlob({type, quality})).arrayBuffer());
  let text = '';
  for (let index = 0; index < bytes.length; index += 8192) text += String.fromCharCode(...bytes.subarray(index, index + 8192));
  return btoa(text);
}
