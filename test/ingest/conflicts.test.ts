/** Planning again when production has moved on: nothing of another person is taken back without an answer, and lists say what is outdated. */
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { completeDataset, type Dataset } from '../../src/ingest/datasets/dataset.ts'
import { listUploadHistory } from '../../src/ingest/history.ts'
import { listConflicts, type PlanRequest, planUpload } from '../../src/ingest/plan.ts'
import { listUploads, requireUpload } from '../../src/ingest/uploads.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { type Planned, type StagedLine, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'

const db = useDatabase()
const trial = useTrial(db)

interface Row {
  readonly sku: string
  readonly price: number | null
  readonly note: string | null
}

/** Rows known by an id of ours, by a number of the database, and by their key only; each also as a snapshot. */
const KINDS = ['uuid', 'serial', 'key'] as const
type Kind = (typeof KINDS)[number]
const ID: Record<Kind, string> = {
  uuid: 'id uuid primary key default gen_random_uuid(),',
  serial: 'id serial primary key,',
  key: '',
}
const datasets = new Map<string, Dataset>()
const tableOf = (kind: Kind) => `public.goods_${kind}`
const datasetOf = (kind: Kind, snapshot = false) => datasets.get(`${kind}${snapshot}`)!

beforeAll(async () => {
  for (const kind of KINDS) {
    await db.owner(
      `create table ${tableOf(kind)} (${ID[kind]} sku text not null unique, price numeric(10, 2), note text, other text)`,
    )
    for (const snapshot of [false, true]) {
      const dataset = completeDataset({
        name: `goods_${kind}${snapshot ? '_all' : ''}`,
        fields: { sku: { type: 'text' }, price: { type: 'money' }, note: { type: 'text' } },
        rows: [
          {
            name: 'good',
            target: tableOf(kind),
            ...(kind !== 'key' && { id: 'id' }),
            key: ['sku'],
            columns: { sku: 'sku', price: 'price', note: 'note' },
            ...(snapshot && { mode: 'snapshot' as const, snapshot: { maxDeleted: 1 } }),
          },
        ],
      })
      datasets.set(`${kind}${snapshot}`, dataset)
      await trial.register(dataset, { approvalRequired: false, workspaceId: trial.workspace })
    }
  }
})
beforeEach(() => db.owner(`truncate ${KINDS.map(tableOf).join(', ')}`))

const service = <T>(work: (client: Client) => Promise<T>) =>
  inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
const again = (upload: string, request: PlanRequest = {}) =>
  service((client) => planUpload(client, upload, { plannedBy: trial.operator.userId, ...request }))
const failure = async (work: Promise<unknown>) => {
  const thrown = await work.then(() => undefined).catch((error) => error)
  const error = thrown === undefined ? undefined : asStagedoorError(thrown)
  return {
    code: error?.code,
    details: error?.details as Record<string, unknown> | undefined,
    hint: error?.hint,
  }
}
const conflicts = (upload: string) => service((client) => listConflicts(client, upload))
const rowsOf = (kind: Kind) =>
  db.owner<{ sku: string; price: string | null; note: string | null; other: string | null }>(
    `select sku, trim_scale(price)::text as price, note, other from ${tableOf(kind)} order by sku`,
  )
const seed = async (kind: Kind, rows: readonly Row[]) => {
  for (const { sku, price, note } of rows)
    await db.owner(`insert into ${tableOf(kind)} (sku, price, note) values ($1, $2, $3)`, [sku, price, note])
}
const stage = (dataset: Dataset, rows: readonly Row[]) =>
  trial.stage(
    rows.map((row) => ({ ...row })),
    { dataset, fields: ['sku', 'price', 'note'], client: null },
  )
const planned = async (dataset: Dataset, rows: readonly Row[]) => trial.planned(await stage(dataset, rows))
const good = (sku: string, price: number | null, note: string | null = null): Row => ({ sku, price, note })
const outdatedOf = async (upload: string) => {
  const { one, listed } = await service(async (client) => ({
    one: (await requireUpload(client, upload)).outdated,
    listed: (await listUploads(client, { limit: 1000 })).find(({ upload_id }) => upload_id === upload)!
      .outdated,
  }))
  expect(one).toBe(listed)
  return listed
}

