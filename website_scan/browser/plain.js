// Returns true if a picture, a WebP or JPEG in base64, has the same colour everywhere, except for invisible differences.
async (picture) => {
  const INVISIBLE = 8, SCALE = 4;
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (character) => character.charCodeAt(0))]));
  const [width, height] = [bitmap.width, bitmap.height].map((size) => Math.max(1, Math.round(size / SCALE)));
  const context = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  context.drawImage(bitmap, 0, 0, width, height);
  const {data} = context.getImageData(0, 0, width, height);
  for (let index = 0; index < data.length; index += 1) if (index % 4 < 3 && Math.abs(data[index] - data[index % 4]) > INVISIBLE) return false;
  return true;
}
