/** A cut, and at the same time what people do to a unit of it: both are whole, and nobody meets a deadlock or a raw error. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { member, type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'
import { untilWaiting } from '../support/waiting.ts'
import { approved, cut, cutDocument, enact, HANDBOOK, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let other: pg.Client
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
  other = (await member(db, place.workspace, 'reviewer')).session as pg.Client
})

const OPERATIONS: Record<string, string> = {
  edit: `select iu_core.fn_unit_edit($1, 1, 'Mine')`,
  enact: `select iu_core.fn_unit_enact($1, 1, 'APR-9')`,
  delete: 'select iu_core.fn_unit_delete($1)',
  retire: 'select iu_core.fn_unit_retire($1)',
  profile: `select iu_core.fn_unit_profile_patch($1, '{"a": 1}')`,
  move: 'select iu_core.fn_unit_move($1, null)',
  edge: `select iu_core.fn_unit_edge_add($1, 'refers_to', 'elsewhere')`,
  'an edge removed': `select iu_core.fn_unit_edge_delete((iu_core.fn_unit_edge_add($1, 'refers_to', 'elsewhere')).edge_id)`,
  'another order': `select iu_core.fn_unit_reorder(container_id, array(
       select c.unit_id from iu_core.information_unit c where c.container_id = u.container_id order by c.position desc))
     from iu_core.information_unit u where unit_id = $1`,
  'a birth in it': `select iu_core.fn_unit_create(workspace_id, canonical_address || '/inner', 'x', p_container_id => $1)
     from iu_core.information_unit where unit_id = $1`,
  'a birth at an address that it takes': `select iu_core.fn_unit_create(workspace_id, split_part(canonical_address, '/', 1) || '/more', 'x')
     from iu_core.information_unit where unit_id = $1`,
}
/** Each of these is said by a rule, to whoever came second. */
const ANSWERS = ['not refused', 'SD901', 'SD902', 'SD903', 'SD904', 'SD905', 'SD909', 'SD001']

describe.each(['changed', 'gone', 'changed and enacted'])('of a piece that is %s,', (variant) => {
  it.each(Object.entries(OPERATIONS))('and %s', async (_, sql) => {
    for (const mode of ['waits', 'together']) {
      const address = `race-${++documents}`
      const options = { sourceRef: `${address}.md`, address }
      await cutDocument(place, HANDBOOK, options)
      if (variant === 'changed and enacted') await enact(place, `${address}/expenses`)
      const next =
        variant === 'gone'
          ? HANDBOOK.replace(/## Expenses[\s\S]*/, '')
          : HANDBOOK.replace('receipts', 'bills')
      const staged = await approved(place, `${next}\n## More\n\nx\n`, options)
      const before = await unitsOf(db.pool('postgres'), place.workspace, options.sourceRef)
      const { unit_id } = before.get(`${address}/expenses`)!
      const answers: string[] = []
      if (mode === 'waits') {
        await other.query('begin')
        answers.push(await sqlstateOf(other.query(sql, [unit_id])))
        let ended = false
        const late = sqlstateOf(cut(place, staged)).finally(() => {
          ended = true
        })
        const { processID } = place.operator.session as unknown as { processID: number }
        await until('the cut waits, or has ended', async () => {
          const waiting = await db.owner('select from pg_locks where pid = $1 and not granted', [processID])
          return ended || waiting.length > 0
        })
        await other.query(answers[0] === 'not refused' ? 'commit' : 'rollback')
        answers.push(await late)
      } else {
        answers.push(
          ...(await Promise.all([sqlstateOf(other.query(sql, [unit_id])), sqlstateOf(cut(place, staged))])),
        )
      }
      for (const answer of answers) expect(ANSWERS).toContain(answer)
      expect(answers, mode).toContain('not refused')
      const [broken] = await db.owner(
        `select count(*)::int as units from iu_core.information_unit u
          where u.workspace_id = $1
            and (u.version_no <> (select max(v.version_no) from iu_core.unit_version v where v.unit_id = u.unit_id)
                 or (select count(*) from iu_core.information_unit s
                      where s.supersedes = u.unit_id and s.lifecycle_status = 'draft' and s.deleted_at is null) > 1)`,
        [place.workspace],
      )
      expect(broken).toEqual({ units: 0 })
    }
  })
})

describe('the restoration of a successor', () => {
  const scene = async () => {
    const address = `race-${++documents}`
    const options = { sourceRef: `${address}.md`, address }
    await cutDocument(place, HANDBOOK, options)
    await enact(place, `${address}/leave`)
    const done = await cutDocument(place, HANDBOOK.replace('Twenty-five', 'Thirty'), options)
    const successor = done.units.find(({ what }) => what === 'successor')!.unit_id
    await other.query('select iu_core.fn_unit_delete($1)', [successor])
    const staged = await approved(place, HANDBOOK.replace('Twenty-five', 'Forty'), options)
    const restore = () => other.query('select iu_core.fn_unit_restore($1)', [successor])
    return { staged, restore }
  }

  it('before a cut: the cut goes on with it', async () => {
    const { staged, restore } = await scene()
    await other.query('begin')
    await restore()
    const late = cut(place, staged)
    await untilWaiting(db, place.operator.session)
    await other.query('commit')
    expect(await late).toMatchObject({ versioned: 1, successors: 0 })
  })

  it('after a cut that made another: it is refused', async () => {
    const { staged, restore } = await scene()
    await place.operator.session.query('begin')
    expect(await cut(place, staged)).toMatchObject({ successors: 1 })
    const late = sqlstateOf(restore())
    await untilWaiting(db, other)
    await place.operator.session.query('commit')
    expect(await late).toBe('SD905')
  })
})
