/**
 * Two at once at the same unit, every pair of operations: what both leave behind is what one of the two serial orders leaves
 * behind, and nobody meets a deadlock.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../staging/people.ts'
import { member } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'
import { anAddress, call, create, edit, enact, useLife, versions } from './life.ts'

const db = useDatabase()
const life = useLife(db)
let one: Person
let two: Person

beforeAll(async () => {
  one = await member(db, life.workspace, 'reviewer')
  two = await member(db, life.workspace, 'reviewer')
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'leave', 'test')`,
    [life.workspace],
  )
})

/** A unit to fight for, one that is enacted, and a container. */
interface Scene {
  unit: string
  other: string
  container: string
}
type Operation = (who: Person, scene: Scene) => Promise<unknown>

const OPERATIONS: Record<string, Operation> = {
  edit: (who, { unit }) => edit(who, unit, 1, { p_body: 'Edited', p_title: 'E' }),
  slice: (who, { unit }) =>
    call(who, 'fn_unit_edit_slice', {
      ...{ p_unit_id: unit, p_expected_version: 1, p_from: 0, p_to: 4, p_text: 'Sliced' },
    }),
  profile: (who, { unit }) =>
    call(who, 'fn_unit_profile_patch', { p_unit_id: unit, p_patch: { a: 1, topic_labels: ['leave'] } }),
  'profile otherwise': (who, { unit }) =>
    call(who, 'fn_unit_profile_patch', { p_unit_id: unit, p_patch: { a: 2, b: 1, topic_labels: null } }),
  change_kind: (who, { unit }) =>
    call(who, 'fn_unit_change_kind', { p_unit_id: unit, p_unit_kind: 'table', p_apr_ref: 'apr-a' }),
  edge: (who, { unit, other }) =>
    call(who, 'fn_unit_edge_add', { p_from_unit_id: unit, p_edge_type: 'refers_to', p_target_ref: other }),
  'edge to it': (who, { unit, other }) =>
    call(who, 'fn_unit_edge_add', { p_from_unit_id: other, p_edge_type: 'refers_to', p_target_ref: unit }),
  move: (who, { unit, container }) =>
    call(who, 'fn_unit_move', { p_unit_id: unit, p_container_id: container }),
  'move into it': (who, { unit, container }) =>
    call(who, 'fn_unit_move', { p_unit_id: container, p_container_id: unit }),
  'created in it': (who, { unit }) => create(life, { p_container_id: unit }, who),
  enact: (who, { unit }) => enact(who, unit, 1),
  supersede: (who, { unit, other }) =>
    call(who, 'fn_unit_supersede', { p_unit_id: unit, p_successor_id: other, p_apr_ref: 'apr-s' }),
  'supersede by it': (who, { unit, other }) =>
    call(who, 'fn_unit_supersede', { p_unit_id: other, p_successor_id: unit, p_apr_ref: 'apr-t' }),
  retire: (who, { unit }) => call(who, 'fn_unit_retire', { p_unit_id: unit }),
  delete: (who, { unit }) => call(who, 'fn_unit_delete', { p_unit_id: unit }),
  restore: (who, { unit }) => call(who, 'fn_unit_restore', { p_unit_id: unit }),
}
const NAMES = Object.keys(OPERATIONS)

type Start = 'draft' | 'enacted' | 'deleted'

async function scenes(start: Start, count: number): Promise<Scene[]> {
  const given = Array.from({ length: count * 3 }, () => ({
    canonical_address: anAddress(),
    body: 'Text to fight for',
  }))
  const { session } = life.service
  const { rows } = await session.query<{ unit_id: string }>(
    'select unit_id from iu_core.fn_unit_create_batch($1, $2)',
    [life.workspace, JSON.stringify(given)],
  )
  const ids = rows.map((row) => row.unit_id)
  const [units, others, containers] = [0, 1, 2].map((n) => ids.slice(n * count, (n + 1) * count))
  const enacted = start === 'enacted' ? [...units!, ...others!] : others
  await session.query(`select iu_core.fn_unit_enact(u, 1, 'apr-1', 'user:rita') from unnest($1::uuid[]) u`, [
    enacted,
  ])
  if (start === 'deleted')
    await session.query('select iu_core.fn_unit_delete(u) from unnest($1::uuid[]) u', [units])
  return units!.map((unit, n) => ({ unit, other: others![n]!, container: containers![n]! }))
}

/** What is left of the three, without ids and times: scenes of different ids compare. */
async function left({ unit, other, container }: Scene): Promise<string> {
  const [found] = await db.owner<{ state: unknown }>(
    `with named as (select * from (values ($1::uuid, 'unit'), ($2, 'other'), ($3, 'container')) as n (id, name))
     select json_agg(json_build_array(
       n.name, u.lifecycle_status, u.deleted_at is not null, u.version_no, u.title, u.content_hash, u.content_profile, u.unit_kind, u.apr_ref,
       (select name from named where id = u.container_id), u.position, (select name from named where id = u.superseded_by),
       (select json_agg(json_build_array(v.version_no, v.title, v.body) order by v.version_no) from iu_core.unit_version v where v.unit_id = u.unit_id),
       (select json_agg(json_build_array(e.edge_type, (select name from named where id = e.to_unit_id), e.edge_status))
          from iu_core.universal_edges e where e.from_unit_id = u.unit_id),
       (select json_agg(json_build_array(o.operation, o.content_hash, o.generation, o.status)) from iu_core.vector_outbox o where o.unit_id = u.unit_id),
       (select json_agg(e.event_type order by e.seq) from iu_core.event_outbox e where e.event_subject_ref = u.unit_id::text),
       (select json_agg(json_build_array(l.from_status, l.to_status) order by l.log_id) from public.iu_lifecycle_log l where l.unit_id = u.unit_id),
       (select count(*) from iu_core.information_unit c where c.container_id = u.unit_id)) order by n.name) as state
     from named n join iu_core.information_unit u on u.unit_id = n.id`,
    [unit, other, container],
  )
  return JSON.stringify(found!.state)
}

