/** What search has to learn: one row a unit, exactly when the text or its standing changes, and not before there is quiet. */
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type CreatedUnit, call, create, edit, enact, outbox, sha256, useLife } from './life.ts'

const db = useDatabase()
const life = useLife(db)
let unit: CreatedUnit
beforeEach(async () => {
  unit = await create(life, { body: 'One' })
})

const supersede = async () => {
  const successor = await create(life)
  await enact(life.reviewer, successor.unit_id)
  await call(life.reviewer, 'fn_unit_supersede', {
    p_unit_id: unit.unit_id,
    p_successor_id: successor.unit_id,
    p_apr_ref: 'apr-2',
  })
}
const remove = () => call(life.reviewer, 'fn_unit_delete', { p_unit_id: unit.unit_id })
const restore = () => call(life.reviewer, 'fn_unit_restore', { p_unit_id: unit.unit_id })

/** What a worker does to the row, without one. */
const workerSets = (set: string) =>
  db.owner(`update iu_core.vector_outbox set ${set} where unit_id = $1`, [unit.unit_id])
const leased = (operation: string) =>
  `status = 'processing', operation = '${operation}', worker_id = '${life.workspace}', leased_until = now() + '1 min', retry_count = 2`

describe('after a worker has done the row,', () => {
  beforeEach(() => workerSets(`status = 'done'`))

  it('a new text is an upsert', async () => {
    await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
    expect(await outbox(db, unit.unit_id)).toEqual({
      operation: 'upsert',
      content_hash: sha256('Two'),
      generation: '2',
      status: 'pending',
      wait: 120,
    })
  })

  it('enacting, superseding and retiring are patches', async () => {
    const patch = { operation: 'patch', content_hash: sha256('One'), status: 'pending', wait: 120 }
    await enact(life.reviewer, unit.unit_id)
    expect(await outbox(db, unit.unit_id)).toEqual({ ...patch, generation: '2' })
    await supersede()
    expect(await outbox(db, unit.unit_id)).toMatchObject({ operation: 'patch', generation: '3' })
    unit = await create(life, { body: 'One' })
    await workerSets(`status = 'done'`)
    await call(life.reviewer, 'fn_unit_retire', { p_unit_id: unit.unit_id })
    expect(await outbox(db, unit.unit_id)).toEqual({ ...patch, generation: '2' })
  })

  it('a deletion is a delete after 30 seconds, and a restoration an upsert', async () => {
    await remove()
    expect(await outbox(db, unit.unit_id)).toEqual({
      operation: 'delete',
      content_hash: null,
      generation: '2',
      status: 'pending',
      wait: 30,
    })
    await restore()
    expect(await outbox(db, unit.unit_id)).toMatchObject({ operation: 'upsert', generation: '3', wait: 120 })
  })

  it('a title and another container are a patch: both are searched, the text keeps its vector', async () => {
    const { unit_id } = unit
    await edit(life.operator, unit_id, 1, { p_title: 'Another' })
    expect(await outbox(db, unit_id)).toMatchObject({
      operation: 'patch',
      generation: '2',
      status: 'pending',
    })
    await workerSets(`status = 'done'`)
    const container = await create(life, { p_unit_kind: 'document' })
    await call(life.operator, 'fn_unit_move', { p_unit_id: unit_id, p_container_id: container.unit_id })
    expect(await outbox(db, unit_id)).toMatchObject({
      operation: 'patch',
      generation: '3',
      status: 'pending',
    })
    expect(await outbox(db, container.unit_id)).toMatchObject({ generation: '1' })
  })

  it('the title of a container is a patch of what is in it', async () => {
    const container = await create(life, { p_unit_kind: 'document' })
    await call(life.operator, 'fn_unit_move', { p_unit_id: unit.unit_id, p_container_id: container.unit_id })
    await workerSets(`status = 'done'`)
    await edit(life.operator, container.unit_id, 1, { p_title: 'Another' })
    expect(await outbox(db, unit.unit_id)).toMatchObject({
      operation: 'patch',
      generation: '3',
      status: 'pending',
    })
  })

  it('a profile, a kind, an edge, an order and nothing at all are no work', async () => {
    const { unit_id } = unit
    const container = await create(life, { p_unit_kind: 'document' })
    await call(life.operator, 'fn_unit_move', { p_unit_id: unit_id, p_container_id: container.unit_id })
    await workerSets(`status = 'done'`)
    await edit(life.operator, unit_id, 1, { p_body: 'One' })
    await call(life.operator, 'fn_unit_profile_patch', { p_unit_id: unit_id, p_patch: { a: 1 } })
    await call(life.reviewer, 'fn_unit_change_kind', {
      p_unit_id: unit_id,
      p_unit_kind: 'table',
      p_apr_ref: 'apr-3',
    })
    await call(life.operator, 'fn_unit_edge_add', {
      p_from_unit_id: unit_id,
      p_edge_type: 'refers_to',
      p_target_ref: 'https://example.org',
    })
    await call(life.operator, 'fn_unit_reorder', { p_container_id: container.unit_id, p_unit_ids: [unit_id] })
    expect(await outbox(db, unit_id)).toMatchObject({ generation: '2', status: 'done' })
    expect(await outbox(db, container.unit_id)).toMatchObject({ generation: '1' })
  })
})

