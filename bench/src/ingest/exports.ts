/**
 * Large exports as the platforms write them, the same bytes for the same options. The seed moves the figures only:
 * campaigns, ad sets, ads, ids and days stay, so that another seed is the corrected export of the same weeks.
 * Lines are written as they are made: memory grows with the number of wrong values, not with the number of lines.
 */
import { appendFileSync, closeSync, fstatSync, openSync } from 'node:fs'

/** What each kind of wrong value puts where, and the rule that should notice. */
const WRONG = {
  ruined_id: { field: 'id', value: '1.20253E+17', rule: 'id.not_scientific' },
  not_a_number: { field: 'amount', value: '12,a0', rule: 'number.invalid' },
  negative: { field: 'count', value: '-5', rule: 'integer.min' },
  fraction: { field: 'count', value: '12.5', rule: 'integer.fraction' },
  impossible_date: { field: 'day', value: '2026-02-30', rule: 'date.impossible' },
  missing_date: { field: 'day', value: '', rule: 'required' },
  too_many_fields: { field: null, value: 'surplus', rule: 'structure.too_many_fields' },
  too_few_fields: { field: null, value: '', rule: 'structure.too_few_fields' },
  not_json: { field: null, value: '', rule: 'structure.not_json' },
} as const

export type WrongKind = keyof typeof WRONG

export interface Planted {
  readonly kind: WrongKind
  /** Physical line, counted from 1 with the lines above the data. */
  readonly line: number
  /** Null where the line as a whole is wrong. */
  readonly header: string | null
  readonly value: string
  readonly rule: string
}

export interface WrittenExport {
  readonly path: string
  readonly bytes: number
  /** Data lines without the totals. */
  readonly lines: number
  /** Totals rows, which come on top. */
  readonly skipped: number
  readonly firstLine: number
  readonly planted: Planted[]
}

interface Amount {
  readonly lines: number
  readonly seed?: number
  readonly days?: number
  readonly currency?: string
  readonly badLines?: Partial<Record<WrongKind, number>>
}

export interface ExportOptions extends Amount {
  readonly campaigns?: number
  /** In each campaign. */
  readonly adSets?: number
  /** In each ad set; by default as many as the lines need, since no ad has two lines for one day. */
  readonly ads?: number
}

export interface OrderOptions extends Amount {
  readonly customers?: number
  readonly linesPerOrder?: number
}

/** What any line has, before it is spelled. Text, so that a wrong value can take its place. */
interface Line {
  id: string
  day: string
  amount: string
  count: string
}

/** The id is the ad's, the amount its cost, the count its impressions. */
interface AdLine extends Line {
  campaign: string
  campaignId: string
  adSet: string
  adSetId: string
  ad: string
  /** Start and end of the report: right where the day is impossible, missing where the day is. */
  period: string
  reach: number
  clicks: number
  conversions: number
}

interface Layout<L extends Line> {
  readonly kind: 'csv' | 'json'
  readonly above: readonly string[]
  readonly below: readonly string[]
  /** The totals among the lines above and below. */
  readonly totals: number
  readonly headers: Record<keyof Line, string>
  readonly spell: (line: L) => string
}

export function writeMetaExport(path: string, options: ExportOptions): WrittenExport {
  const { currency = 'AUD' } = options
  const attribution = '7-day click or 1-day view'
  return writeAds(path, options, 'cents', {
    kind: 'csv',
    above: [
      `\ufeffCampaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Delivery status,Amount spent (${currency}),Impressions,Reach,Attribution setting,Ad set name,Result type,Results,Link clicks,Reporting starts,Reporting ends`,
      `,,,,,,,,987654.32,123456789,456789,,,,4321,1234567,${FIRST_DAY},${FIRST_DAY}`,
    ],
    below: [],
    totals: 1,
    headers: {
      id: 'Ad ID',
      day: 'Day',
      amount: `Amount spent (${currency})`,
      count: 'Impressions',
    },
    spell: (l) =>
      `${l.campaign},${l.campaignId},${l.adSet},${l.adSetId},${l.ad},${l.id},${l.day},active,${quoted(l.amount)},${l.count},${l.reach},${attribution},${l.adSet},${l.conversions > 0 ? `Website purchases,${l.conversions}` : ','},${l.clicks},${l.period},${l.period}`,
  })
}

