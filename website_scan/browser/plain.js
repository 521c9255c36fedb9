// Whether a picture, a WebP in base64, has the same colour everywhere, but for differences that nobody sees.
async (picture) => {
  const INVISIBLE = 8, SCALE = 4;
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (each) => each.charCodeAt(0))]));
  const [width, height] = [bitmap.width, bitmap.height].map((each) => Math.max(1, Math.round(each / SCALE)));
  const context = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  context.drawImage(bitmap, 0, 0, width, height);
  const {data} = context.getImageData(0, 0, width, height);
  for (let at = 0; at < data.length; at += 1) if (at % 4 < 3 && Math.abs(data[at] - data[at % 4]) > INVISIBLE) return false;
  return true;
}
