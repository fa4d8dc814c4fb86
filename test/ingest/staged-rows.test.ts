/** What staged rows can be: those of their upload, with a row type that is registered, and what they say at every stage. */
import { describe, expect, it } from 'vitest'
import { exportProblems, listRows } from '../../src/ingest/staged-rows.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { createClient } from '../support/ingest.ts'
import { PRICES, type StagedLine, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const trial = useTrial(db)
let groups = 0
const line = (group = `r${++groups}`, amount: number | string = 1): StagedLine => ({
  group_code: group,
  group_name: group,
  day: '2026-11-01',
  amount,
})

describe('the back end cannot stage', () => {
  const columns = ['workspace_id', 'client_id', 'upload_id', 'platform', 'row_type']
  async function copied(changes: Record<string, string>): Promise<string | undefined> {
    const upload = await trial.stage([line()])
    const selected = columns.map((column) =>
      changes[column] === undefined ? column : `'${changes[column]}'`,
    )
    return sqlstateOf(
      trial.service(
        `insert into public.staging_rows (${columns.join(', ')}, row_number, raw_payload)
         select ${selected.join(', ')}, row_number + 100, raw_payload from public.staging_rows where upload_id = $1`,
        [upload],
      ),
    )
  }

  it('rows of another workspace, client or platform than the upload, or of no upload', async () => {
    const other = await createWorkspace(db, 'other')
    expect(await copied({ workspace_id: other })).toBe('SD520')
    expect(await copied({ client_id: await createClient(db, other, 'theirs') })).toBe('SD520')
    expect(await copied({ platform: 'snapchat' })).toBe('SD520')
    expect(await copied({ platform: 'meta' })).toBe('SD520')
    expect(await copied({ upload_id: '00000000-0000-7000-8000-000000000001' })).toBe('SD520')
  })

  it('rows of a type that no dataset has registered', async () => {
    expect(await copied({ row_type: 'banana' })).toBe('SD520')
  })

  it('two rows under one id, or move a row to another upload', async () => {
    const upload = await trial.stage([line(), line()])
    expect(
      await sqlstateOf(
        trial.service(
          `insert into public.staging_rows (id, ${columns.join(', ')}, row_number, raw_payload)
           select id, ${columns.join(', ')}, row_number + 100, raw_payload from public.staging_rows where upload_id = $1`,
          [upload],
        ),
      ),
    ).toBe('23505')
    for (const column of columns) {
      expect(
        await sqlstateOf(
          trial.service(`update public.staging_rows set ${column} = ${column} where upload_id = $1`, [
            upload,
          ]),
        ),
      ).toBe('42501')
    }
    const other = { workspace_id: 'gen_random_uuid()', platform: `'meta'`, row_type: `'group'` }
    for (const [column, value] of Object.entries(other)) {
      const change = `update public.staging_rows set ${column} = ${value} where upload_id = $1`
      expect(await sqlstateOf(db.owner(change, [upload])), `the owner: ${column}`).toBe('SD520')
    }
  })

  it('resolutions of figures, or of another workspace', async () => {
    const { upload_id } = await trial.stagePlanned([line()])
    const resolved = (type: string, workspace: string) =>
      sqlstateOf(
        trial.service(
          `insert into public.staging_id_resolution (workspace_id, client_id, upload_id, platform, entity_type, external_id)
           select coalesce($3::uuid, workspace_id), client_id, upload_id, platform, $2, 'x' from iu_core.ingest_upload where upload_id = $1`,
          [upload_id, type, workspace || null],
        ),
      )
    expect(await resolved('figure', '')).toBe('23503')
    expect(await resolved('group', await createWorkspace(db, 'third'))).toBe('23503')
    expect(await resolved('group', '')).toBe('not refused')
  })
})

describe('a line that the plan refuses', () => {
  const rowsOf = (upload: string) =>
    db.owner<{
      row_number: number
      validation_status: string
      processing_action: string
      processed_at: Date | null
      target_internal_id: string | null
      messages: string
    }>(
      `select row_number, validation_status, processing_action, processed_at, target_internal_id,
              (select string_agg(e ->> 'message', ' ') from jsonb_array_elements(validation_errors) e) as messages
         from public.staging_rows where upload_id = $1 and row_type = 'figure' order by row_number`,
      [upload],
    )

  it('carries its error, is counted as one line, and is kept with the wrong ones', async () => {
    const plan = await trial.stagePlanned([line(undefined, 1e15), line(), line()], {}, 'STRICT')
    expect(plan.refusal).toBe('1 of 3 lines is invalid')
    expect((await rowsOf(plan.upload_id)).map((row) => [row.validation_status, row.messages])).toEqual([
      ['invalid', expect.stringContaining('public.trial_figures.amount cannot hold 1000000000000000')],
      ['valid', null],
      ['valid', null],
    ])
    expect(await trial.find(plan.upload_id)).toMatchObject({ valid_count: 2, invalid_count: 1 })

    // Planned again it has the same error, not one more.
    const again = await trial.planned(plan.upload_id, 'LENIENT', 0.5)
    expect(again.refusal).toBeNull()
    const [once] = await rowsOf(plan.upload_id)
    expect(once!.messages.match(/cannot hold/g)).toHaveLength(1)
    await trial.promote(again)
    const [refused, ...taken] = await rowsOf(plan.upload_id)
    expect(refused).toMatchObject({
      validation_status: 'invalid',
      processing_action: 'skipped',
      processed_at: null,
    })
    for (const row of taken)
      expect(row).toMatchObject({ processing_action: 'insert', processed_at: expect.any(Date) })
    await db.owner(
      `update public.staging_rows set created_at = now() - interval '20 days', processed_at = processed_at - interval '20 days'
        where upload_id = $1`,
      [plan.upload_id],
    )
    await db.owner('select public.cleanup_staging_rows()')
    expect((await rowsOf(plan.upload_id)).map((row) => row.row_number)).toEqual([2])
  })

  it('counts lines where one of them is refused as several rows', async () => {
    await db.owner(
      `insert into trial_groups (client_id, code, name) values ($1, 'one', 'twins'), ($1, 'two', 'twins')`,
      [trial.client],
    )
    const plan = await trial.stagePlanned([{ group_name: 'twins', day: '2026-11-01', amount: 1 }])
    expect(plan.totals).toEqual({ group: { refused: 1 }, figure: { refused: 1 } })
    expect(plan.refusal).toBe('no line is valid')
    const two = await trial.stagePlanned([
      { group_name: 'twins', day: '2026-11-01', amount: 1 },
      { group_name: 'single', day: '2026-11-01', amount: 1 },
    ])
    expect(two.refusal).toBe('1 of 2 lines is invalid')
    expect((await rowsOf(two.upload_id))[0]).toMatchObject({
      validation_status: 'invalid',
      messages: expect.stringContaining('2 rows have this name'),
    })
  })

  it('is among the wrong ones, too, where the table refuses it while it is promoted', async () => {
    const upload = await trial.stage([line(undefined, 2_000_000), line(), line()])
    const plan = await trial.planned(upload, 'LENIENT', 0.5)
    await trial.promote(plan)
    expect(await rowsOf(upload)).toMatchObject([
      {
        validation_status: 'invalid',
        processing_action: 'failed',
        messages: expect.stringContaining('trial_figures_amount_sane'),
      },
      { validation_status: 'valid', processing_action: 'insert' },
      { validation_status: 'valid', processing_action: 'insert' },
    ])
    expect(await trial.find(upload)).toMatchObject({ status: 'promoted', valid_count: 2, invalid_count: 1 })
  })

  it('is listed with the problems and in the export', async () => {
    const plan = await trial.stagePlanned([line('listed', 1e15), line()])
    const page = (after: number) =>
      db.as({ role: 'service_role' }, (client) =>
        listRows(client, plan.upload_id, { rowType: 'figure', status: 'invalid', limit: 10, after }),
      )
    expect(await page(0)).toMatchObject([{ row_number: 2, validation_errors: [{ rule: 'plan.refused' }] }])
    let csv = ''
    for await (const text of exportProblems(page, ['group_code'])) csv += text
    expect(csv).toContain('listed,2,public.trial_figures.amount cannot hold')
  })

  it('is distinguished from one that production has already', async () => {
    const one = line()
    await trial.promoted([one])
    const upload = await trial.stage([one, line()], { invalid: [1] })
    const plan = await trial.planned(upload, 'LENIENT', 0.1)
    await trial.promote(plan)
    expect(
      (await rowsOf(plan.upload_id)).map((row) => [row.validation_status, row.processing_action]),
    ).toEqual([
      ['valid', 'unchanged'],
      ['invalid', 'skipped'],
    ])
  })
})

describe('the table of the user that gets the status of uploads', () => {
  const told = (upload: string) =>
    db.owner<{ status: string; row_count: number | null }>(
      'select status::text, row_count::int from public.data_uploads where id = $1',
      [upload],
    )

  it('gets nothing of a dry run, from its beginning to its end', async () => {
    const { upload_id } = await trial.stagePlanned([line()], { runMode: 'FULL_DRY_RUN' })
    expect(await told(upload_id)).toEqual([])
    await trial.service('select iu_core.fn_ingest_discard($1)', [upload_id])
    expect(await told(upload_id)).toEqual([])
  })

  it('counts after an undo what is left, and the staged rows say what was taken back', async () => {
    const plan = await trial.promoted([line('undo1'), line('undo2')])
    expect(await told(plan.upload_id)).toMatchObject([{ row_count: 4 }])
    await db.owner(
      `update trial_figures set note = 'mine' where group_id = (select id from trial_groups where code = 'undo1')`,
    )
    await trial.undo(plan.upload_id)
    // The figures that somebody edited, and the group that they need.
    expect(await told(plan.upload_id)).toMatchObject([{ row_count: 2 }])
    const rows = await db.owner(
      `select row_type, row_number, processing_action, target_internal_id is null as gone
         from public.staging_rows where upload_id = $1 order by row_type, row_number`,
      [plan.upload_id],
    )
    expect(rows).toEqual([
      { row_type: 'figure', row_number: 2, processing_action: 'insert', gone: false },
      { row_type: 'figure', row_number: 3, processing_action: 'skipped', gone: true },
      { row_type: 'group', row_number: 2, processing_action: 'insert', gone: false },
      { row_type: 'group', row_number: 3, processing_action: 'skipped', gone: true },
    ])
  })
})

describe('lines that a promotion inserted with all others of their type', () => {
  const COLUMNS =
    'row_type, row_number, processing_action, processed_at is not null as processed, target_internal_id = id as own_id'
  const shown = (upload: string) =>
    db.owner(
      `select ${COLUMNS} from public.staging_rows where upload_id = $1 order by row_type, row_number`,
      [upload],
    )
  const stored = (upload: string) =>
    db.owner(
      `select ${COLUMNS} from iu_core.ingest_staged_row where upload_id = $1 order by row_type, row_number`,
      [upload],
    )
  const inserted = { processing_action: 'insert', processed: true, own_id: true }
  const untouched = { processing_action: 'pending', processed: false, own_id: null }
  const alike = (rows: object[], expected: object) => rows.map((row) => ({ ...row, ...expected }))

  it('say so in the view, and are not written again', async () => {
    const { upload_id } = await trial.promoted([line(), line()])
    const [rows, own] = [await shown(upload_id), await stored(upload_id)]
    expect(rows).toHaveLength(4)
    expect(rows).toEqual(alike(rows, inserted))
    expect(own).toEqual(alike(own, untouched))
    const [times] = await db.owner<{ same: boolean }>(
      `select bool_and(s.processed_at = p.promoted_at and s.updated_at >= p.promoted_at) as same
         from public.staging_rows s join iu_core.ingest_promotion p using (upload_id) where upload_id = $1`,
      [upload_id],
    )
    expect(times).toEqual({ same: true })
  })

  it('are told apart by an undo that leaves one', async () => {
    const { upload_id } = await trial.promoted([line('stays'), line('goes')])
    await db.owner(
      `insert into trial_items (group_id, code) select id, 'later' from trial_groups where client_id = $1 and code = 'stays'`,
      [trial.client],
    )
    await trial.undo(upload_id)
    const rows = await shown(upload_id)
    expect(rows).toEqual(await stored(upload_id))
    expect(rows.filter(({ row_type }) => row_type === 'figure')).toEqual(
      [2, 3].map((row_number) => ({
        row_type: 'figure',
        row_number,
        processing_action: 'skipped',
        processed: true,
        own_id: null,
      })),
    )
    expect(
      rows
        .filter(({ row_type }) => row_type === 'group')
        .map(({ processing_action, own_id }) => [processing_action, own_id]),
    ).toEqual([
      ['insert', true],
      ['skipped', null],
    ])
  })

  it('say so where the table has no ids of ours, too, and an undo tells them apart', async () => {
    const skus = [`k${++groups}`, `k${++groups}`]
    const { upload_id } = await trial.promoted(
      skus.map((sku) => ({ sku, tier: 'a', day: '2026-11-01', price: 1 })),
      { dataset: PRICES },
    )
    const rows = await shown(upload_id)
    expect(rows).toHaveLength(2)
    expect(rows).toEqual(alike(rows, { ...inserted, own_id: null }))
    expect(await stored(upload_id)).toEqual(alike(rows, untouched))
    await db.owner(`update trial_prices set note = 'by hand' where sku = $1`, [skus[0]])
    await trial.undo(upload_id)
    expect((await shown(upload_id)).map((row) => row.processing_action)).toEqual(['insert', 'skipped'])
    expect(await shown(upload_id)).toEqual(await stored(upload_id))
  })

  it('are deleted by their retention, counted as promoted', async () => {
    const { upload_id } = await trial.promoted([line()])
    const age = async (days: number) => {
      await db.owner(
        `update iu_core.ingest_promotion set promoted_at = now() - make_interval(days => $2) where upload_id = $1`,
        [upload_id, days],
      )
      await db.owner(
        `update iu_core.ingest_staged_row set created_at = now() - make_interval(days => $2) where upload_id = $1`,
        [upload_id, days],
      )
      const [deleted] = await db.owner('select * from public.cleanup_staging_rows()')
      return deleted
    }
    expect(await age(6)).toMatchObject({ promoted_deleted: 0, orphan_deleted: 0 })
    expect(await shown(upload_id)).toHaveLength(2)
    expect(await age(8)).toMatchObject({ promoted_deleted: 2, orphan_deleted: 0 })
    expect(await shown(upload_id)).toEqual([])
  })

  it('are as they were where an earlier version wrote it into every line', async () => {
    const { upload_id } = await trial.promoted([line()])
    const before = await shown(upload_id)
    await db.owner(
      `update iu_core.ingest_staged_row set processing_action = 'insert', processed_at = now(), target_internal_id = id where upload_id = $1`,
      [upload_id],
    )
    await db.owner(`update iu_core.ingest_promotion set inserted_types = '{}' where upload_id = $1`, [
      upload_id,
    ])
    expect(await shown(upload_id)).toEqual(before)
    await trial.undo(upload_id)
    const after = await shown(upload_id)
    expect(after).toEqual(alike(after, { processing_action: 'skipped', processed: true, own_id: null }))
  })
})

describe('the view of staged rows', () => {
  it('is written by the back end as the table was: defaults, changes that return what they wrote, and deletes', async () => {
    const { upload_id } = await trial.promoted([line()])
    expect(
      await trial.service(
        `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload)
         select workspace_id, client_id, upload_id, platform, row_type, 100, raw_payload from public.staging_rows
          where upload_id = $1 and row_type = 'figure'
         returning id is not null as id, validation_status, validation_errors, validation_warnings, processing_action, created_at = now() as now`,
        [upload_id],
      ),
    ).toEqual([
      {
        id: true,
        validation_status: 'pending',
        validation_errors: [],
        validation_warnings: [],
        processing_action: 'pending',
        now: true,
      },
    ])
    expect(
      await trial.service(
        `update public.staging_rows set raw_payload = raw_payload || '{"x": "1"}', normalized_payload = null
          where upload_id = $1 and row_type = 'figure' and row_number = 2
          returning raw_payload ->> 'x' as x, normalized_payload as n, processing_action, processed_at is not null as processed`,
        [upload_id],
      ),
    ).toEqual([{ x: '1', n: null, processing_action: 'insert', processed: true }])
    expect(
      await trial.service(
        'delete from public.staging_rows where upload_id = $1 and row_number = 100 returning row_number',
        [upload_id],
      ),
    ).toEqual([{ row_number: 100 }])
  })

  it('shows nobody more than its table', async () => {
    const { upload_id } = await trial.promoted([line()])
    for (const who of [trial.operator, trial.reviewer]) {
      for (const table of ['public.staging_rows', 'iu_core.ingest_staged_row'])
        expect(
          await db.as(
            who,
            async (client) =>
              (await client.query(`select from ${table} where upload_id = $1`, [upload_id])).rowCount,
          ),
        ).toBe(2)
      expect(
        await sqlstateOf(
          db.as(who, (client) =>
            client.query('delete from public.staging_rows where upload_id = $1', [upload_id]),
          ),
        ),
      ).toBe('42501')
    }
  })
})

it('a change through the view keeps what another session has changed of the row meanwhile', async () => {
  const upload = await trial.stage([line()])
  const rowOf =
    'where upload_id = $1 and row_number = (select min(row_number) from public.staging_rows where upload_id = $1)'
  const checker = await db.session('postgres')
  await checker.query('begin')
  await checker.query(
    `update iu_core.ingest_staged_row set validation_status = 'invalid', validation_errors = '[{"code": "x"}]' ${rowOf}`,
    [upload],
  )
  const changed = trial.service(`update public.staging_rows set request_id = gen_random_uuid() ${rowOf}`, [
    upload,
  ])
  await until('the change waits for the checker', async () => {
    const waiting = await db
      .pool('postgres')
      .query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update public.staging_rows set request_id%'`,
      )
    return waiting.rowCount === 1
  })
  await checker.query('commit')
  await changed
  const [row] = await db.owner(
    `select validation_status, validation_errors, request_id is not null as named from public.staging_rows ${rowOf}`,
    [upload],
  )
  expect(row).toEqual({ validation_status: 'invalid', validation_errors: [{ code: 'x' }], named: true })
})
