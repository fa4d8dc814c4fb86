import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stagingTool } from '../../src/app/tools/staging.ts'
import { unitTool } from '../../src/app/tools/unit.ts'
import type { Step } from '../../src/executions/playbook/definition.ts'
import { httpTool } from '../../src/executions/tools/http.ts'
import { sqlTool } from '../../src/executions/tools/sql.ts'
import type { Tools } from '../../src/executions/tools/tool.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { handlersAsTools, playbook, useEngines } from '../executions/engine/engines.ts'
import { useApi } from '../support/api.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

/** Playbooks that try to make a unit of what nobody has approved, by every way to its text. */
const engines = useEngines()
const { db } = engines
const api = useApi(db)
let workspace: string
let reviewer: Member
let operator: Member
let playbookPool: Pool
let address: string

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
  playbookPool = createPool(db.url('stagedoor_playbook'), { max: 2 })
  address = await api.listen()
})
afterAll(() => playbookPool.end())

const template = (expression: string) => `\${${expression}}`
const SECRET_TEXT = 'We will close the Hanoi office.'

async function pendingRecord(text = SECRET_TEXT): Promise<{ id: string; hash: string }> {
  return db.as(operator, async (client) => {
    const { rows } = await client.query(
      `select staging_record_id as id, content_hash as hash from iu_core.fn_iu_staging_create(
         'cut_preview', 'import_preview', 'wording', p_parts => array[$1::jsonb], p_workspace_id => $2)`,
      [JSON.stringify({ part_name: 'text', payload_kind: 'text', payload_text: text }), workspace],
    )
    return rows[0]
  })
}

const approve = (record: { id: string; hash: string }) =>
  db.as(reviewer, (client) =>
    client.query('select iu_core.fn_iu_staging_approve($1, $2)', [record.id, record.hash]),
  )

async function start(): Promise<void> {
  const pool = db.pool('stagedoor_worker')
  const tools: Tools = {
    ...handlersAsTools({ same: ({ value }: { value: string }) => value }),
    staging: stagingTool({ pool }),
    unit: unitTool({ pool }),
    sql: sqlTool(playbookPool),
    http: httpTool({ hosts: [new URL(address).host] }),
  }
  await engines.start({}, { tools })
}

const step = (name: string, tools: Step['tools'], next?: string) => ({
  step: name,
  tools,
  ...(next && { next }),
})
const reads = (record: string) => [{ tool: 'staging' as const, args: { action: 'read', record } }]
const writes = (body: string, unit = `unapproved/${randomUUID()}`) => [
  { tool: 'unit' as const, args: { action: 'create', address: unit, body } },
]
const PART = 'parts[0].content'

async function run(
  name: string,
  args: JsonObject = {},
): Promise<{ id: string; status: string; error: string | null }> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>('select noetl.fn_execution_start($1, $2, p_workspace_id => $3)::text as id', [
      name,
      JSON.stringify(args),
      workspace,
    ])
  const { id } = rows[0]!
  return { id, ...(await engines.ended(id)) }
}

const unitsWithText = (text = SECRET_TEXT) =>
  db.owner(`select 1 from iu_core.unit_version where body like '%' || $1 || '%'`, [text])
const refused = { status: 'FAILED', error: expect.stringContaining('needs an approval and has none') }

