/** A screenshot with 256 colours: a third of its size, and a page of text and plain areas looks the same. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const MAX_COLOURS = 256
const RGB = 2
const RGBA = 6
const PALETTE = 3

/** `png` is one that a browser writes: 8 bits, RGB or RGBA, not interlaced. Transparency is dropped. */
export function smallPng(png) {
  const { width, height, colours } = decode(png)
  const palette = mostUsed(colours)
  const nearest = nearestIn(palette)
  const lines = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = nearest(colours[y * width + x])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, PALETTE, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk(
      'PLTE',
      Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])),
    ),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type, data) {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)])
  bytes.writeUInt32BE(data.length, 0)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
  return bytes
}

/** One number for each pixel, as 0xrrggbb. */
function decode(png) {
  const data = []
  let header
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const content = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') header = content
    if (type === 'IDAT') data.push(content)
    at += 12 + length
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  if (header[8] !== 8 || ![RGB, RGBA].includes(header[9]) || header[12] !== 0)
    throw new Error('Only PNG with 8 bits for each of red, green and blue is read here')
  const size = header[9] === RGBA ? 4 : 3
  const pixels = unfilter(inflateSync(Buffer.concat(data)), width * size, height, size)
  const colours = new Uint32Array(width * height)
  for (let index = 0; index < colours.length; index++)
    colours[index] = (pixels[index * size] << 16) | (pixels[index * size + 1] << 8) | pixels[index * size + 2]
  return { width, height, colours }
}

/** Each line begins with the number of its filter, which says from which neighbours its bytes differ. */
function unfilter(filtered, stride, height, size) {
  const bytes = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x >= size ? bytes[at - size] : 0
      const up = y > 0 ? bytes[at - stride] : 0
      const corner = x >= size && y > 0 ? bytes[at - stride - size] : 0
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]
      bytes[at] = filtered[y * (stride + 1) + 1 + x] + predicted
    }
  }
  return bytes
}

function paeth(left, up, corner) {
  const [byLeft, byUp, byCorner] = [left, up, corner].map((one) => Math.abs(left + up - corner - one))
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}

function mostUsed(colours) {
  const counts = new Map()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_COLOURS)
    .map(([colour]) => colour)
}

function nearestIn(palette) {
  const known = new Map(palette.map((colour, index) => [colour, index]))
  const distance = (a, b) =>
    ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2
  return (colour) => {
    const found = known.get(colour)
    if (found !== undefined) return found
    let best = 0
    for (const [index, other] of palette.entries())
      if (distance(other, colour) < distance(palette[best], colour)) best = index
    known.set(colour, best)
    return best
  }
}