/** The answers of both and what is left, if one comes after the other. Each order is needed by two pairs. */
const orders = new Map<string, Promise<[string[], string]>>()
function inOrder(start: Start, first: string, second: string, place: Scene): Promise<[string[], string]> {
  const key = JSON.stringify([start, first, second])
  const known = orders.get(key)
  const order =
    known ??
    (async (): Promise<[string[], string]> => {
      const answers = [
        await sqlstateOf(OPERATIONS[first]!(one, place)),
        await sqlstateOf(OPERATIONS[second]!(two, place)),
      ]
      return [answers, await left(place)]
    })()
  orders.set(key, order)
  return order
}

/** The second comes while the first has done everything but end. */
async function oneWaiting(first: string, second: string, place: Scene): Promise<[string[], string]> {
  await one.session.query('begin')
  const earlier = await sqlstateOf(OPERATIONS[first]!(one, place))
  let ended = false
  const late = sqlstateOf(OPERATIONS[second]!(two, place)).finally(() => {
    ended = true
  })
  const { processID } = two.session as typeof two.session & { processID: number }
  await until(`${second} waits for ${first}, or has ended`, async () => {
    const waiting = await db.owner('select from pg_locks where pid = $1 and not granted', [processID])
    return ended || waiting.length > 0
  })
  await one.session.query(earlier === 'not refused' ? 'commit' : 'rollback')
  return [[earlier, await late], await left(place)]
}

/** Both begin at the same moment, and take their locks as they come. */
async function together(first: string, second: string, place: Scene): Promise<[string[], string]> {
  const answers = await Promise.all([
    sqlstateOf(OPERATIONS[first]!(one, place)),
    sqlstateOf(OPERATIONS[second]!(two, place)),
  ])
  return [answers, await left(place)]
}

describe.each(['draft', 'enacted', 'deleted'] as const)('at a unit that is %s,', (start) => {
  it.each(NAMES)('%s, and at the same time each of the others', async (first) => {
    // Of what is deleted nothing changes but by its restoration.
    const seconds = start === 'deleted' && first !== 'restore' ? ['restore'] : NAMES
    const places = await scenes(start, seconds.length * 4)
    for (const second of seconds) {
      const [answers, after] = await inOrder(start, second, first, places.pop()!)
      const serial = [await inOrder(start, first, second, places.pop()!), [answers.toReversed(), after]]
      for (const outcome of [
        await oneWaiting(first, second, places.pop()!),
        await together(first, second, places.pop()!),
      ]) {
        expect(outcome[0], `${first} and ${second}`).not.toContain('40P01')
        expect(serial, `${first} and ${second}`).toContainEqual(outcome)
      }
    }
  })
})

it('one of 16 who edit the same version wins, and the others get an error', async () => {
  const { unit_id } = await create(life)
  const people = await Promise.all(Array.from({ length: 16 }, () => member(db, life.workspace, 'operator')))
  const answers = await Promise.all(
    people.map((who, n) => sqlstateOf(edit(who, unit_id, 1, { p_body: `Text ${n}` }))),
  )
  expect(answers.toSorted()).toEqual([...Array(15).fill('SD902'), 'not refused'])
  expect(await versions(db, unit_id)).toHaveLength(2)
})

it('one of 16 who want the same address gets it', async () => {
  const people = await Promise.all(Array.from({ length: 16 }, () => member(db, life.workspace, 'operator')))
  const address = anAddress()
  const answers = await Promise.all(people.map((who) => sqlstateOf(create(life, { address }, who))))
  expect(answers.toSorted()).toEqual([...Array(15).fill('SD904'), 'not refused'])
})

it('two batches that want the same addresses in opposite orders do not lock each other out', async () => {
  const units = Array.from({ length: 300 }, (_, n) => ({ canonical_address: `both/${n}`, body: 'x' }))
  const batch = (who: Person, given: object[]) =>
    sqlstateOf(
      who.session.query('select iu_core.fn_unit_create_batch($1, $2)', [
        life.workspace,
        JSON.stringify(given),
      ]),
    )
  const answers = await Promise.all([batch(one, units), batch(two, units.toReversed())])
  expect(answers.toSorted()).toEqual(['SD904', 'not refused'])
})

it('two who supersede each other’s unit by the other: one wins', async () => {
  for (let round = 0; round < 20; round++) {
    const [place] = await scenes('enacted', 1)
    const answers = await Promise.all([
      sqlstateOf(OPERATIONS.supersede!(one, place!)),
      sqlstateOf(OPERATIONS['supersede by it']!(two, place!)),
    ])
    expect(answers.toSorted()).toEqual(['SD905', 'not refused'])
  }
})
