/**
 * No name of a user meets a name of ours: tables, columns, schemas, fields and row types that are called like every alias,
 * temporary column and variable in the SQL that we generate, like reserved words, or in ways that need quotes. The words are
 * taken from the sources, so that an alias that is added tomorrow is tried tomorrow.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { approve, dryRun, user } from '../events/routes/routed.ts'
import { useDatabase } from '../support/database.ts'
import { type Planned, PRICES, type StagedLine, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)

const ROOMS = ['sql/ingest', 'sql/events']
/** Every word of the sources, in SQL or in a string that becomes SQL, and what stands in quotes there. */
const OURS = [...new Set(ROOMS.flatMap(wordsOf))].sort()
const AWKWARD = [
  ...[
    'select',
    'table',
    'user',
    'order',
    'group',
    'default',
    'end',
    'all',
    'lateral',
    'row',
    'null',
    'array',
  ],
  ...['T', 'N', 'V', 'camelCase', 'Mixed Case', 'with space', ' lead', 'trail ', '.', 'a.b', ','],
  ...[
    '"',
    '""',
    'qu"ote',
    "apo'strophe",
    "''",
    '\\',
    '%',
    '%s',
    '%1$s',
    '$1',
    '$$',
    '$sql$',
    ':x',
    '?',
    '--',
    '/*',
    ';',
  ],
  ...[
    '#row',
    '#action',
    '#id',
    '@group',
    '$client',
    '$identity',
    'c1',
    'c2',
    'f1',
    'f2',
    'e1',
    'e2',
    'p_e1',
    'p_e2',
  ],
  ...[
    'ünïcödé',
    '名前',
    'день',
    '🙂',
    'x'.repeat(63),
    `${'y'.repeat(62)}1`,
    `${'y'.repeat(62)}2`,
    'é'.repeat(31),
  ],
]
/** Names of types: a table with such a name has a row type with it, too. */
const TYPES = [
  'date',
  'text',
  'uuid',
  'json',
  'jsonb',
  'record',
  'int8',
  'name',
  'interval',
  'ingest_now',
  'ingest_line',
]
/** PostgreSQL itself, or what no event may carry. */
const IMPOSSIBLE = new Set(['ctid', 'tableoid', 'xmin', 'xmax', 'cmin', 'cmax', 'oid'])
const FORBIDDEN = new Set(
  'body content raw vector embedding secret token password ssn personal_data'.split(' '),
)
const isPossible = (name: string) => !IMPOSSIBLE.has(name)
const isField = (name: string) =>
  /^[a-z][a-z0-9_]{0,62}$/.test(name) && !['client', 'workspace', 'platform', 'identity'].includes(name)
const NAMES = [...new Set([...OURS, ...AWKWARD])].filter(isPossible)
const q = pg.escapeIdentifier

function wordsOf(room: string): string[] {
  return readdirSync(room).flatMap((file) => {
    const source = readFileSync(join(room, file), 'utf8').replaceAll(/^\s*--.*$/gm, '')
    return [
      ...(source.match(/(?<![\w$])[a-z_][a-z0-9_]{0,62}/g) ?? []),
      ...[...source.matchAll(/"([^"\n%]{1,63})"/g)].map(([, quoted]) => quoted!),
    ]
  })
}

interface Names {
  readonly schema: string
  readonly tables: readonly [string, string]
  /** The first are the columns that the story needs, the others are filled with texts. */
  readonly columns: readonly string[]
  readonly fields: readonly string[]
  readonly types: readonly [string, string]
  /** Whether rows of the second table have an id of ours, or are known by their key only. */
  readonly withId: boolean
}

const COLUMNS_NEEDED = 6
const FIELDS_NEEDED = 5
let stories = 0
let superuser: pg.Client

beforeAll(async () => {
  superuser = await user(db)
})