describe('text that requires approval and has none becomes no unit', () => {
  it('read and written by one execution', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(
      playbook('direct', [
        step('read', reads(record.id), 'write'),
        step('write', writes(template(`steps.read.result.${PART}`))),
      ]),
    )
    expect(await run('direct')).toMatchObject(refused)
    expect(await unitsWithText()).toEqual([])
  })

  it('read and written by one step', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(
      playbook('piped', [step('both', [...reads(record.id), ...writes(template(`prev.${PART}`))])]),
    )
    expect(await run('piped')).toMatchObject(refused)
    expect(await unitsWithText()).toEqual([])
  })

  it('as a new version, as a title, as a profile or as an edge of a unit that is there', async () => {
    const record = await pendingRecord()
    const made = await db.as(operator, (client) =>
      client.query(`select unit_id from iu_core.fn_unit_create($1, 'unapproved/there', 'There.')`, [
        workspace,
      ]),
    )
    const unit = made.rows[0].unit_id as string
    await start()
    const text = template(`steps.read.result.${PART}`)
    for (const [name, args] of [
      ['edited', { action: 'edit', unit, expected_version: 1, body: text }],
      ['titled', { action: 'edit', unit, expected_version: 1, title: text }],
      ['profiled', { action: 'profile', unit, patch: { summary: text } }],
      ['linked', { action: 'edge', unit, edge_type: 'refers_to', target: text }],
    ] as const) {
      await engines.register(
        playbook(name, [step('read', reads(record.id), 'write'), step('write', [{ tool: 'unit', args }])]),
      )
      expect(await run(name), name).toMatchObject(refused)
    }
    expect(
      await db.owner('select content_profile from iu_core.information_unit where unit_id = $1', [unit]),
    ).toEqual([{ content_profile: {} }])
    expect(await unitsWithText()).toEqual([])
  })

  it('read by a sub-playbook, written by the one that called it; small results and results by reference', async () => {
    for (const text of [SECRET_TEXT, `${SECRET_TEXT} ${'x'.repeat(300_000)}`]) {
      const record = await pendingRecord(text)
      await start()
      const name = `reader-${text.length}`
      await engines.register(
        playbook(name, [step('read', reads(record.id))], { output: template(`steps.read.result.${PART}`) }),
      )
      await engines.register(
        playbook(`parent-${text.length}`, [
          step('ask', [{ tool: 'playbook', call: name, args: {} }], 'write'),
          step('write', writes(template('steps.ask.result'))),
        ]),
      )
      const ended = await run(`parent-${text.length}`)
      expect(ended).toMatchObject(refused)
      if (text !== SECRET_TEXT) {
        const refs = await db.owner('select 1 from noetl.result_ref where bytes > 300000')
        expect(refs.length).toBeGreaterThan(0)
      }
    }
    expect(await unitsWithText()).toEqual([])
  })

  it('read by the one that calls, written by the sub-playbook', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(
      playbook('writer', [step('write', writes(template('args.text')))], { args: { text: '' } }),
    )
    await engines.register(
      playbook('caller', [
        step('read', reads(record.id), 'ask'),
        step('ask', [
          { tool: 'playbook', call: 'writer', args: { text: template(`steps.read.result.${PART}`) } },
        ]),
      ]),
    )
    expect(await run('caller')).toMatchObject(refused)
    expect(await unitsWithText()).toEqual([])
  })

  it('read by an execution, written by its rerun', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(
      playbook('again', [
        step('read', reads(record.id), 'write'),
        step('write', writes(template(`steps.read.result.${PART}`))),
      ]),
    )
    const { id } = await run('again')
    const { rows } = await db
      .pool('stagedoor_worker')
      .query<{ id: string }>('select noetl.fn_execution_rerun($1, $2)::text as id', [id, 'write'])
    expect(await engines.ended(rows[0]!.id)).toMatchObject(refused)
    expect(await unitsWithText()).toEqual([])
  })

  it('carried by a record that needs no approval, and read from that by another execution', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(
      playbook('carries', [
        step('read', reads(record.id), 'stage'),
        step('stage', [
          {
            tool: 'staging',
            args: {
              action: 'create',
              staging_kind: 'agent_intermediate',
              payload_type: 'composition_draft',
              purpose: 'a copy',
              parts: [
                {
                  part_name: 'copy',
                  payload_kind: 'text',
                  payload_text: template(`steps.read.result.${PART}`),
                },
              ],
            },
          },
        ]),
      ]),
    )
    const carried = await run('carries')
    expect(carried).toMatchObject({ status: 'COMPLETED' })
    const [copy] = await db.owner<{ id: string }>(
      'select staging_record_id as id from iu_core.iu_staging_record where source_ref = $1',
      [`execution:${carried.id}`],
    )
    await engines.register(
      playbook('launders', [
        step('read', reads(copy!.id), 'write'),
        step('write', writes(template(`steps.read.result.${PART}`))),
      ]),
    )
    expect(await run('launders')).toMatchObject(refused)
    expect(await unitsWithText()).toEqual([])
  })

  it('read by sql: the login of playbooks sees no payload, also where it was granted the tables', async () => {
    await pendingRecord()
    await start()
    await engines.register(
      playbook('asks-sql', [
        step('read', [
          { tool: 'sql', args: { query: 'select payload_text from iu_core.iu_staging_payload' } },
        ]),
      ]),
    )
    expect(await run('asks-sql')).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('permission denied'),
    })
    await db.owner('grant usage on schema iu_core to stagedoor_playbook')
    await db.owner(
      'grant select on iu_core.iu_staging_payload, iu_core.iu_staging_record to stagedoor_playbook',
    )
    await engines.register(
      playbook(
        'asks-granted',
        [
          step(
            'read',
            [{ tool: 'sql', args: { query: 'select payload_text from iu_core.iu_staging_payload' } }],
            'same',
          ),
          { step: 'same', args: { value: template('steps.read.result.row_count') } },
        ],
        { output: template('steps.same.result') },
      ),
    )
    const ended = await run('asks-granted')
    expect(ended).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(ended.id)).at(-1)!.result).toMatchObject({ value: 0 })
    await db.owner(
      'revoke all on iu_core.iu_staging_payload, iu_core.iu_staging_record from stagedoor_playbook',
    )
    await db.owner('revoke usage on schema iu_core from stagedoor_playbook')
  })

  it('read from, written to or decided by our own API with a person’s token', async () => {
    const record = await pendingRecord()
    const token = await api.token(reviewer)
    await start()
    const headers = { authorization: `Bearer ${token}` }
    const requests: [string, JsonObject][] = [
      ['reads-api', { url: `${address}/api/v1/staging/${record.id}/parts/0`, headers }],
      [
        'writes-api',
        {
          method: 'POST',
          url: `${address}/api/v1/units`,
          headers,
          body: { workspace_id: workspace, canonical_address: 'unapproved/api', body: SECRET_TEXT },
        },
      ],
      [
        'decides-api',
        {
          method: 'POST',
          url: `${address}/api/v1/staging/${record.id}/approve`,
          headers,
          body: { digest: record.hash },
        },
      ],
    ]
    for (const [name, args] of requests) {
      await engines.register(playbook(name, [step('ask', [{ tool: 'http', args }])]))
      expect(await run(name), name).toMatchObject({
        status: 'FAILED',
        error: expect.stringMatching(/403.*a playbook does not call the API of its own installation/),
      })
    }
    await engines.register(
      playbook('denies-it', [
        step('ask', [
          {
            tool: 'http',
            args: { url: `${address}/api/v1/me`, headers: { 'Stagedoor-Execution': null, ...headers } },
          },
        ]),
      ]),
    )
    expect(await run('denies-it')).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('cannot set Stagedoor-Execution'),
    })
    expect(await unitsWithText()).toEqual([])
  })

  it('as a document of the knowledge base', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(playbook('knows', [step('read', reads(record.id))]))
    const { id } = await run('knows')
    const client = await db.session('stagedoor_worker')
    await client.query('begin')
    await client.query(`select set_config('stagedoor.execution', $1, true)`, [id])
    await expect(
      client.query(`select iu_core.fn_document_put($1, 'kb/1', 'Offices', $2)`, [workspace, SECRET_TEXT]),
    ).rejects.toMatchObject({ code: 'SD205' })
    await client.query('rollback')
  })
})

