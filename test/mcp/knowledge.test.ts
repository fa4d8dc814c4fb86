/** Search and units over MCP: each hit with its freshness and address, and nothing of what is staged. */
import { expect, it } from 'vitest'
import { createSearch } from '../../src/app/search.ts'
import { readConfig } from '../../src/kernel/config.ts'
import { inStatement } from '../../src/kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../src/kernel/postgres/transaction.ts'
import { createUnit } from '../../src/units/units.ts'
import { rowsOf, useMcp } from './mcp-api.ts'

const mcp = useMcp()

/** Indexes until nothing is due, as a worker does. */
async function project(): Promise<void> {
  const workers = mcp.db.pool('stagedoor_worker')
  const search = createSearch({
    config: readConfig({}),
    database: { workerUrl: mcp.db.url('stagedoor_worker') },
    pool: workers,
    statement: (work) => inStatement(workers, work),
  })
  try {
    await search.flush({ workspace: mcp.ads.workspace })
    await search.drain(mcp.ads.workspace)
  } finally {
    await search.close()
  }
}

it('finds what people approved, and nothing that is staged, whatever it is staged as', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  await inTransaction(
    mcp.db.pool('stagedoor_worker'),
    (client) =>
      createUnit(
        client,
        mcp.ads.workspace,
        { canonical_address: 'handbook/leave', body: 'Paid leave is thirty days a year.' },
        { actor: mcp.ads.operator.userId },
      ),
    SERVICE_ROLE,
  )
  const secret = 'zanzibar'
  const text = `The ${secret} of paid leave is thirty days.`
  for (const [staging_kind, payload_type] of [
    ['review_package', 'review_bundle'],
    ['agent_intermediate', 'composition_draft'],
    ['draft_iu_composition', 'composition_draft'],
    ['nosql_payload', 'nosql_payload'],
  ]) {
    const { data, text: said } = await agent.call('stage_record', {
      purpose: text,
      key: `${secret} ${staging_kind}`,
      parts: [{ name: 'body', json: { text } }],
      checklist: [text],
      staging_kind,
      payload_type,
    })
    expect(data.record, said).toBeDefined()
  }
  const mark = await mcp.call('POST', '/marks', 'agent', {
    workspace_id: mcp.ads.workspace,
    source_ref: 'zanzibar.md',
    address: 'zanzibar',
    text: `# Leave\n\n${text}\n`,
  })
  expect(mark.status).toBeLessThan(300)
  const rows = rowsOf(`${secret} campaign`)
  await agent.call('propose_rows', { dataset: 'ads', platform: 'meta', key: secret, rows })
  await project()

  const found = await agent.call('search', { text: 'days of paid leave' })
  expect(found.data.hits).toHaveLength(1)
  expect(found.data.hits[0]).toMatchObject({ canonical_address: 'handbook/leave', freshness: 'current' })
  for (const question of [secret, `${secret} campaign`, `"${text}"`, 'zanz*']) {
    const answer = await agent.call('search', { text: question })
    expect(JSON.stringify(answer.data.hits).toLowerCase(), question).not.toContain(secret)
  }
  const unknown = await agent.call('search', { text: secret })
  expect(unknown.data.no_hits.unknown_words.map(({ word }: { word: string }) => word)).toEqual([secret])
  expect((await agent.call('read_unit', { unit: 'zanzibar' })).structured.error.code).toBe('unit_unknown')

  const unit = await agent.call('read_unit', { unit: 'handbook/leave' })
  expect(unit.data).toMatchObject({
    address: 'handbook/leave',
    text: 'Paid leave is thirty days a year.',
    version: 1,
    freshness: { search: 'current' },
    next_from: null,
  })
  const { contents } = await agent.client.readResource({ uri: 'stagedoor://unit/handbook/leave' })
  expect((contents[0] as { text: string }).text).toContain('thirty days a year')
})
