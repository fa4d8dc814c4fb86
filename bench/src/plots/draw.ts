/**
 * SVG by hand: panels of horizontal bars and of curves. Every axis begins at zero. The colours follow the reader's system; the
 * background is opaque, so that a page whose theme differs from the system's can be read as well.
 */

export interface Bar {
  readonly label: string
  readonly value: number
  /** The least and the greatest of the rounds. */
  readonly range?: readonly [low: number, high: number] | undefined
  readonly ours?: boolean
  /** At the right edge, in grey. */
  readonly note?: string
}

export interface BarPanel {
  readonly title: string
  readonly note: string
  readonly unit: string
  readonly bars: readonly Bar[]
  /** A vertical line with a name: what the bars are compared with. */
  readonly mark?: { readonly at: number; readonly label: string }
}

export interface Curve {
  readonly title: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface CurvePanels {
  readonly curves: readonly Curve[]
  readonly xTicks: readonly (readonly [x: number, label: string])[]
  readonly yUnit: string
  readonly mark: { readonly at: number; readonly label: string }
}

interface Frame {
  readonly title: string
  readonly about: string
  readonly footer: string
}

const WIDTH = 760
const PADDING = 24
const LABELS = 172
const VALUES = 104
const ROW = 26
const BAR = 16
const DIGIT = 8
const COLUMNS = 3

const STYLE = `
  svg { --paper: #ffffff; --ink: #1f2328; --muted: #59636e; --line: #d1d9e0; --ours: #2563eb; --other: #9aa5b1; --mark: #b45309 }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #14181d; --ink: #e6edf3; --muted: #9aa7b4; --line: #333c46; --ours: #6ea8fe; --other: #66727f; --mark: #e3a04f }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: var(--ink) }
  .title { font-size: 17px; font-weight: 600 }
  .panel { font-weight: 600 }
  .note { font-size: 12px; fill: var(--muted) }
  .tick { font-size: 11px; fill: var(--muted) }
  .mark { font-size: 11px; fill: var(--mark) }
  .paper { fill: var(--paper); stroke: var(--line) }
  .grid { stroke: var(--line); stroke-width: 1 }
  .axis { stroke: var(--muted); stroke-width: 1 }
  .limit { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 4 3 }
  .ours { fill: var(--ours) }
  .other { fill: var(--other) }
  .range { stroke: var(--ink); stroke-width: 1.25; opacity: 0.7 }
  .curve { fill: none; stroke: var(--ours); stroke-width: 2 }
  .point { fill: var(--ours) }
  .inside { fill: var(--paper) }
  .value { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round }
`

/** One panel below the other, each with an axis and a unit of its own. */
export function barChart(frame: Frame, panels: readonly BarPanel[]): string {
  const body: string[] = []
  let y = 84
  for (const panel of panels) {
    body.push(...barPanel(panel, y))
    y += panelHeight(panel)
  }
  return svg(frame, y + 8, body)
}

/** Small curves in rows of three, all with the same axes, so that they can be compared. */
export function curveChart(frame: Frame, { curves, xTicks, yUnit, mark }: CurvePanels): string {
  const [width, height, gap] = [200, 118, 44]
  const most = Math.max(mark.at, ...curves.flatMap(({ points }) => points.map(([, y]) => y)))
  const scale = ticks(most * 1.08)
  const top = 102
  const body = curves.flatMap(({ title, points }, index) => {
    const left = PADDING + 30 + (index % COLUMNS) * (width + gap - 6)
    const upper = top + Math.floor(index / COLUMNS) * (height + 62)
    const base = upper + height
    const x = (value: number): number => left + (value / xTicks.at(-1)![0]) * (width - 24)
    const y = (value: number): number => base - (value / scale.at(-1)!) * height
    return [
      text(left - 26, upper - 12, title, 'panel'),
      ...scale.flatMap((tick) => [
        line(left, y(tick), left + width - 24, y(tick), tick === 0 ? 'axis' : 'grid'),
        text(left - 6, y(tick) + 4, plain(tick), 'tick', 'end'),
      ]),
      ...xTicks.flatMap(([value, label]) => [
        line(x(value), base, x(value), base + 4, 'axis'),
        text(x(value), base + 16, label, 'tick', 'middle'),
      ]),
      line(left, y(mark.at), left + width - 24, y(mark.at), 'limit'),
      `<polyline class="curve" points="${points.map(([px, py]) => `${round(x(px))},${round(y(py))}`).join(' ')}"/>`,
      ...points.map(([px, py]) => `<circle class="point" cx="${round(x(px))}" cy="${round(y(py))}" r="3"/>`),
      text(left + width - 18, y(points.at(-1)![1]) + 4, plain(points.at(-1)![1]), 'tick'),
    ]
  })
  const rows = Math.ceil(curves.length / COLUMNS)
  const bottom = top + rows * (height + 62)
  return svg(frame, bottom - 8, [
    ...body,
    text(PADDING, bottom - 18, `${yUnit}. Dashed: ${mark.label}.`, 'note'),
  ])
}

function barPanel({ title, note, unit, bars, mark }: BarPanel, top: number): string[] {
  const left = PADDING + LABELS
  const right = WIDTH - PADDING - VALUES
  const most = Math.max(mark?.at ?? 0, ...bars.flatMap(({ value, range }) => [value, range?.[1] ?? 0]))
  const scale = ticks(most)
  const x = (value: number): number => left + (value / scale.at(-1)!) * (right - left)
  const first = top + (mark ? 46 : 30)
  const base = first + bars.length * ROW
  return [
    text(PADDING, top + 4, title, 'panel'),
    text(PADDING, top + 20, note, 'note'),
    ...scale.flatMap((tick) => [
      line(x(tick), first, x(tick), base, tick === 0 ? 'axis' : 'grid'),
      text(x(tick), base + 15, plain(tick), 'tick', 'middle'),
    ]),
    text(WIDTH - PADDING, base + 15, unit, 'tick', 'end'),
    ...bars.flatMap((bar, row) => {
      const middle = first + row * ROW + ROW / 2
      const [low, high] = bar.range ?? [bar.value, bar.value]
      return [
        text(left - 10, middle + 4, bar.label, undefined, 'end'),
        `<rect class="${bar.ours ? 'ours' : 'other'}" x="${left}" y="${round(middle - BAR / 2)}" width="${round(x(bar.value) - left)}" height="${BAR}" rx="2"/>`,
        ...(high > low ? [line(x(low), middle, x(high), middle, 'range')] : []),
        valueText(bar, Math.max(x(high), x(bar.value)), middle + 4, mark && x(mark.at)),
        ...(bar.note ? [text(WIDTH - PADDING, middle + 4, bar.note, 'tick', 'end')] : []),
      ]
    }),
    ...(mark
      ? [
          line(x(mark.at), first - 4, x(mark.at), base, 'limit'),
          text(x(mark.at), first - 9, mark.label, 'mark', 'middle'),
        ]
      : []),
  ]
}

/** Right of its bar; inside the bar where it would stand on the line of the mark. */
function valueText(bar: Bar, right: number, y: number, mark: number | undefined): string {
  const label = plain(bar.value)
  const crosses = mark !== undefined && right <= mark && right + 16 + label.length * DIGIT > mark
  return crosses ? text(right - 6, y, label, 'inside', 'end') : text(right + 8, y, label, 'value')
}

const panelHeight = ({ bars, mark }: BarPanel): number => (mark ? 46 : 30) + bars.length * ROW + 46

/** From zero, in steps of 1, 2 or 5 times a power of ten, to the first at or above the greatest value. */
export function ticks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size * 5 >= most)!
  const count = Math.ceil(most / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(6)))
}

function svg({ title, about, footer }: Frame, end: number, body: readonly string[]): string {
  const height = end + 34
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    '<!-- Made by bench plots from bench/RESULTS.md. Do not edit. -->',
    `<style>${STYLE}</style>`,
    `<rect class="paper" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    text(PADDING, 36, title, 'title'),
    text(PADDING, 56, about, 'note'),
    ...body,
    text(PADDING, height - 16, footer, 'tick'),
    '</svg>',
  ].join('\n')}\n`
}

function text(x: number, y: number, content: string, kind?: string, anchor?: 'middle' | 'end'): string {
  const attributes = [kind && ` class="${kind}"`, anchor && ` text-anchor="${anchor}"`]
    .filter(Boolean)
    .join('')
  return `<text x="${round(x)}" y="${round(y)}"${attributes}>${escaped(content)}</text>`
}

const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`

const round = (value: number): number => Math.round(value * 10) / 10

/** Three significant digits below 1,000; whole numbers above. */
const plain = (value: number): string =>
  (Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString('en-US')

const escaped = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