it.each(KINDS)(
  'thousands of rows known by %s are compared once each, also right after they were planned',
  async (kind) => {
    const table = tableOf(kind)
    const many = Array.from({ length: 3000 }, (_, n) => good(`m${n}`, 2, 'old'))
    await db.owner(
      `insert into ${table} (sku, price, note) select 'm' || n, 1, 'old' from generate_series(0, 2999) n`,
    )
    const { upload_id } = await planned(datasetOf(kind), many)
    // Against the step that every plan has: each row with each took 20 times as long as it.
    const share = async (answer?: 'keep_theirs' | 'use_mine') => {
      await trial.planned(upload_id, 'STRICT', 0.9, answer)
      const [row] = await db.owner<{ share: number }>(
        `select max(ms) filter (where step = 'conflicts') / max(ms) filter (where step = 'compare') as share
         from iu_core.ingest_plan p, jsonb_to_recordset(p.steps) as s (step text, ms float8) where upload_id = $1`,
        [upload_id],
      )
      return row!.share
    }
    expect(await share()).toBeLessThan(5)
    await db.owner(`update ${table} set price = 3, note = 'theirs' where sku like 'm%'`)
    expect(await share('keep_theirs')).toBeLessThan(5)
    expect(await share()).toBeLessThan(5)
    await db.owner(`update ${table} set price = 4 where sku like 'm%'`)
    expect(await share('use_mine')).toBeLessThan(5)
    await db.owner(`delete from ${table} where sku like 'm%'`)
  },
)