/** Plan, stale check, promotion, lineage, undo and routes over two tables with these names. Throws where one is mistaken. */
async function story({ schema, tables, columns, fields, types, withId }: Names): Promise<void> {
  stories += 1
  const [id, owner, key, day, amount, parent, ...rest] = columns as [
    string,
    string,
    string,
    string,
    string,
    string,
    ...string[],
  ]
  const [groupField, nameField, keyField, dayField, amountField, ...restFields] = fields as [
    string,
    string,
    string,
    string,
    string,
    ...string[],
  ]
  const mapped = rest.slice(0, restFields.length)
  const target = tables.map((table) => `${q(schema)}.${q(table)}`) as [string, string]
  if (schema !== 'public') {
    await superuser.query(`create schema if not exists ${q(schema)} authorization workflow_admin`)
  }
  await db.owner(
    `create table ${target[0]} (${q(id)} uuid primary key, ${q(owner)} uuid not null, ${q(key)} text not null,
       ${q(amount)} text, ${rest
         .map((name) => `${q(name)} text default 'as it was'`)
         .concat([`${q(day)} text`])
         .join(', ')},
       unique (${q(owner)}, ${q(key)}))`,
  )
  await db.owner(
    `create table ${target[1]} (${withId ? `${q(id)} uuid primary key, ` : ''}${q(parent)} uuid not null references ${target[0]},
       ${q(owner)} uuid, ${q(key)} text not null, ${q(day)} date not null, ${q(amount)} numeric(12, 2),
       ${rest.map((name) => `${q(name)} text default 'as it was', `).join('')}unique (${q(parent)}, ${q(key)}, ${q(day)}))`,
  )
  const text = (type: Dataset['fields'][string]['type']) => ({ type, aliases: {} })
  const dataset: Dataset = {
    name: `names_${stories}`,
    title: 'Names',
    version: 1,
    platforms: { file: { title: 'File' } },
    fields: {
      [groupField]: text('id'),
      [nameField]: text('text'),
      [keyField]: text('id'),
      [dayField]: text('date'),
      [amountField]: text('money'),
      ...Object.fromEntries(restFields.map((field) => [field, text('text')])),
    },
    rows: [
      {
        name: types[0],
        target: target[0],
        id,
        key: [owner, key],
        requires: [`${groupField}|${nameField}`],
        identity: { id: groupField, name: nameField, nameColumn: amount },
        columns: { [owner]: '$workspace', [key]: '$identity', [amount]: nameField },
      },
      {
        name: types[1],
        target: target[1],
        ...(withId && { id }),
        key: [parent, key, day],
        requires: [keyField],
        columns: {
          [parent]: `$${types[0]}`,
          [owner]: '$workspace',
          [key]: keyField,
          [day]: dayField,
          [amount]: amountField,
          ...Object.fromEntries(mapped.map((name, place) => [name, restFields[place]!])),
        },
      },
    ],
  }
  await trial.register(dataset, { approvalRequired: false })

  // An event has at most 50 columns: each route keeps others of them.
  const allowed = rest.filter((name) => !FORBIDDEN.has(name.toLowerCase()))
  const sizeOfPart = Math.max(1, Math.min(48, Math.ceil(allowed.length / 3)))
  const kept = ['insert', 'update', 'delete'].map((_, place) => [
    ...new Set([key, amount, ...allowed.slice(place * sizeOfPart, (place + 1) * sizeOfPart)]),
  ])
  const codes: string[] = []
  for (const [place, sql_event] of (['insert', 'update', 'delete'] as const).entries()) {
    codes.push(
      await dryRun(db, {
        route_code: `names_${stories}.${sql_event}`,
        target_event_type: `names_${stories}.${sql_event}`,
        source_schema: schema,
        source_table: tables[1],
        sql_event,
        idempotency_policy: { key: `(${[key, amount].map(q).join(', ')})` },
        payload_contract: {
          keep_refs: kept[place]!,
          ...(sql_event === 'update' && withId && { only_changed: true }),
        },
      }),
    )
  }

  const line = (group: string, at: string, value: number): StagedLine => ({
    [groupField]: group,
    [nameField]: `name of ${group}`,
    [keyField]: at,
    [dayField]: '2026-11-01',
    [amountField]: value,
    ...Object.fromEntries(restFields.map((field, place) => [field, `${at} ${place}`])),
  })
  // Promoted and undone once: what the dry runs have seen.
  const evidence = await trial.promoted([line('g', 'evidence', 1)], { dataset })
  await db.owner(`update ${target[1]} set ${q(amount)} = 2`)
  await db.owner(`update ${target[1]} set ${q(amount)} = 1`)
  expect((await trial.undo(evidence.upload_id)).undo_totals).toEqual({
    [types[0]]: { reversed: 1 },
    [types[1]]: { reversed: 1 },
  })
  const [seen] = await db.owner<{ events: string }>(
    `select sum(events) as events from iu_core.iu_sql_event_route_evidence where route_code = any ($1)`,
    [codes],
  )
  expect(seen!.events).toBe('4')
  for (const code of codes) await approve(db, code)

  const rows = (table: string) =>
    db.owner<{ row: Record<string, unknown> }>(
      `select to_jsonb(x.*) as row from ${table} x order by x.${q(key)}`,
    )
  const first = await trial.promoted([line('a', '1', 10), line('a', '2', 20), line('b', '3', 30)], {
    dataset,
  })
  const before = (await rows(target[1])).map(({ row }) => row)
  expect(
    before.map((row) => [row[key], row[day], Number(row[amount]), ...rest.map((name) => row[name])]),
  ).toEqual(
    [1, 2, 3].map((at) => [
      String(at),
      '2026-11-01',
      at * 10,
      ...rest.map((_, place) => (place < mapped.length ? `${at} ${place}` : 'as it was')),
    ]),
  )

  // One row changes, one stays, one is new; the other rows of the table are none of the plan's business.
  const second = [line('a', '1', 11), line('a', '2', 20), line('c', '4', 40)]
  let plan = await trial.stagePlanned(second, { dataset })
  expect(plan.totals).toEqual({
    [types[0]]: { unchanged: 1, insert: 1 },
    [types[1]]: { update: 1, unchanged: 1, insert: 1 },
  })
  const [update] = await db.owner<{ before: unknown; after: Record<string, unknown>; changed: string[] }>(
    `select before, after, changed from iu_core.ingest_plan_row where upload_id = $1 and action = 'update'`,
    [plan.upload_id],
  )
  expect(update!.before).toEqual(before[0])
  expect(update!.changed).toEqual([amount])
  expect(Number(update!.after[amount])).toBe(11)

  // Somebody edits a column that the file does not have, of a row that would be updated and of one that is unchanged.
  const theirs = rest.at(-1)!
  const edit = (at: string, value: string) =>
    db.owner(`update ${target[1]} set ${q(theirs)} = $2 where ${q(key)} = $1`, [at, value])
  for (const at of ['1', '2']) {
    await edit(at, 'somebody wrote this')
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
    const stale = await trial.service<{ line: number; key: object; now: Record<string, unknown> }>(
      'select line, key, now from iu_core.fn_ingest_plan_stale($1)',
      [plan.upload_id],
    )
    expect(stale).toMatchObject([{ line: Number(at) + 1, key: { [key]: at, [day]: '2026-11-01' } }])
    expect(stale[0]!.now[theirs]).toBe('somebody wrote this')
    await edit(at, String(before[Number(at) - 1]![theirs]))
  }
  plan = await trial.planned(plan.upload_id)
  await trial.promote(plan)
  const payloads = await eventsOf(`names_${stories}.insert`)
  payloads.sort((one, other) => String(one[key]).localeCompare(String(other[key])))
  expect(payloads.map((payload) => Object.keys(payload).sort())).toEqual(
    Array.from({ length: 4 }, () => [...kept[0]!].sort()),
  )
  expect(payloads.map((payload) => [payload[key], Number(payload[amount])])).toEqual([
    ['1', 10],
    ['2', 20],
    ['3', 30],
    ['4', 40],
  ])
  expect((await eventsOf(`names_${stories}.update`)).at(-1)).toEqual(
    Object.fromEntries(kept[1]!.map((name) => [name, name === amount ? 11 : before[0]![name]])),
  )

  for (const [at, uploads] of [
    ['1', 2],
    ['2', 1],
  ] as const) {
    const row = before[Number(at) - 1]!
    const byKey = { [parent]: row[parent], [key]: at, [day]: '2026-11-01' }
    const entries = await trial.service('select * from iu_core.fn_ingest_lineage($1, $2, null, $3)', [
      trial.workspace,
      target[1],
      JSON.stringify(byKey),
    ])
    expect(entries).toHaveLength(uploads)
  }

  // Keys that repeat are summed; a parent and a row that their tables refuse fail alone; what is too much for its column, too.
  await db.owner(`alter table ${target[0]} add constraint refuses check (${q(key)} <> 'z')`)
  await db.owner(`alter table ${target[1]} add constraint refuses check (${q(amount)} <> 13)`)
  const third = await trial.stage(
    [
      ...[line('a', '5', 1), line('a', '5', 2), line('a', '6', 13)],
      ...[line('z', '7', 1), line('z', '8', 1), line('a', '9', 1e12)],
    ],
    { dataset },
  )
  const [lenient] = await trial.service<Planned>(
    `select * from iu_core.fn_ingest_plan($1, 'LENIENT', 0, null, 'sum')`,
    [third],
  )
  expect(lenient!.totals[types[1]]).toEqual({ insert: 4, skipped: 1, refused: 1 })
  const promotion = await trial.promote(lenient!)
  expect(promotion.totals).toEqual({
    [types[0]]: { unchanged: 1, refused: 1 },
    [types[1]]: { insert: 1, skipped: 1, refused: 4 },
  })
  expect(promotion.control).toMatchObject([
    { measure: amountField, column: amount, valid: '3', written: '3', refused: '1000000000015' },
  ])
  await undoes(lenient!, { [types[1]]: { reversed: 1 } })

  // An undo restores what nobody touched, and keeps what somebody did.
  await edit('4', 'mine now')
  await undoes(plan, {
    [types[0]]: { refused: 1 },
    [types[1]]: { kept: 1, reversed: 1 },
  })
  expect((await rows(target[1])).map(({ row }) => row).slice(0, 3)).toEqual(before)
  await undoes(first, { [types[0]]: { reversed: 2 }, [types[1]]: { reversed: 3 } })
  expect((await rows(target[1])).map(({ row }) => row[key])).toEqual(['4'])
  const deleted = await eventsOf(`names_${stories}.delete`)
  expect(deleted.map((payload) => payload[key]).sort()).toEqual(['1', '2', '3', '5'])
  await db.owner(`drop table ${target[1]}, ${target[0]}`)
}

