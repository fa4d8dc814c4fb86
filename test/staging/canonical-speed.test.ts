/** 10 MiB in less than half a second, in SQL and in TypeScript. Best of three; printed, because machines differ. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { digestJson } from '../../src/staging/canonical.ts'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()
const TEN_MEBIBYTES = 10 * 1024 * 1024
/** What is promised, and what fails the test: other tests run on the same cores at the same time. */
const PROMISED_MS = 500
const FAILS_MS = 3 * PROMISED_MS
const RUNS = 8

let session: pg.Client
beforeAll(async () => {
  session = await db.session()
  await session.query('create temp table document (value jsonb)')
})

const DOCUMENTS: readonly [string, () => string][] = [
  [
    'rows of a table',
    () => list((n) => `{"id":${n},"name":"row number ${n}","amount":${n}.25,"at":"2026-01-01","ok":true}`),
  ],
  ['numbers', () => list((n) => String(n * 7919))],
  ['one long text', () => JSON.stringify('Tiếng Việt, "quoted"\n'.repeat(TEN_MEBIBYTES / 30))],
]

function list(item: (n: number) => string): string {
  const items: string[] = []
  for (let length = 0, n = 0; length < TEN_MEBIBYTES * 0.93; n++)
    length += items[items.push(item(n)) - 1]!.length + 2
  return `[${items.join()}]`
}

it.each(DOCUMENTS)(
  'digests 10 MiB of %s',
  async (name, make) => {
    const text = make()
    await session.query('truncate document')
    await session.query('insert into document values ($1)', [text])
    let fromDatabase: unknown
    const sql = await fastest(async () => {
      const { rows } = await session.query(
        'select d.content_hash, d.byte_len::int from document, iu_core.fn_iu_staging_json_digest(value) as d',
      )
      fromDatabase = rows[0]
    })
    let ours = { content_hash: '', byte_len: 0 }
    const typescript = await fastest(async () => {
      ours = digestJson(text)
    })
    console.log(
      `${name}: ${ours.byte_len} bytes, SQL ${sql.toFixed()} ms, TypeScript ${typescript.toFixed()} ms`,
    )
    expect(ours.byte_len).toBeGreaterThan(TEN_MEBIBYTES * 0.9)
    expect(ours).toEqual(fromDatabase)
    expect(sql).toBeLessThan(FAILS_MS)
    expect(typescript).toBeLessThan(FAILS_MS)
  },
  120_000,
)

/** Of three runs, or of more while none keeps the promise. */
async function fastest(work: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS && (run < 3 || best >= PROMISED_MS); run++) {
    const started = performance.now()
    await work()
    best = Math.min(best, performance.now() - started)
  }
  return best
}