describe('while the row waits,', () => {
  it('three edits are one embedding', async () => {
    for (const no of [1, 2, 3]) await edit(life.operator, unit.unit_id, no, { p_body: `Text ${no}` })
    expect(await outbox(db, unit.unit_id)).toMatchObject({
      operation: 'upsert',
      content_hash: sha256('Text 3'),
      generation: '4',
      status: 'pending',
    })
  })

  it('a patch does not make the upsert forgotten', async () => {
    await enact(life.reviewer, unit.unit_id)
    expect(await outbox(db, unit.unit_id)).toMatchObject({ operation: 'upsert', generation: '2' })
  })

  it('nor one that was given up', async () => {
    await workerSets(`status = 'dead_letter', retry_count = 3, last_error = 'no embedder'`)
    await enact(life.reviewer, unit.unit_id)
    const [row] = await db.owner(
      `select operation, status, retry_count, last_error, first_enqueued_at = changed_at as is_new
         from iu_core.vector_outbox where unit_id = $1`,
      [unit.unit_id],
    )
    expect(row).toEqual({
      operation: 'upsert',
      status: 'pending',
      retry_count: 0,
      last_error: null,
      is_new: true,
    })
  })

  it('a delete beats everything', async () => {
    await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
    await remove()
    expect(await outbox(db, unit.unit_id)).toMatchObject({
      operation: 'delete',
      content_hash: null,
      wait: 30,
    })
    await db.owner(`select iu_core.fn_vector_enqueue(array[$1::uuid], 'patch')`, [unit.unit_id])
    expect(await outbox(db, unit.unit_id)).toMatchObject({ operation: 'delete', content_hash: null })
  })

  it('edits put it off, but not for ever', async () => {
    await workerSets(`first_enqueued_at = now() - interval '9 minutes'`)
    await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
    const { wait } = (await outbox(db, unit.unit_id))!
    expect(wait).toBeGreaterThan(50)
    expect(wait).toBeLessThanOrEqual(60)
    // Once it was done, the wait begins again.
    await workerSets(`status = 'done'`)
    await edit(life.operator, unit.unit_id, 2, { p_body: 'Three' })
    expect((await outbox(db, unit.unit_id))!.wait).toBe(120)
  })
})

it('keeps the lease of a worker, and the generation shows that it has not finished', async () => {
  await workerSets(leased('upsert'))
  await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
  const [row] = await db.owner(
    `select status, worker_id, leased_until is not null as leased, generation::int, retry_count, content_hash, operation
       from iu_core.vector_outbox where unit_id = $1`,
    [unit.unit_id],
  )
  expect(row).toEqual({
    status: 'processing',
    worker_id: life.workspace,
    leased: true,
    generation: 2,
    retry_count: 0,
    content_hash: sha256('Two'),
    operation: 'upsert',
  })
  await remove()
  expect(await outbox(db, unit.unit_id)).toMatchObject({
    status: 'processing',
    operation: 'delete',
    generation: '3',
  })
})

it('follows the policy', async () => {
  await db.owner(
    `update iu_core.vector_policy set quiet_window = '180 s', delete_delay = '60 s', stagger = '1 s'`,
  )
  await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
  expect((await outbox(db, unit.unit_id))!.wait).toBe(180)
  const other = await create(life)
  await db.owner(`select iu_core.fn_vector_enqueue(array[$1, $2]::uuid[], 'upsert')`, [
    other.unit_id,
    unit.unit_id,
  ])
  expect([(await outbox(db, other.unit_id))!.wait, (await outbox(db, unit.unit_id))!.wait]).toEqual([
    180, 181,
  ])
  await remove()
  expect((await outbox(db, unit.unit_id))!.wait).toBe(60)
  await db.owner(
    `update iu_core.vector_policy set quiet_window = '120 s', delete_delay = '30 s', stagger = '50 ms'`,
  )
})