export function writeGoogleApiLines(path: string, options: ExportOptions): WrittenExport {
  const { currency = 'AUD' } = options
  return writeAds(path, options, 'micros', {
    ...JSON_LINES,
    headers: {
      id: 'adGroupAd.ad.id',
      day: 'segments.date',
      amount: 'metrics.costMicros',
      count: 'metrics.impressions',
    },
    spell: (l) =>
      `{"customer":{"currencyCode":"${currency}"},"campaign":{"id":"${l.campaignId}","name":${l.campaign},"status":"ENABLED"},"adGroup":{"id":"${l.adSetId}","name":${l.adSet}},"adGroupAd":{"ad":{"id":"${l.id}","name":${l.ad}}},"metrics":{"clicks":"${l.clicks}","costMicros":"${l.amount}","impressions":"${l.count}","conversions":${l.conversions}.5},"segments":{"date":"${l.day}"}}`,
  })
}

/** Lines of orders: each order has a customer, a day and a few lines. Wrong ids are in the order number. */
export function writeOrders(path: string, options: OrderOptions): WrittenExport {
  const { seed = 1, days = 30, currency = 'EUR', customers = 1_000, linesPerOrder = 3 } = options
  const next = randomFrom(seed)
  const line = { id: '', day: '', amount: '', count: '', customer: 0, position: 0, product: 0 }
  return write(
    path,
    options,
    {
      kind: 'csv',
      above: [
        'Order number,Order date,Customer email,Customer name,Line,SKU,Product,Quantity,Unit price,Currency,Status',
      ],
      below: [],
      totals: 0,
      headers: { id: 'Order number', day: 'Order date', amount: 'Unit price', count: 'Quantity' },
      spell: (l: typeof line) =>
        `${l.id},${l.day},customer${l.customer}@example.test,"Doe, Jane ${l.customer}",${l.position},SKU-${l.product},"Shoe ""${l.product}""",${l.count},${quoted(l.amount)},${currency},paid`,
    },
    (index) => {
      const order = Math.floor(index / linesPerOrder)
      line.id = String(100_000_000 + order)
      line.day = dayNumber(order % days)
      line.customer = (order * 7_919) % customers
      line.position = (index % linesPerOrder) + 1
      line.product = (order * 31 + line.position) % 5_000
      line.count = String(1 + (next() % 9))
      line.amount = inCents(next() % 50_000)
      return line
    },
  )
}

const FIRST_DAY = '2026-01-01'
const JSON_LINES = { kind: 'json', above: [], below: [], totals: 0 } as const

function writeAds(
  path: string,
  options: ExportOptions,
  money: 'cents' | 'micros',
  layout: Layout<AdLine>,
): WrittenExport {
  const { lines, seed = 1, days = 30, campaigns = 10, adSets = 4 } = options
  const ads = options.ads ?? Math.max(1, Math.ceil(lines / (days * campaigns * adSets)))
  const allAds = campaigns * adSets * ads
  if (lines > allAds * days)
    throw new RangeError(`${lines} lines need more than ${allAds} ads on ${days} days: a key would repeat`)
  const next = randomFrom(seed)
  const name = layout.kind === 'csv' ? quoted : JSON.stringify
  const campaignNames = Array.from({ length: campaigns }, (_, c) => name(`Prospecting – ${c}, AU`))
  const adSetNames = Array.from({ length: adSets }, (_, s) => name(`Women 25-44 | ${s}`))
  const adNames = Array.from({ length: ads }, (_, a) =>
    name(a % 8 === 0 ? `Video "${a}", 15 s` : `Static ${a}`),
  )
  const line = { conversions: 0 } as AdLine
  return write(path, options, layout, (index, wrong) => {
    const ad = index % allAds
    const adSet = Math.floor(ad / ads)
    const campaign = Math.floor(adSet / adSets)
    const impressions = next() % 20_000
    const cents = next() % 100_000
    line.campaign = campaignNames[campaign]!
    line.adSet = adSetNames[adSet % adSets]!
    line.ad = adNames[ad % ads]!
    line.campaignId = `${120_251_000_000 + campaign}000001`
    line.adSetId = `${120_252_000_000 + adSet}000001`
    line.id = `${120_253_000_000 + ad}000001`
    line.day = dayNumber(Math.floor(index / allAds))
    line.period = wrong === 'missing_date' ? '' : line.day
    line.count = String(impressions)
    line.reach = impressions - (impressions >> 2)
    line.clicks = impressions >> 6
    line.conversions = impressions >> 11
    line.amount = money === 'cents' ? inCents(cents) : String(cents * 10_000 + (impressions % 10_000))
    return line
  })
}

