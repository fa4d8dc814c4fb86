import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { jsonPart, stage } from './staged.ts'

const db = useDatabase()

it('an agent sees its own records and their events only, also with a token that names no role', async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  const workspace = await createWorkspace(db)
  const agent = await createMember(db, workspace, 'agent')
  const operator = await createMember(db, workspace, 'operator')
  const held = { workspace, parts: [jsonPart('{}')] }
  const own = await db.as(agent, (client) => stage(client, held))
  const other = await db.as(operator, (client) => stage(client, held))
  const seen = (caller: typeof agent) =>
    db.as(caller, async (client) => ({
      records: (await client.query('select staging_record_id as id from iu_core.iu_staging_record')).rows.map(
        (r) => r.id,
      ),
      parts: (await client.query('select staging_record_id as id from iu_core.iu_staging_payload')).rows.map(
        (r) => r.id,
      ),
      events: (
        await client.query(
          `select event_subject_ref as id from iu_core.event_outbox where event_domain = 'staging'`,
        )
      ).rows.map((r) => r.id),
    }))
  const mine = [own.staging_record_id]
  for (const role of ['stagedoor_agent', 'authenticated', 'stagedoor_reviewer']) {
    const found = await seen({ ...agent, role, claims: { sub: agent.userId, role } })
    expect({ role, ...found }).toEqual({ role, records: mine, parts: mine, events: mine })
  }
  const all = [own.staging_record_id, other.staging_record_id].sort()
  expect((await seen(operator)).records.sort()).toEqual(all)
  expect((await seen(operator)).events.sort()).toEqual(all)
})

it('what an agent stages comes from an agent, whatever its token is called', async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  const workspace = await createWorkspace(db)
  const agent = await createMember(db, workspace, 'agent')
  const operator = await createMember(db, workspace, 'operator')
  const sourceOf = (caller: typeof agent, sourceKind?: string) =>
    db.as(caller, async (client) => {
      const { staging_record_id } = await stage(client, { workspace, ...(sourceKind && { sourceKind }) })
      const { rows } = await client.query<{ source_kind: string }>(
        'select source_kind from iu_core.iu_staging_record where staging_record_id = $1',
        [staging_record_id],
      )
      return rows[0]!.source_kind
    })
  const tokens = [
    agent,
    { ...agent, role: 'authenticated', claims: { sub: agent.userId } },
    // A person's membership under an agent's token.
    { ...operator, role: 'stagedoor_agent', claims: { sub: operator.userId, role: 'stagedoor_agent' } },
  ]
  for (const token of tokens) {
    expect(await sourceOf(token)).toBe('agent')
    expect(await sourceOf(token, 'import')).toBe('import')
    expect(await sqlstateOf(sourceOf(token, 'user'))).toBe('SD001')
  }
  expect(await sourceOf(operator)).toBe('user')
  expect(await sourceOf(operator, 'agent')).toBe('agent')
})
