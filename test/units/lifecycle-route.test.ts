/** The route that ships for the log of lifecycles: disabled until somebody has seen what it would send. */
import { expect, it } from 'vitest'
import { activateRoute, dryRunRoute, findRoute, reviewRoute, routeEvidence } from '../../src/events/routes.ts'
import { admin, failures, sent } from '../events/routes/routed.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { useGraph } from './graph.ts'

const CODE = 'iu_lifecycle_log.insert'
const db = useDatabase()
const graph = useGraph(db)

const log = (unit: string) =>
  db.owner('select * from public.iu_lifecycle_log where unit_id = $1 order by changed_at', [unit])
const second = <T>(work: (client: Parameters<Parameters<typeof db.as>[1]>[0]) => Promise<T>) =>
  db.as({ role: 'service_role', claims: { sub: 'rita' } }, work)

it('sends nothing as it ships', async () => {
  await graph.enact(await graph.unit('route/before'))
  expect((await findRoute(admin(db), CODE))!.state).toBe('disabled')
  expect(await sent(db, 'lifecycle_changed')).toEqual([])
})

it('is dry-run, reviewed and activated; then an enactment becomes an event with the kept references only', async () => {
  await dryRunRoute(admin(db), CODE)
  const rehearsed = await graph.unit('route/rehearsed')
  await graph.enact(rehearsed)
  expect(await sent(db, 'lifecycle_changed')).toEqual([])
  const [evidence] = await routeEvidence(admin(db), CODE)
  expect(evidence).toMatchObject({ events: '1', refused: '0', relation: 'public.iu_lifecycle_log' })
  expect(Object.keys(evidence!.sample[0]!.payload).sort()).toEqual(['change_set_id', 'unit_id'])

  await second((client) => reviewRoute(client, CODE, { evidence: 1 }))
  await second((client) => activateRoute(client, CODE))
  expect((await findRoute(admin(db), CODE))!.state).toBe('active')

  const unit = await graph.unit('route/enacted')
  await graph.enact(unit)
  const [logged] = await log(unit)
  const events = await sent(db, 'lifecycle_changed')
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    event_subject_ref: unit,
    safe_payload: { unit_id: unit, change_set_id: logged!.change_set_id },
    actor: graph.reviewer.userId,
  })
  expect(JSON.stringify(events[0])).not.toContain('apr-1')
  expect(await failures(db, CODE)).toEqual([])
})

it('sends an event for each later change: retired, deleted, restored', async () => {
  const unit = await graph.unit('route/life')
  await graph.call('select iu_core.fn_unit_delete($1)', [unit])
  await graph.call('select iu_core.fn_unit_restore($1)', [unit])
  await graph.retire(unit)
  const of = (await sent(db, 'lifecycle_changed')).filter((event) => event.safe_payload.unit_id === unit)
  expect(of).toHaveLength((await log(unit)).length)
  expect(of).toHaveLength(3)
})

it('leaves the log alone: it only grows, for its owner too', async () => {
  expect(await sqlstateOf(db.owner(`update public.iu_lifecycle_log set to_status = 'draft'`))).toBe('SD002')
  expect(await sqlstateOf(db.owner('delete from public.iu_lifecycle_log'))).toBe('SD002')
})