describe.each(KINDS)('rows that are known by %s', (kind) => {
  const table = tableOf(kind)
  /** s1: both changed the price. s2: they changed the note, of which the file has the old value. s3: nobody. s4: they changed another cell. */
  const moved = async () => {
    await seed(
      kind,
      ['s1', 's2', 's3', 's4'].map((sku) => good(sku, 1, 'old')),
    )
    const plan = await planned(datasetOf(kind), [
      ...['s1', 's2', 's3', 's4'].map((sku) => good(sku, 2, 'old')),
      good('s5', 5),
    ])
    await db.owner(`update ${table} set price = 3 where sku = 's1'`)
    await db.owner(`update ${table} set note = 'theirs' where sku = 's2'`)
    await db.owner(`update ${table} set other = 'theirs' where sku = 's4'`)
    return plan
  }

  it('are not planned again without an answer; what is asked is counted, listed and leaves the plan as it was', async () => {
    const plan = await moved()
    const before = await trial.image()
    const { code, details, hint } = await failure(again(plan.upload_id))
    expect(code).toBe('plan_conflicts')
    expect(details).toMatchObject({ cells: 2, rows: 2, upload: plan.upload_id })
    expect(details!.columns).toEqual([
      { table, column: 'note', kind: 'changed', cells: 1 },
      { table, column: 'price', kind: 'changed', cells: 1 },
    ])
    expect(hint).toContain(`stagedoor upload plan ${plan.upload_id} --on-conflict keep-theirs`)
    const asked = await conflicts(plan.upload_id)
    expect(asked).toMatchObject({ total: 2, cells: 2, digest: details!.digest, next: null })
    expect(asked.items).toMatchObject([
      {
        line: 2,
        kind: 'changed',
        key: { sku: 's1' },
        cells: [{ column: 'price', base: 1, theirs: 3, mine: 2 }],
      },
      {
        line: 3,
        kind: 'changed',
        key: { sku: 's2' },
        cells: [{ column: 'note', base: 'old', theirs: 'theirs', mine: 'old' }],
      },
    ])
    expect(await trial.image()).toEqual(before)
  })

  it('keep theirs: only those cells drop out of the change', async () => {
    const plan = await moved()
    const next = await again(plan.upload_id, { onConflict: 'keep_theirs' })
    expect(next.totals).toEqual({ good: { insert: 1, update: 3, unchanged: 1 } })
    expect(next.notes).toMatchObject([{ rule: 'conflict.keep_theirs', count: 2 }])
    // What the reviewer adds up is what will be written: 3 (kept) + 3 × 2 + 5.
    expect(next.control).toMatchObject([{ measure: 'price', read: '13', after: '14', difference: '8' }])
    await trial.promote(next as unknown as Planned)
    expect(await rowsOf(kind)).toEqual([
      { sku: 's1', price: '3', note: 'old', other: null },
      { sku: 's2', price: '2', note: 'theirs', other: null },
      { sku: 's3', price: '2', note: 'old', other: null },
      { sku: 's4', price: '2', note: 'old', other: 'theirs' },
      { sku: 's5', price: '5', note: null, other: null },
    ])
  })

  it('use mine: the values of the file are written, and who said so is known', async () => {
    const plan = await moved()
    const next = await again(plan.upload_id, { onConflict: 'use_mine' })
    expect(next.notes).toMatchObject([{ rule: 'conflict.use_mine', count: 2 }])
    await trial.promote(next as unknown as Planned)
    expect((await rowsOf(kind)).map(({ price, note }) => [price, note])).toEqual([
      ...Array(4).fill(['2', 'old']),
      ['5', null],
    ])
    const { upload, history } = await service(async (client) => ({
      upload: await requireUpload(client, plan.upload_id),
      history: await listUploadHistory(client, plan.upload_id, { limit: 100 }),
    }))
    expect(upload.conflict_answers).toMatchObject([
      { answer: 'use_mine', cells: 2, rows: 2, answered_by: trial.operator.userId },
    ])
    expect(upload.changed_by).toContain(trial.operator.userId)
    expect(history.find(({ what }) => what === 'conflicts_answered')).toMatchObject({
      actor: trial.operator.userId,
      detail: { answer: 'use_mine', cells: 2 },
    })
  })

  it('an answer stays: planned once more nothing is asked and nothing is taken back, until somebody says use mine', async () => {
    const plan = await moved()
    await again(plan.upload_id, { onConflict: 'keep_theirs' })
    const next = await again(plan.upload_id)
    expect(next.notes).toMatchObject([{ rule: 'conflict.keep_theirs', count: 2 }])
    expect(next.totals).toEqual({ good: { insert: 1, update: 3, unchanged: 1 } })
    // They change a kept cell once more: the file has no say in it.
    await db.owner(`update ${table} set price = 4 where sku = 's1'`)
    expect((await again(plan.upload_id)).totals).toEqual(next.totals)
    const mine = await again(plan.upload_id, { onConflict: 'use_mine' })
    expect(mine.totals).toEqual({ good: { insert: 1, update: 4 } })
    expect(mine.notes).toMatchObject([{ rule: 'conflict.use_mine', count: 2 }])
    expect((await again(plan.upload_id)).totals).toEqual(mine.totals)
  })

  it('rows that they deleted or inserted are asked for as well', async () => {
    await seed(kind, [good('gone', 1), good('here', 1)])
    const lines = [good('gone', 2), good('here', 2), good('new', 2)]
    const plan = await planned(datasetOf(kind), lines)
    await db.owner(`delete from ${table} where sku = 'gone'`)
    await db.owner(`insert into ${table} (sku, price) values ('new', 7)`)
    const { items } = await conflicts(plan.upload_id)
    expect(items.map(({ kind: how, key }) => [how, key.sku])).toEqual([
      ['deleted', 'gone'],
      ['created', 'new'],
    ])
    const kept = await again(plan.upload_id, { onConflict: 'keep_theirs' })
    expect(kept.totals).toEqual({ good: { skipped: 1, update: 1, unchanged: 1 } })
    expect(kept.control).toMatchObject([{ read: '6', written: '2', after: '9' }])
    await trial.promote(kept as unknown as Planned)
    expect((await rowsOf(kind)).map(({ sku, price }) => [sku, price])).toEqual([
      ['here', '2'],
      ['new', '7'],
    ])
  })

  it('a repair keeps what the plan saw: the next plan asks', async () => {
    const plan = await moved()
    const repair = (values: object) =>
      service((client) =>
        client.query('select * from iu_core.fn_ingest_repair($1, $2, $3, true)', [
          plan.upload_id,
          JSON.stringify([
            {
              row_number: 2,
              raw_payload: values,
              normalized_payload: values,
              validation_status: 'valid',
              validation_errors: [],
              validation_warnings: [],
            },
          ]),
          trial.operator.userId,
        ]),
      )
    // The corrected line is one whose row has moved.
    const { rows } = await repair({ sku: 's1', price: 9, note: 'old' })
    expect(rows).toMatchObject([{ replanned: 'whole' }])
    expect((await failure(again(plan.upload_id))).details).toMatchObject({ cells: 2 })
    expect((await conflicts(plan.upload_id)).items[0]).toMatchObject({
      cells: [{ column: 'price', base: 1, theirs: 3, mine: 9 }],
    })
    await again(plan.upload_id, { onConflict: 'keep_theirs' })
    // A new value of the file is a new opinion; the other answer stays.
    await repair({ sku: 's1', price: 8, note: 'old' })
    const next = await again(plan.upload_id)
    expect(next.notes).toMatchObject([{ rule: 'conflict.keep_theirs', count: 1 }])
    await trial.promote(next as unknown as Planned)
    expect((await rowsOf(kind)).slice(0, 2)).toMatchObject([{ price: '8' }, { note: 'theirs' }])
  })

  it('an answer to another question is refused: production moved on between question and answer', async () => {
    const plan = await moved()
    const { digest } = await conflicts(plan.upload_id)
    await db.owner(`update ${table} set note = 'theirs again' where sku = 's3'`)
    const refused = await failure(again(plan.upload_id, { onConflict: 'use_mine', conflictsDigest: digest }))
    expect(refused).toMatchObject({ code: 'plan_conflicts', details: { cells: 3 } })
    const next = await again(plan.upload_id, {
      onConflict: 'use_mine',
      conflictsDigest: refused.details!.digest as string,
    })
    expect(next.totals).toEqual({ good: { insert: 1, update: 4 } })
  })
})