async function undoes({ upload_id }: Planned, totals: unknown) {
  const [seen] = await trial.service<{ totals: unknown }>(
    'select totals from iu_core.fn_ingest_undo_plan($1)',
    [upload_id],
  )
  expect(seen!.totals).toEqual(totals)
  expect((await trial.undo(upload_id)).undo_totals).toEqual(totals)
}

async function eventsOf(type: string): Promise<Record<string, unknown>[]> {
  const rows = await db.owner<{ safe_payload: Record<string, unknown> }>(
    'select safe_payload from iu_core.event_outbox where event_type = $1 order by seq',
    [type],
  )
  return rows.map((row) => row.safe_payload)
}

describe('a table of the user', () => {
  it('may have columns that are called like everything in our SQL', {
    tags: 'long',
  }, async () => {
    expect(OURS).toEqual(
      expect.arrayContaining(['t', 'n', 'l', 'k', 'v', 'v_match', '#row', 'p_type', 'ingest_now']),
    )
    const fieldNames = NAMES.filter(isField)
    const size = 150
    for (let from = 0, round = 0; from < NAMES.length; from += size, round += 1) {
      const columns = NAMES.slice(from, from + size)
      // The last ones are too few for a story of their own.
      while (columns.length < COLUMNS_NEEDED + 2) columns.push(`other_${columns.length}`)
      const fields = Array.from(
        { length: FIELDS_NEEDED + Math.ceil((columns.length - COLUMNS_NEEDED) / 2) },
        (_, place) => fieldNames[(from + place) % fieldNames.length]!,
      )
      await story({
        schema: 'public',
        tables: [`names_a_${round}`, `names_b_${round}`],
        columns,
        fields,
        types: ['parent', 'child'],
        withId: round % 2 === 0,
      })
    }
  })

  const name = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...NAMES) },
    { weight: 2, arbitrary: fc.constantFrom(...AWKWARD) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 15 }) },
  )
  const possible = name.filter(
    (word) =>
      isPossible(word) &&
      !FORBIDDEN.has(word.toLowerCase()) &&
      !word.includes('\0') &&
      !/\p{Cs}/u.test(word) &&
      Buffer.byteLength(word) <= 63,
  )
  const field = fc.constantFrom(...NAMES.filter(isField), 'z'.repeat(63), `${'z'.repeat(62)}y`)
  const table = fc.oneof(possible, fc.constantFrom(...TYPES))

  it('may be in a schema, have a name and columns of any kind, with fields and row types like ours', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          schema: fc.oneof(
            fc.constant('public'),
            possible.filter((word) => !/^pg_|^iu_core$|^information_schema$|^pg_catalog$/i.test(word)),
          ),
          tables: fc.uniqueArray(table, { minLength: 2, maxLength: 2 }),
          columns: fc.uniqueArray(possible, { minLength: COLUMNS_NEEDED + 2, maxLength: 24 }),
          fields: fc.uniqueArray(field, { minLength: FIELDS_NEEDED, maxLength: 35 }),
          types: fc.uniqueArray(
            field.filter((word) => !FORBIDDEN.has(word)),
            { minLength: 2, maxLength: 2 },
          ),
          withId: fc.boolean(),
        }),
        async (names) => {
          const { rows: taken } = {
            rows: await db.owner(
              'select to_regclass($1) as a, to_regclass($2) as b',
              names.tables.map((one) => `${q(names.schema)}.${q(one)}`),
            ),
          }
          fc.pre(taken[0]!.a === null && taken[0]!.b === null)
          await story({
            ...names,
            tables: names.tables as [string, string],
            types: names.types as [string, string],
            fields: names.fields.slice(0, FIELDS_NEEDED + names.columns.length - COLUMNS_NEEDED - 1),
          })
        },
      ),
      { numRuns: cases(1, 8) },
    )
  })

  it('has no row type that no event may name', async () => {
    const rows = PRICES.rows.map((row) => ({ ...row, name: 'content' }))
    await expect(trial.register({ ...PRICES, name: 'names_content', rows })).rejects.toThrow(
      "'content' cannot be the name of a row type",
    )
  })
})
