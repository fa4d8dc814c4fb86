/**
 * Ordinary tables, generated: declared, a file staged, planned, promoted and undone. The plan says what a model says, the
 * tables hold then what the model holds, every row that was written names its line, and after the undo every table is what
 * it was, bit by bit.
 */
// @module-tag property
import fc from 'fast-check'
import pg from 'pg'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { useIngest } from '../support/ingest.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'
import { KEPT_KINDS } from './own-tables/kinds.ts'
import { type Scenario, scenarios } from './own-tables/scenarios.ts'
import { type Expected, keyOf, type Row, type Table, type World, worldOf } from './own-tables/world.ts'

const RUNS = cases(10, 100)
const db = useDatabase()
const ingest = useIngest(db)
const q = pg.escapeIdentifier

let stories = 0
let foreign: string | undefined
/** How many cases had each dimension. */
const seen: Record<string, number> = {}

it(`a file is planned as the model says, promoted, and undone bit by bit (${RUNS} cases, seed ${SEED})`, async () => {
  console.log(`own tables against the model: SEED=${SEED}`)
  foreign = await createWorkspace(db, 'Elsewhere')
  const property = fc.asyncProperty(scenarios(), tell)
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: !process.env.SHRINK })
  console.log(JSON.stringify(seen))
})

async function tell(scenario: Scenario): Promise<void> {
  stories += 1
  const world = worldOf(scenario, stories, [ingest.workspace, foreign!])
  await db.pool('postgres').query(`create schema ${q(world.schema)} authorization workflow_admin`)
  try {
    await db.owner(world.ddl)
    if (world.seed !== '') await db.owner(world.seed)
    const expected = await story(world)
    count(scenario, expected)
  } catch (error) {
    if (error instanceof Error)
      error.message += `\n${world.ddl};\n${world.seed};\n${JSON.stringify(world.dataset)}\n${world.csv}`
    throw error
  } finally {
    await db.pool('postgres').query(`drop schema ${q(world.schema)} cascade`)
  }
}

async function story(world: World): Promise<Expected> {
  const { dataset, leaf, parent } = world
  await ingest.register(dataset, {
    approvalRequired: false,
    workspaceId: ingest.workspace,
  })
  const before = await dump(world)
  const idsBefore = await rowsOf(leaf)
  const upload = await ingest.file(world.csv, {
    name: `${dataset.name}.csv`,
    dataset: dataset.name,
    platform: 'file',
    clientId: undefined,
    until: 'staged',
  })
  const expected = world.expect()
  const lines = [...expected.leaf.values()]
  const hasValid = lines.some((action) => action !== 'left out')
  const hasWrong = lines.includes('left out')

  // All lines or none, then without the wrong ones.
  const strict = await ingest.plan(upload.upload_id)
  expect(strict.refusal).toEqual(
    !hasValid ? 'no line is valid' : hasWrong ? expect.stringMatching(/lines? (is|are) invalid/) : null,
  )
  const plan = hasWrong ? await ingest.plan(upload.upload_id, { onInvalid: 'skip', threshold: 0 }) : strict
  const planned = await db.owner<{ row_type: string; row_number: number; action: string }>(
    'select row_type, row_number, action from iu_core.ingest_plan_row where upload_id = $1 order by 1, 2',
    [upload.upload_id],
  )
  const actions = (type: string) =>
    planned
      .filter(({ row_type, action }) => row_type === type && action !== 'delete')
      .map(({ row_number, action }) => [
        row_number,
        action === 'skipped' || action === 'refused' ? 'left out' : action,
      ])
  expect(actions('leaf')).toEqual([...expected.leaf])
  expect(actions('parent')).toEqual([...expected.parent])
  expect(planned.filter(({ action }) => action === 'delete')).toHaveLength(expected.deleted)
  expect(await dump(world)).toEqual(before)
  if (!hasValid) return expected

  await ingest.service('select iu_core.fn_ingest_promote($1, $2)', [upload.upload_id, plan.digest])
  const after = await rowsOf(leaf)
  expect(told(after)).toEqual(told([...leaf.rows.values()].map((row) => ({ row }))))
  if (parent)
    expect(told(await rowsOf(parent))).toEqual(told([...parent.rows.values()].map((row) => ({ row }))))

  // Every row that was written, and no other, knows its line.
  const ledger = await db.owner<{ row_type: string; row_number: number; action: string }>(
    'select row_type, row_number, action from iu_core.ingest_ledger where upload_id = $1 order by 1, 2',
    [upload.upload_id],
  )
  const written = (type: string, from: ReadonlyMap<number, string>) =>
    [...from]
      .filter(([, action]) => action === 'insert' || action === 'update')
      .map(([row_number, action]) => ({ row_type: type, row_number, action }))
  expect(ledger.filter(({ action }) => action === 'delete')).toHaveLength(expected.deleted)
  expect(ledger.filter(({ action }) => action !== 'delete')).toEqual([
    ...written('leaf', expected.leaf),
    ...written('parent', expected.parent),
  ])
  // All rows in one round trip: there may be many, and cases are many.
  const entries = await ingest.service<{ row: number; line: number; upload_id: string }>(
    `select k.row::int - 1 as row, l.line, l.upload_id from unnest($3::jsonb[]) with ordinality as k (key, row),
            lateral iu_core.fn_ingest_lineage($1, $2, null, k.key) l`,
    [ingest.workspace, leaf.sql, after.map(({ key }) => key)],
  )
  for (const [at, { row }] of after.entries()) {
    const line = expected.lineOf.get(keyOf(leaf, row))
    if (leaf.tenant !== null && row[leaf.tenant] === foreign) continue
    const found = entries.filter((entry) => entry.row === at)
    expect(found.map((entry) => [entry.upload_id, entry.line])).toEqual(
      line === undefined ? [] : [[upload.upload_id, line]],
    )
  }

  await ingest.service('select iu_core.fn_ingest_undo($1)', [upload.upload_id])
  expect(await dump(world)).toEqual(before)
  expect(await rowsOf(leaf)).toEqual(idsBefore)
  return expected
}

