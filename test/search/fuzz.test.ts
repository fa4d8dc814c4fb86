/** Questions of any kind, in a workspace of many languages: each is answered, or refused with a reason, and none takes long. */
// @module-tag property
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { search } from '../../src/search/query.ts'
import type { SearchRequest } from '../../src/search/question.ts'
import { createVectorSearch } from '../../src/search/vector-search.ts'
import { fastestMs, leastCpuMs } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'
import { useLife } from '../units/life.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'
import { project } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)
// CASES=100000 tries as many as the requirements ask for; alone on two cores it takes a quarter of an hour.
const QUESTIONS = cases(300, 3_000)
/** Questions that are asked at the same time, each lane in sessions of its own. */
const LANES = 4
const MOST_OF_A_PART = 2_000
const MAX_MS = 200
let viewer: Member
let readers: Pool
let vectorSearch: ReturnType<typeof createVectorSearch>

const TEXTS = {
  en: 'Annual leave is twenty days. Order SKU-12345-AB at acme-corp.co.uk since v1.2.3.',
  zh: '员工每年享有二十八天带薪年假，请安装 PostgreSQL 数据库。',
  ja: '有給休暇は年に二十日です。コンピュータは会社が用意します。',
  th: 'พนักงานมีสิทธิลาพักร้อนได้ปีละยี่สิบวัน',
  ko: '직원은 유급휴가를 신청할 수 있습니다.',
  vi: 'Nhân viên được nghỉ phép hai mươi ngày mỗi năm.',
  de: 'Jeder hat dreißig Urlaubstage, in jeder Größe.',
  ru: 'Сотруднику положено двадцать дней отпуска.',
  ar: 'يحق للموظف الحصول على الإجازة السنوية.',
  es: 'La comunicación de las vacaciones se hace por escrito.',
}

beforeAll(async () => {
  viewer = await createMember(db, life.workspace, 'viewer')
  const { rows } = await life.operator.session.query<{ unit_id: string }>(
    'select unit_id from iu_core.fn_unit_create_batch($1, $2)',
    [
      life.workspace,
      JSON.stringify(
        Object.entries(TEXTS).flatMap(([language, body]) =>
          Array.from({ length: 5 }, (_, n) => ({
            canonical_address: `${language}/${n}`,
            language,
            body: `${body} ${n}`,
          })),
        ),
      ),
    ],
  )
  await project(
    db,
    rows.map(({ unit_id }) => unit_id),
  )
  readers = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 4 })
  vectorSearch = createVectorSearch({ pool: readers, config: NOTHING_CONFIGURED })
})
afterAll(async () => {
  await vectorSearch?.close()
  await readers?.end()
})

const ask = (request: Omit<SearchRequest, 'workspaceId'>) =>
  search(
    { transaction: (work) => db.as(viewer, work), vectorSearch },
    { workspaceId: life.workspace, ...request },
  )

/** Pieces of the texts, any Unicode, signs that mean something to a parser, and control characters. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...Object.values(TEXTS).flatMap((text) => text.split(' '))) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"',
      '*',
      '-',
      '\\',
      "'",
      ':',
      '&',
      '|',
      '!',
      '<->',
      '()',
      '\u0000',
      '\u001b[31m',
      '\ud800',
      '\u0307',
      '\ue000',
      '\u202e',
      'İ',
      'ß',
      'ς',
    ),
  },
)
const question = fc
  .array(fc.tuple(piece, fc.constantFrom(' ', ' ', '', '\n')), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.flat().join(''))

/** Undefined: answered. A question that is refused says why. */
async function refusal(text: string): Promise<string | undefined> {
  try {
    const { hits, warnings } = await ask({ text })
    for (const { score } of hits) expect(score).toSatisfy((value: number) => value >= 0 && value <= 1)
    expect(warnings.every((warning) => warning !== '')).toBe(true)
    return undefined
  } catch (error) {
    if (!(error instanceof StagedoorError)) throw error
    return error.code
  }
}

/** Each a test of its own, within the limit of every test, with a seed of its own. */
const PARTS = Array.from({ length: Math.ceil(QUESTIONS / MOST_OF_A_PART) }, (_, part) => part)

it.each(PARTS)('any question is answered, or refused as empty, in time (part %i)', async (part) => {
  await ask({ text: 'warm up' })
  const slow: string[] = []
  const property = fc.asyncProperty(question, async (text) => {
    const began = performance.now()
    expect([undefined, 'argument_invalid']).toContain(await refusal(text))
    if (performance.now() - began >= MAX_MS) slow.push(text)
  })
  const numRuns = Math.ceil(Math.min(QUESTIONS, MOST_OF_A_PART) / LANES)
  await Promise.all(
    Array.from({ length: LANES }, (_, lane) =>
      fc.assert(property, { numRuns, seed: SEED + part * LANES + lane }),
    ),
  )
  // By themselves, and by what they cost: what else the machine did meanwhile does not count.
  const sessions = await db.owner<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  const pids = sessions.map(({ pid }) => pid)
  for (const text of slow)
    expect(await leastCpuMs(() => refusal(text), pids, MAX_MS), JSON.stringify(text)).toBeLessThan(MAX_MS)
})

/** Each part of a question is parsed several times; ten thousand words take longer than any question that a person writes. */
const MAX_LONG_MS = 1000

it('so is one of ten thousand words, in any script', async () => {
  const words = Array.from({ length: 10_000 }, (_, n) => `wort${n}`)
  const questions = [
    words.join(' '),
    'leave '.repeat(10_000),
    words.map((word) => `${word}*`).join(' '),
    words.map((word) => `-${word}`).join(' '),
    '带薪年假'.repeat(10_000),
    'ลาพักร้อน'.repeat(10_000),
    'nghỉ phép '.repeat(9_000),
    Object.values(TEXTS).join(' ').repeat(100).slice(0, 90_000),
    'a-b.c_d/'.repeat(10_000),
    `${'x'.repeat(90_000)} y`,
  ]
  for (const text of questions) {
    expect(await refusal(text)).toBeUndefined()
    expect(await fastestMs(() => refusal(text), MAX_LONG_MS), text.slice(0, 20)).toBeLessThan(MAX_LONG_MS)
  }
})