describe('what was approved, or needs no approval', () => {
  it('becomes a unit, once it is approved, also in the execution that read it before', async () => {
    const record = await pendingRecord('Approved words.')
    await start()
    await engines.register(
      playbook('waits', [
        step('read', reads(record.id), 'decide'),
        { step: 'decide', wait: { kind: 'approval', record: record.id }, next: 'write' },
        step('write', writes(template(`steps.read.result.${PART}`))),
      ]),
    )
    const { rows } = await db
      .pool('stagedoor_worker')
      .query<{ id: string }>(
        `select noetl.fn_execution_start('waits', '{}', p_workspace_id => $1)::text as id`,
        [workspace],
      )
    await expect
      .poll(() => db.owner('select 1 from noetl.wait where execution_id = $1', [rows[0]!.id]))
      .toHaveLength(1)
    await approve(record)
    expect(await engines.ended(rows[0]!.id)).toMatchObject({ status: 'COMPLETED' })
    expect(await unitsWithText('Approved words.')).toHaveLength(1)
  })

  it('is not held up by what another execution has read', async () => {
    const record = await pendingRecord()
    await start()
    await engines.register(playbook('only-reads', [step('read', reads(record.id))]))
    await engines.register(playbook('only-writes', [step('write', writes('Its own words.'))]))
    expect(await run('only-reads')).toMatchObject({ status: 'COMPLETED' })
    expect(await run('only-writes')).toMatchObject({ status: 'COMPLETED' })
  })
})
