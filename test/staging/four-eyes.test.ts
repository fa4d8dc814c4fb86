/** Nobody approves their own record, by any route. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Person, person, service, type Workplace, workplace } from './people.ts'
import { eventsOf, stage } from './staged.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

interface Held {
  readonly id: string
  readonly digest: string
}
async function staged(by: Person, owner?: string): Promise<Held> {
  const made = await stage(by.session, { workspace: place.workspace, ...(owner && { owner }) })
  return { id: made.staging_record_id, digest: made.content_hash }
}
const approve = (session: pg.Client, held: Held, by: string | null = null) =>
  sqlstateOf(session.query('select iu_core.fn_iu_staging_approve($1, $2, $3)', [held.id, held.digest, by]))

async function expectStillPending(held: Held): Promise<void> {
  const [row] = await db.owner(
    'select lifecycle_status, approved_by from iu_core.iu_staging_record where staging_record_id = $1',
    [held.id],
  )
  expect(row).toEqual({ lifecycle_status: 'pending', approved_by: null })
  expect(await eventsOf(db.pool('postgres'), held.id)).toHaveLength(1)
}

describe('a reviewer who staged it', () => {
  it('cannot approve it under their own name, said or not', async () => {
    const held = await staged(place.owner)
    expect(await approve(place.owner.session, held)).toBe('SD508')
    expect(await approve(place.owner.session, held, place.owner.actor)).toBe('SD508')
    await expectStillPending(held)
  })

  it('cannot approve it under another’s name', async () => {
    const held = await staged(place.owner)
    for (const name of [place.reviewer.actor, 'grace', '', ' ', place.owner.actor.toUpperCase()]) {
      expect(await approve(place.owner.session, held, name)).toBe('SD203')
    }
    await expectStillPending(held)
  })

  it('cannot approve it through back-end code that acts for them or as them', async () => {
    const held = await staged(place.owner)
    expect(await approve(place.service.session, held, place.owner.actor)).toBe('SD508')
    const asThem = await service(db, place.owner.actor)
    expect(await approve(asThem.session, held)).toBe('SD508')
    // As them, naming somebody else: the one who really acts is still the owner.
    expect(await approve(asThem.session, held, place.reviewer.actor)).toBe('SD508')
    await expectStillPending(held)
  })

  it('cannot approve it under another of their roles', async () => {
    const held = await staged(place.owner)
    for (const role of ['authenticated', 'stagedoor_agent', 'anon']) {
      const other = await person(db, role, place.owner.actor)
      expect(await approve(other.session, held), role).toBe('42501')
    }
    await expectStillPending(held)
  })
})

describe('an agent', () => {
  it('cannot approve its own record or another’s, whatever its token says of itself', async () => {
    const own = await staged(place.agent)
    const others = await staged(place.owner)
    for (const claims of [
      { sub: place.agent.actor, role: 'service_role' },
      { sub: place.reviewer.actor, role: 'stagedoor_reviewer' },
      { sub: place.agent.actor, role: 'stagedoor_agent', app_metadata: { role: 'admin' } },
    ]) {
      const { session } = await person(db, 'stagedoor_agent', 'replaced')
      await session.query(`select set_config('request.jwt.claims', $1, false)`, [JSON.stringify(claims)])
      for (const held of [own, others]) {
        expect(await approve(session, held)).toBe('42501')
        expect(await approve(session, held, place.reviewer.actor)).toBe('42501')
      }
    }
    await expectStillPending(own)
    await expectStillPending(others)
  })

  it('cannot approve its own record where its token is let in as a service', async () => {
    const held = await staged(place.agent)
    const { session } = await service(db, place.agent.actor)
    expect(await approve(session, held)).toBe('SD508')
    expect(await approve(session, held, place.reviewer.actor)).toBe('SD508')
    await expectStillPending(held)
  })

  it('decides nothing even when its subject is a reviewer of the workspace', async () => {
    const held = await staged(place.owner)
    const { session } = await person(db, 'stagedoor_agent', place.reviewer.actor)
    for (const call of [
      `approve('${held.id}', '${held.digest}')`,
      `reject('${held.id}', 'no')`,
      `tick('${held.id}', '1')`,
    ]) {
      expect(await sqlstateOf(session.query(`select iu_core.fn_iu_staging_${call}`)), call).toBe('42501')
    }
    await expectStillPending(held)
  })
})

describe('back-end code', () => {
  it('cannot approve what it staged itself, also not in another’s name', async () => {
    const held = await staged(place.service)
    expect(await approve(place.service.session, held)).toBe('SD508')
    expect(await approve(place.service.session, held, place.reviewer.actor)).toBe('SD508')
    await expectStillPending(held)
  })

  it('cannot approve as itself what it staged for somebody', async () => {
    const held = await staged(place.service, 'bob')
    expect(await approve(place.service.session, held)).toBe('SD508')
    expect(await approve(place.service.session, held, 'bob')).toBe('SD508')
    await expectStillPending(held)
  })

  it('is one party, whoever it names: what it staged for one it does not approve for another', async () => {
    const held = await staged(place.service, 'bob')
    expect(await approve(place.service.session, held, 'grace')).toBe('SD508')
    // Another token of the same service, in other case.
    const shouting = await service(db, 'IMPORTER')
    expect(await approve(shouting.session, held, 'grace')).toBe('SD508')
    expect(await approve(shouting.session, held)).toBe('SD508')
    await expectStillPending(held)
  })

  it('that is a login of its own stages as one and approves as another: refused', async () => {
    const login = await db.session('stagedoor_worker')
    await login.query('set role service_role')
    const held = await staged({ actor: 'stagedoor_worker', session: login }, 'bob')
    expect(await approve(login, held, 'grace')).toBe('SD508')
    await expectStillPending(held)
  })

  it('of another name approves for a named other, and both are recorded with who really acted', async () => {
    const held = await staged(place.service, 'bob')
    const other = await service(db, 'reviewing-app')
    expect(await approve(other.session, held, 'grace')).toBe('not refused')
    const [row] = await db.owner(
      'select owner_actor, owner_via, approved_by, approved_via from iu_core.iu_staging_record where staging_record_id = $1',
      [held.id],
    )
    expect(row).toEqual({
      owner_actor: 'bob',
      owner_via: 'importer',
      approved_by: 'grace',
      approved_via: 'reviewing-app',
    })
    const events = await eventsOf(db.pool('postgres'), held.id)
    expect(events.map(({ actor, actor_via }) => [actor, actor_via])).toEqual([
      ['bob', 'importer'],
      ['grace', 'reviewing-app'],
    ])
  })

  it('that is a worker cannot approve what it staged, nor name another', async () => {
    const held = await staged(place.worker)
    expect(await approve(place.worker.session, held)).toBe('SD508')
    expect(await approve(place.worker.session, held, 'grace')).toBe('SD203')
    await place.worker.session.query('set role service_role')
    expect(await approve(place.worker.session, held, 'grace')).toBe('SD508')
    await place.worker.session.query('set role dot_executor')
    await expectStillPending(held)
  })
})

it('is held by the table, too: not even its owner writes an approval by the owner of the record', async () => {
  const held = await staged(place.owner)
  const written = db.owner(
    `update iu_core.iu_staging_record set lifecycle_status = 'approved', approved_at = now(), approved_by = owner_actor
      where staging_record_id = $1`,
    [held.id],
  )
  expect(await sqlstateOf(written)).toBe('23514')
})

it.each([
  ['the same service on both sides', 'owner_via', `approved_by = 'grace', approved_via = owner_via`],
  ['the owner in other case', 'owner_actor', 'approved_by = upper(owner_actor)'],
  ['the owner acting for another', 'owner_actor', `approved_by = 'grace', approved_via = upper(owner_actor)`],
])('is held by the table, too: %s', async (_what, _column, stamps) => {
  const held = await staged(place.service, 'bob')
  const written = place.intruder.query(
    `update iu_core.iu_staging_record set lifecycle_status = 'approved', approved_at = now(), ${stamps}
      where staging_record_id = $1`,
    [held.id],
  )
  expect(await sqlstateOf(written)).toBe('23514')
})

describe('a uuid in other case is the same person', () => {
  it('whom a service names', async () => {
    const held = await staged(place.service, place.owner.actor.toUpperCase())
    expect(await approve(place.owner.session, held)).toBe('SD508')
    await expectStillPending(held)
  })

  it('whom a token names', async () => {
    const held = await staged(place.owner)
    const shouted = await person(db, 'stagedoor_reviewer', place.owner.actor.toUpperCase())
    // No member by that name, where ids are compared as text; never the second person.
    expect(await approve(shouted.session, held)).toMatch(/^SD(501|508)$/)
    await expectStillPending(held)
  })
})

describe('the checklist of a record that two decide on', () => {
  const tick = (by: Person, held: Held, ticked = true) =>
    sqlstateOf(by.session.query('select iu_core.fn_iu_staging_tick($1, $2, $3)', [held.id, 'sums', ticked]))
  const listed = async (by: Person, owner?: string): Promise<Held> => {
    const { rows } = await by.session.query(
      `select staging_record_id as id, content_hash as digest from iu_core.fn_iu_staging_create(
         'review_package', 'review_bundle', 'to be ticked',
         p_parts => array['{"part_name": "checklist", "payload_kind": "json", "payload_json": [{"id": "sums", "text": "sums", "required": true}]}'::jsonb],
         p_workspace_id => $1, p_owner_actor => $2)`,
      [place.workspace, owner ?? null],
    )
    return rows[0]
  }

  it('is not ticked by its owner, nor by the service that staged it', async () => {
    const own = await listed(place.owner)
    expect(await tick(place.owner, own)).toBe('SD508')
    const forBob = await listed(place.service, 'bob')
    expect(await tick(place.service, forBob)).toBe('SD508')
    expect(await approve(place.reviewer.session, own)).toBe('SD509')
    expect(await tick(place.reviewer, own)).toBe('not refused')
    expect(await tick(place.owner, own, false)).toBe('SD508')
    expect(await approve(place.reviewer.session, own)).toBe('not refused')
  })

  it('does not count ticks of the owner from before that was refused', async () => {
    const own = await listed(place.owner)
    await db.owner(
      `insert into iu_core.iu_staging_check (staging_record_id, item_id, ticked_by) values ($1, 'sums', $2)`,
      [own.id, place.owner.actor],
    )
    expect(await approve(place.reviewer.session, own)).toBe('SD509')
    // It is not in the way of the one who looks now.
    expect(await tick(place.reviewer, own)).toBe('not refused')
    expect(await approve(place.reviewer.session, own)).toBe('not refused')
  })
})

it('lets anybody else with the right decide', async () => {
  const held = await staged(place.agent)
  expect(await approve(place.reviewer.session, held, place.reviewer.actor)).toBe('not refused')
})