describe('the result of an answer', () => {
  const SKUS = ['a', 'b', 'c', 'd', 'e']
  const row = fc.record({
    sku: fc.constantFrom(...SKUS),
    price: fc.option(fc.integer({ min: 0, max: 2 })),
    note: fc.constantFrom(null, 'x', 'y'),
  })
  const rows = (minLength = 0) => fc.uniqueArray(row, { selector: ({ sku }) => sku, minLength })
  const story = fc.record({
    kind: fc.constantFrom(...KINDS),
    snapshot: fc.boolean(),
    base: rows(),
    theirs: rows(),
    /** SKUs that they leave as they are. */
    untouched: fc.subarray(SKUS),
    mine: rows(1),
  })
  const same = (one: Row | undefined, other: Row | undefined) =>
    one === other || (!!one && !!other && one.price === other.price && one.note === other.note)

  function model(
    { snapshot }: { snapshot: boolean },
    [base, theirs, mine]: readonly (Row | undefined)[],
    keep: boolean,
  ): { row: Row | undefined; asks: boolean } {
    if (!mine) {
      if (!theirs || !snapshot) return { row: theirs, asks: false }
      const asks = !same(base, theirs)
      return { row: asks && keep ? theirs : undefined, asks }
    }
    if (!theirs) return base ? { row: keep ? undefined : mine, asks: true } : { row: mine, asks: false }
    const cell = <Name extends 'price' | 'note'>(name: Name) => {
      const asks = mine[name] !== theirs[name] && (!base || theirs[name] !== base[name])
      return { asks, value: asks && keep ? theirs[name] : mine[name] }
    }
    const [price, note] = [cell('price'), cell('note')]
    return { row: { sku: mine.sku, price: price.value, note: note.value }, asks: price.asks || note.asks }
  }

  it('equals the model for random rows', { tags: 'property', timeout: 600_000 }, async () => {
    const compare = async (
      {
        kind,
        snapshot,
        base,
        theirs,
        untouched,
        mine,
      }: typeof story extends fc.Arbitrary<infer T> ? T : never,
      answer: 'keep_theirs' | 'use_mine',
    ) => {
      const table = tableOf(kind)
      await db.owner(`truncate ${table}`)
      await seed(kind, base)
      const upload = await stage(datasetOf(kind, snapshot), mine)
      if (snapshot)
        await trial.service('select iu_core.fn_ingest_allow_short_file($1, true, $2)', [
          upload,
          trial.operator.userId,
        ])
      await trial.planned(upload)
      const by = (list: readonly Row[], sku: string) => list.find((one) => one.sku === sku)
      const now = SKUS.map((sku) => by(untouched.includes(sku) ? base : theirs, sku))
      for (const [place, sku] of SKUS.entries()) {
        const [was, is] = [by(base, sku), now[place]]
        if (is && was)
          await db.owner(`update ${table} set price = $2, note = $3 where sku = $1`, [sku, is.price, is.note])
        else if (is) await seed(kind, [is])
        else await db.owner(`delete from ${table} where sku = $1`, [sku])
      }
      const keep = answer === 'keep_theirs'
      // A snapshot none of whose lines is left says nothing about what else is there: it deletes nothing.
      const isEmpty = keep && mine.every(({ sku }) => by(base, sku) && !now[SKUS.indexOf(sku)])
      const expected = SKUS.map((sku, place) => {
        const one = model({ snapshot }, [by(base, sku), now[place], by(mine, sku)], keep)
        return isEmpty && !by(mine, sku) ? { ...one, row: now[place] } : one
      })
      const asks = expected.some((one) => one.asks)
      const first = await failure(again(upload))
      expect(first.code).toBe(asks ? 'plan_conflicts' : undefined)
      const plan = await again(upload, asks ? { onConflict: answer } : {})
      await trial.promote(plan as unknown as Planned)
      expect((await rowsOf(kind)).map(({ other: _, ...rest }) => rest)).toEqual(
        expected.flatMap((one) =>
          one.row ? [{ ...one.row, price: one.row.price === null ? null : String(one.row.price) }] : [],
        ),
      )
    }
    await fc.assert(
      fc.asyncProperty(story, fc.constantFrom('keep_theirs' as const, 'use_mine' as const), compare),
      { numRuns: cases(25, 300) },
    )
  })
})