/** Every table as text, in order, and of a partitioned one also where its rows are. */
async function dump({ leaf, parent, others, touched }: World): Promise<Record<string, string[]>> {
  const [columns] = await db.owner<{ list: string }>(
    `select string_agg(format('x.%I', attname), ', ' order by attnum) as list from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attname is distinct from $2`,
    [leaf.sql, touched],
  )
  const parts = [leaf.sql, ...(parent ? [parent.sql] : []), ...others]
  const found = await db.owner<{ name: string; rows: string[] }>(
    parts
      .map(
        (table) =>
          `select ${pg.escapeLiteral(table)} as name, coalesce(array_agg(r order by r), '{}') as rows
             from (select concat(x.tableoid::regclass, ' ', ${table === leaf.sql ? `row(${columns!.list})` : 'x.*'}::text) as r from ${table} x) y`,
      )
      .join(' union all '),
  )
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]))
}

/** What the model knows of each row, and its key as JSON. */
async function rowsOf(table: Table): Promise<{ row: Row; key: string }[]> {
  const names = table.told.map(({ name }) => name)
  const found = await db.owner<{ texts: (string | null)[]; key: string }>(
    `select array[${table.told.map(({ expression }) => expression).join(', ')}] as texts,
            json_build_object(${table.key.map((column) => `${pg.escapeLiteral(column)}, told.${q(column)}`).join(', ')})::text as key
       from ${table.sql} told order by 1`,
  )
  return found.map(({ texts, key }) => ({
    row: Object.fromEntries(names.map((name, place) => [name, texts[place]!])),
    key,
  }))
}

function told(rows: readonly { row: Row }[]): string[] {
  return rows
    .map(({ row }) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
    .sort()
}

function count(scenario: Scenario, { leaf, deleted }: Expected): void {
  const { parent, lookup } = scenario
  const actions = new Set(leaf.values())
  const has = [
    `tenant: ${scenario.tenant}`,
    `id: ${scenario.id}${scenario.declaresId ? ', declared' : ''}`,
    ...scenario.key.map((kind) => `key: ${kind}`),
    ...(scenario.key.length > 1 ? ['key: composite'] : []),
    ...scenario.values.map(({ kind }) => `value: ${kind}`),
    ...(scenario.values.some(({ hasDefault }) => hasDefault) ? ['default'] : []),
    ...(scenario.values.some(({ notNull }) => notNull) ? ['not null'] : []),
    ...(scenario.partition === 'none' ? [] : [`partition: ${scenario.partition}`]),
    ...(scenario.trigger === 'none' ? [] : [`trigger: ${scenario.trigger}`]),
    ...(scenario.hasGenerated ? ['generated'] : []),
    ...(parent
      ? [
          `parent: ${parent.id}`,
          ...(parent.isInKey ? ['parent in the key'] : []),
          ...(parent.isOptional ? ['parent: optional'] : []),
        ]
      : []),
    ...(parent && scenario.mode !== 'upsert' ? [`parent, mode ${scenario.mode}`] : []),
    ...(scenario.reference === 'none' ? [] : [`reference: ${scenario.reference}`]),
    ...(scenario.refersPlainly ? ['self reference: plain'] : []),
    ...(lookup ? [`lookup: ${lookup.value}`] : []),
    ...(scenario.refersToItself ? [`self reference: ${scenario.declaresId ? 'id' : 'key'}`] : []),
    `mode: ${scenario.mode}`,
    `kept: ${KEPT_KINDS[scenario.kept]![0]}`,
    ...(scenario.dependents === 'none' ? [] : [`dependents: ${scenario.dependents}`]),
    ...(deleted > 0 ? ['rows deleted'] : []),
    actions.has('left out') ? 'file: LENIENT' : 'file: STRICT',
    ...[...actions].map((action) => `line: ${action}`),
  ]
  for (const one of new Set(has)) seen[one] = (seen[one] ?? 0) + 1
}