it('knows no other operations, and nobody else enqueues', async () => {
  for (const [units, operation] of [
    [`array['${unit.unit_id}']::uuid[]`, `'insert'`],
    [`array['${unit.unit_id}']::uuid[]`, 'null'],
    ['null', `'upsert'`],
  ])
    expect(await sqlstateOf(db.owner(`select iu_core.fn_vector_enqueue(${units}, ${operation})`))).toBe(
      'SD001',
    )
  for (const who of [life.operator, life.reviewer, life.agent, life.service])
    expect(await sqlstateOf(who.session.query(`select iu_core.fn_vector_enqueue('{}', 'upsert')`))).toBe(
      '42501',
    )
})

it('comes and goes with the transaction of the change', async () => {
  const { session } = life.operator
  await session.query('begin')
  await edit(life.operator, unit.unit_id, 1, { p_body: 'Two' })
  await session.query('rollback')
  expect(await outbox(db, unit.unit_id)).toMatchObject({ generation: '1', content_hash: sha256('One') })
})

describe('for one unit, as creations and edits enqueue it, the row is the same as for many:', () => {
  const STATES = [
    `status = 'pending'`,
    `status = 'done'`,
    `status = 'dead_letter', retry_count = 3, last_error = 'x'`,
    `status = 'processing', worker_id = gen_random_uuid(), leased_until = now() + '1 min', retry_count = 2`,
  ]
  const cases = ['upsert', 'patch', 'delete'].flatMap((operation) =>
    ['upsert', 'patch', 'delete'].flatMap((before) =>
      STATES.map((state) => [operation, before, state] as const),
    ),
  )

  it.each(cases)('%s onto %s with %s', async (operation, before, state) => {
    // In one transaction, which has one now(): how long its statements take does not count.
    const rowAfter = async (call: string) => {
      const session = await db.session()
      await session.query('begin')
      const had = await session.query(
        `update iu_core.vector_outbox set operation = '${before}', ${state}, first_enqueued_at = now() - interval '9 minutes'
          where unit_id = $1`,
        [unit.unit_id],
      )
      expect(had.rowCount).toBe(1)
      await session.query(`select iu_core.${call}`, [unit.unit_id])
      const { rows } = await session.query(
        `select operation, content_hash, status, retry_count, last_error, worker_id is null as idle,
                round(extract(epoch from first_enqueued_at - now())) as first,
                round(extract(epoch from earliest_run_at - now())) as earliest
           from iu_core.vector_outbox where unit_id = $1`,
        [unit.unit_id],
      )
      await session.query('rollback')
      await session.end()
      return rows[0]
    }
    const many = await rowAfter(`fn_vector_enqueue(array[$1::uuid], '${operation}')`)
    expect(many).toMatchObject({ retry_count: 0 })
    expect(
      await rowAfter(
        `fn_vector_enqueue_unit(u.unit_id, u.content_hash, '${operation}') from iu_core.information_unit u where u.unit_id = $1`,
      ),
    ).toEqual(many)
  })

  it('and for the first time, too', async () => {
    const row = async (sql: string) => {
      const { unit_id } = await create(life, { body: 'One' })
      const session = await db.session('postgres')
      await session.query('begin')
      await session.query('delete from iu_core.vector_outbox where unit_id = $1', [unit_id])
      await session.query(sql, [unit_id])
      const { rows } = await session.query(
        `select operation, content_hash, generation, status, round(extract(epoch from earliest_run_at - now())) as earliest
           from iu_core.vector_outbox where unit_id = $1`,
        [unit_id],
      )
      await session.query('rollback')
      return rows[0]
    }
    for (const operation of ['upsert', 'patch', 'delete']) {
      const many = await row(`select iu_core.fn_vector_enqueue(array[$1::uuid], '${operation}')`)
      expect(many).toMatchObject({ operation })
      expect(
        await row(`select iu_core.fn_vector_enqueue_unit($1, '${sha256('One')}', '${operation}')`),
      ).toEqual(many)
    }
  })
})