it('a parent that they deleted stays away with its rows', async () => {
  const line = (group: string, amount: number): StagedLine => ({
    group_code: group,
    group_name: group,
    day: '2026-11-01',
    amount,
  })
  await trial.promoted([line('p1', 1), line('p2', 1)])
  const plan = await trial.stagePlanned([line('p1', 2), line('p2', 2)])
  await db.owner(`delete from trial_figures where group_id = (select id from trial_groups where code = 'p1')`)
  await db.owner(`delete from trial_groups where code = 'p1'`)
  expect((await failure(again(plan.upload_id))).details).toMatchObject({ rows: 2 })
  const next = await again(plan.upload_id, { onConflict: 'keep_theirs' })
  expect(next.totals).toEqual({ group: { skipped: 1, unchanged: 1 }, figure: { skipped: 1, update: 1 } })
  await trial.promote(next as unknown as Planned)
  expect(await db.owner(`select code from trial_groups where code like 'p_'`)).toEqual([{ code: 'p2' }])
})

it('whoever answered cannot approve, and approvals of the former plan fall', async () => {
  const dataset = { ...datasetOf('key'), name: 'goods_reviewed' }
  await trial.register(dataset, { approvalRequired: true, workspaceId: trial.workspace })
  await seed('key', [good('r', 1)])
  const plan = await planned(dataset, [good('r', 2)])
  await trial.approved(plan)
  await db.owner(`update goods_key set price = 3 where sku = 'r'`)
  const answer = (by: string) => again(plan.upload_id, { onConflict: 'use_mine', plannedBy: by })
  const next = await answer(trial.reviewer.userId)
  const submit = trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
    plan.upload_id,
    next.digest,
    trial.operator.userId,
  ])
  await submit
  expect(await failure(trial.promote(next as unknown as Planned))).toMatchObject({ code: 'approval_missing' })
  const approve = db.as(trial.reviewer, (client) =>
    client.query(`select iu_core.fn_ingest_approve($1, $2, '{changes}')`, [plan.upload_id, next.digest]),
  )
  expect((await failure(approve)).code).toBe('staging_own_record')
})

