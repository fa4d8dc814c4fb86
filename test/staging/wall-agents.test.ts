import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
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