const CHUNK = 256 * 1024

function write<L extends Line>(
  path: string,
  { lines, badLines = {} }: Amount,
  layout: Layout<L>,
  lineAt: (index: number, wrong: WrongKind | undefined) => L,
): WrittenExport {
  const wrong = placeWrong(badLines, lines, layout.kind)
  const firstLine = layout.above.length + 1
  const planted: Planted[] = []
  const file = openSync(path, 'w')
  try {
    let text = layout.above.map((above) => `${above}\n`).join('')
    for (let index = 0; index < lines; index++) {
      const kind = wrong.get(index)
      const line = lineAt(index, kind)
      if (kind === undefined) text += `${layout.spell(line)}\n`
      else {
        const { field, value, rule } = WRONG[kind]
        if (field !== null) line[field] = value as L[typeof field]
        text += `${field === null ? misshapen(layout.spell(line), kind) : layout.spell(line)}\n`
        planted.push({
          kind,
          line: firstLine + index,
          header: field && layout.headers[field],
          value,
          rule,
        })
      }
      if (text.length < CHUNK) continue
      appendFileSync(file, text)
      text = ''
    }
    appendFileSync(file, text + layout.below.map((below) => `${below}\n`).join(''))
    const bytes = fstatSync(file).size
    return { path, bytes, lines, skipped: layout.totals, firstLine, planted }
  } finally {
    closeSync(file)
  }
}

/** Spread over the file, the kinds in turn, so that no chunk is spared and none has them all. */
function placeWrong(
  badLines: Partial<Record<WrongKind, number>>,
  lines: number,
  format: 'csv' | 'json',
): Map<number, WrongKind> {
  const left = Object.entries(badLines) as [WrongKind, number][]
  const impossible = format === 'csv' ? ['not_json'] : ['too_many_fields', 'too_few_fields']
  const total = left.reduce((sum, [, count]) => sum + count, 0)
  if (left.some(([kind]) => impossible.includes(kind)) || total > lines)
    throw new RangeError(`${lines} lines of ${format} cannot hold ${JSON.stringify(badLines)}`)
  const turns = left.flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, n) => ({ kind, when: (n + 0.5) / count })),
  )
  turns.sort((a, b) => a.when - b.when)
  return new Map(turns.map(({ kind }, n) => [Math.floor(((n + 0.5) * lines) / total), kind]))
}

function misshapen(text: string, kind: WrongKind): string {
  if (kind === 'too_many_fields') return `${text},${WRONG.too_many_fields.value}`
  if (kind === 'too_few_fields') return text.slice(0, text.lastIndexOf(','))
  return text.slice(0, text.length >> 1)
}

function quoted(text: string): string {
  return text.includes(',') || text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text
}

function inCents(cents: number): string {
  const rest = cents % 100
  return `${(cents - rest) / 100}.${rest < 10 ? '0' : ''}${rest}`
}

const dayNames: string[] = []

function dayNumber(offset: number): string {
  dayNames[offset] ??= new Date(Date.parse(FIRST_DAY) + offset * 86_400_000).toISOString().slice(0, 10)
  return dayNames[offset]
}

/** mulberry32, as whole numbers. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