describe('lists say of a plan', () => {
  it('outdated, when a promotion or an undo wrote one of its rows, or a comparison found one that moved', async () => {
    await seed('key', [good('o1', 1), good('o2', 1)])
    const plan = await planned(datasetOf('key'), [good('o1', 2)])
    const other = await planned(datasetOf('key'), [good('o2', 3)])
    expect([await outdatedOf(plan.upload_id), await outdatedOf(other.upload_id)]).toEqual([null, null])
    const theirs = await planned(datasetOf('key'), [good('o1', 4)])
    await trial.promote(theirs)
    expect([await outdatedOf(plan.upload_id), await outdatedOf(other.upload_id)]).toEqual(['outdated', null])
    await again(plan.upload_id, { onConflict: 'use_mine' })
    expect(await outdatedOf(plan.upload_id)).toBeNull()
    await trial.undo(theirs.upload_id)
    expect(await outdatedOf(plan.upload_id)).toBe('outdated')
    // By somebody whom we do not know: a comparison finds it, and another one that it is as it was.
    await db.owner(`update goods_key set note = 'psql' where sku = 'o2'`)
    expect(await outdatedOf(other.upload_id)).toBeNull()
    const compare = () =>
      trial.service('select count(*) from iu_core.fn_ingest_plan_stale($1)', [other.upload_id])
    await compare()
    expect(await outdatedOf(other.upload_id)).toBe('outdated')
    await db.owner(`update goods_key set note = null where sku = 'o2'`)
    await compare()
    expect(await outdatedOf(other.upload_id)).toBeNull()
  })

  it('maybe outdated, when both insert rows whose ids say nothing, until somebody compares them', async () => {
    const plan = await planned(datasetOf('uuid'), [good('m1', 1)])
    await trial.promote(await planned(datasetOf('uuid'), [good('m2', 1)]))
    expect(await outdatedOf(plan.upload_id)).toBe('maybe_outdated')
    await trial.service('select count(*) from iu_core.fn_ingest_plan_stale($1)', [plan.upload_id])
    expect(await outdatedOf(plan.upload_id)).toBeNull()
  })

  it('maybe outdated, when it was made beside a promotion and neither saw the other', async () => {
    await seed('key', [good('b', 1)])
    const theirs = await planned(datasetOf('key'), [good('b', 2)])
    const upload = await stage(datasetOf('key'), [good('b', 3)])
    const session = await db.session('stagedoor_worker')
    try {
      await session.query('begin; set local role service_role')
      await session.query('select iu_core.fn_ingest_plan($1)', [upload])
      await trial.promote(theirs)
      await session.query('commit')
    } finally {
      await session.end()
    }
    expect(await outdatedOf(upload)).toBe('maybe_outdated')
  })

  it('nothing of plans of other workspaces and other tables', async () => {
    const plan = await trial.stagePlanned(
      [{ group_code: 'w', group_name: 'w', day: '2026-11-01', amount: 1 }],
      { dataset: TRIAL },
    )
    await trial.promote(await planned(datasetOf('key'), [good('w', 1)]))
    expect(await outdatedOf(plan.upload_id)).toBeNull()
  })
})
