/** Every bad input gets a clear error of ours, and leaves nothing behind. */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { mapDatabaseError } from '../../src/kernel/postgres/errors.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Workplace, workplace } from './people.ts'
import { INTERMEDIATE, jsonPart, type Staging, stage, startRun, textPart } from './staged.ts'

const db = useDatabase()
let place: Workplace
let held: { staging_record_id: string; content_hash: string }
let before: string

const counted = async () =>
  JSON.stringify(
    await db.owner(
      `select (select count(*) from iu_core.iu_staging_record) as records, (select count(*) from iu_core.iu_staging_payload) as parts,
              (select count(*) from iu_core.event_outbox) as events, (select count(*) from iu_core.iu_staging_check) as ticks,
              (select count(*) from iu_core.iu_staging_kind_policy_audit) as audit,
              (select md5(string_agg(p::text, ',' order by staging_kind)) from iu_core.iu_staging_kind_policy p) as policy`,
    ),
  )

beforeAll(async () => {
  place = await workplace(db)
  held = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE, key: 'held' })
  before = await counted()
})
// Whatever was tried in this file, nothing was stored.
afterAll(async () => expect(await counted()).toBe(before))

const MIB = 1024 * 1024
const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`
const blob = (fields: object) =>
  JSON.stringify({
    part_name: 'video',
    payload_kind: 'blob_ref',
    blob_ref: 'file:1',
    byte_len: 5,
    content_hash: 'a'.repeat(64),
    ...fields,
  })
const many = (count: number) => Array.from({ length: count }, (_, n) => jsonPart(String(n)))

describe('create refuses', () => {
  it.each<[string, string, Partial<Staging>, RegExp]>([
    ['an unknown kind', 'SD507', { kind: 'misc' }, /no staging kind 'misc'/],
    [
      'a type that the kind does not take',
      'SD507',
      { kind: 'sql_snapshot', type: 'manifest_json' },
      /sql_snapshot does not take/,
    ],
    ['an unknown type', 'SD507', { type: 'misc' }, /does not take the payload type 'misc'/],
    ['a blank purpose', 'SD001', { purpose: ' \n' }, /needs a purpose/],
    ['an unknown source', 'SD001', { sourceKind: 'rumour' }, /'rumour' is not one of/],
    ['an expiry in the past', 'SD001', { expires: '2020-01-01' }, /must be a time in the future/],
    ['an expiry that never comes', 'SD001', { expires: 'infinity' }, /must be a time in the future/],
    ['an expiry before all time', 'SD001', { expires: '-infinity' }, /must be a time in the future/],
    ['metadata that is an array', 'SD001', { metadata: '[1]' }, /metadata must be a JSON object/],
    ['metadata that is JSON null', 'SD001', { metadata: 'null' }, /metadata must be a JSON object/],
    [
      'metadata of more than 16 KiB',
      'SD001',
      { metadata: `{"a": "${'x'.repeat(17_000)}"}` },
      /larger than 16 KiB/,
    ],
    ['metadata 101 deep', 'SD506', { metadata: `{"a": ${nested(100)}}` }, /100 deep/],
    ['metadata with a huge exponent', 'SD506', { metadata: '{"a": 1e131071}' }, /digits/],
    ['a blank key', 'SD001', { key: '' }, /idempotency key is blank/],
    ['no parts', 'SD506', { parts: [] }, /at least one part/],
    ['101 parts', 'SD506', { parts: many(101) }, /101 parts; a record holds at most 100/],
    ['10,000 parts', 'SD506', { parts: many(10_000) }, /10000 parts/],
    ['a part that is no object', 'SD506', { parts: ['[]'] }, /Part 0: it must be a JSON object/],
    ['a part that is NULL', 'SD506', { parts: [jsonPart('1'), null] }, /Part 1: it must be a JSON object/],
    [
      'a part without a name',
      'SD506',
      { parts: ['{"payload_kind": "json", "payload_json": 1}'] },
      /part_name is missing/,
    ],
    ['a part with a blank name', 'SD506', { parts: [jsonPart('1', ' ')] }, /part_name is missing/],
    [
      'a part with a name of 201 characters',
      'SD506',
      { parts: [jsonPart('1', 'x'.repeat(201))] },
      /more than 200/,
    ],
    [
      'a part of an unknown kind',
      'SD506',
      { parts: ['{"part_name": "a", "payload_kind": "xml"}'] },
      /payload_kind must be/,
    ],
    ['a part without a kind', 'SD506', { parts: ['{"part_name": "a"}'] }, /payload_kind must be/],
    [
      'a JSON part without JSON',
      'SD506',
      { parts: ['{"part_name": "a", "payload_kind": "json"}'] },
      /payload_json is missing/,
    ],
    [
      'a text part without text',
      'SD506',
      { parts: ['{"part_name": "a", "payload_kind": "text"}'] },
      /payload_text is missing/,
    ],
    [
      'a text part that is a number',
      'SD506',
      { parts: ['{"part_name": "a", "payload_kind": "text", "payload_text": 1}'] },
      /not a string/,
    ],
    [
      'a blob without a reference',
      'SD506',
      { parts: [blob({ blob_ref: undefined })] },
      /blob_ref is missing/,
    ],
    ['a blob with an empty reference', 'SD506', { parts: [blob({ blob_ref: '' })] }, /blob_ref is missing/],
    [
      'a blob without a digest',
      'SD506',
      { parts: [blob({ content_hash: undefined })] },
      /content_hash must be/,
    ],
    [
      'a blob with a digest that is none',
      'SD506',
      { parts: [blob({ content_hash: 'A'.repeat(64) })] },
      /content_hash must be/,
    ],
    ['a blob without a length', 'SD506', { parts: [blob({ byte_len: undefined })] }, /byte_len must be/],
    ['a blob with a negative length', 'SD506', { parts: [blob({ byte_len: -1 })] }, /byte_len must be/],
    ['a blob with half a byte', 'SD506', { parts: [blob({ byte_len: 1.5 })] }, /byte_len must be/],
    ['a blob with a length as text', 'SD506', { parts: [blob({ byte_len: '5' })] }, /byte_len must be/],
    [
      'a blob of a length that no store holds',
      'SD506',
      { parts: [blob({ byte_len: 1e30 })] },
      /byte_len must be/,
    ],
    [
      '10 MiB and a byte of text',
      'SD506',
      { parts: [textPart('x'.repeat(10 * MIB + 1))] },
      /has 10485761 bytes.*at most 10 MiB/,
    ],
    [
      '10 MiB and a byte of JSON',
      'SD506',
      { parts: [jsonPart(`"${'x'.repeat(10 * MIB - 1)}"`)] },
      /has 10485761 bytes/,
    ],
    [
      '10 MiB of characters that are two bytes each',
      'SD506',
      { parts: [textPart('é'.repeat(6 * MIB))] },
      /has 12582912 bytes/,
    ],
    ['JSON 101 deep', 'SD506', { parts: [jsonPart(nested(101))] }, /100 deep/],
    ['JSON 500 deep', 'SD506', { parts: [jsonPart(nested(500))] }, /100 deep/],
    ['an exponent of 131071', 'SD506', { parts: [jsonPart('[1e131071]')] }, /digits/],
    ['an exponent of -16383', 'SD506', { parts: [jsonPart('{"a": 1e-16383}')] }, /digits/],
    [
      'the exponents that would make 13 MB of 900 bytes',
      'SD506',
      { parts: [jsonPart(`[${Array(99).fill('1e131071').join()}]`)] },
      /digits/,
    ],
  ])('%s', async (_, sqlstate, what, message) => {
    const refused = await stage(place.agent.session, { workspace: place.workspace, ...what }).catch(
      (error: pg.DatabaseError) => error,
    )
    expect(refused).toMatchObject({ code: sqlstate })
    expect((refused as Error).message).toMatch(message)
  })

  it('more than 64 MiB together, though each part is small enough', async () => {
    const parts = Array.from({ length: 7 }, (_, n) => textPart('x'.repeat(10 * MIB - n), `part ${n}`))
    const refused = await stage(place.agent.session, { workspace: place.workspace, parts }).catch(
      (error: pg.DatabaseError) => error,
    )
    expect(refused).toMatchObject({ code: 'SD506', hint: expect.stringContaining('blob_ref') })
    expect((refused as Error).message).toMatch(/73400299 bytes together; .* at most 64 MiB/)
  })

  it('a workspace that does not exist, where nobody would ever see the record', async () => {
    const refused = stage(place.service.session, { workspace: randomUUID() })
    await expect(refused).rejects.toMatchObject({
      code: 'SD001',
      message: expect.stringMatching(/^There is no workspace/),
    })
  })

  it('the same key with other content, naming both digests', async () => {
    const other = stage(place.agent.session, { workspace: place.workspace, key: 'held' })
    const refused = (await other.catch((error: pg.DatabaseError) => error)) as pg.DatabaseError
    expect(refused.code).toBe('SD505')
    expect(refused.message).toContain(held.content_hash)
    expect(JSON.parse(refused.detail!).given).toMatch(/^[0-9a-f]{64}$/)
  })

  /** These are stopped when the argument is read, before any function of ours: the catalogue gives them a code. */
  it.each<[string, string, Partial<Staging>]>([
    ['a NUL character in JSON', 'text_invalid', { parts: [jsonPart('"a\\u0000b"')] }],
    ['a NUL character in text', 'text_invalid', { parts: [textPart('a\0b')] }],
    ['a NUL byte in the purpose', 'text_invalid', { purpose: 'a\0b' }],
    ['half a surrogate pair', 'argument_invalid', { parts: [jsonPart('"\\ud800"')] }],
    ['JSON that is none', 'argument_invalid', { parts: ['{"part_name": '] }],
    ['metadata that is no JSON', 'argument_invalid', { metadata: '{' }],
    ['an expiry that is no date', 'argument_invalid', { expires: 'next week, perhaps' }],
    ['a workspace that is no uuid', 'argument_invalid', { workspace: 'acme' }],
  ])('%s, when it is read: %s', async (_, code, what) => {
    const refused = stage(place.agent.session, { workspace: place.workspace, ...what }).catch(
      mapDatabaseError,
    )
    expect(await refused).toBeInstanceOf(StagedoorError)
    expect(await refused).toMatchObject({ code })
  })

  it('bytes that are no UTF-8', async () => {
    const sql = `select iu_core.fn_iu_staging_create('nosql_payload', 'source_excerpt', convert_from('\\xff'::bytea, 'UTF8'),
      p_parts => array['${jsonPart('1')}'::jsonb], p_workspace_id => $1)`
    const refused = place.agent.session.query(sql, [place.workspace]).catch(mapDatabaseError)
    expect(await refused).toMatchObject({ code: 'text_invalid' })
    const raw = Buffer.concat([
      Buffer.from('{"part_name": "a", "payload_kind": "text", "payload_text": "'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ])
    const sent = place.agent.session.query(
      `select iu_core.fn_iu_staging_create('nosql_payload', 'source_excerpt', 'x', p_parts => array[convert_from($2, 'UTF8')::jsonb], p_workspace_id => $1)`,
      [place.workspace, raw],
    )
    expect(await sent.catch(mapDatabaseError)).toMatchObject({ code: 'text_invalid' })
  })
})

describe('what is just allowed is taken', () => {
  it.each<[string, Partial<Staging>]>([
    ['10 MiB of text', { parts: [textPart('x'.repeat(10 * MIB))] }],
    ['JSON 100 deep', { parts: [jsonPart(nested(100))] }],
    ['100 parts', { parts: many(100) }],
    ['an exponent of 400', { parts: [jsonPart('1e400')] }],
    ['JSON null', { parts: [jsonPart('null')] }],
    ['an empty text', { parts: [textPart('')] }],
    ['an empty blob', { parts: [blob({ byte_len: 0 })] }],
  ])('%s', async (_, what) => {
    const { session } = place.service
    await session.query('begin')
    try {
      expect(await stage(session, { workspace: place.workspace, ...what })).toMatchObject({ created: true })
    } finally {
      await session.query('rollback')
    }
  })
})

describe('the decisions refuse', () => {
  const unknown = randomUUID()
  const wrong = 'b'.repeat(64)
  it.each<[string, string, string]>([
    ['a stale digest at approve', 'SD504', `approve(:held, '${wrong}')`],
    ['half a digest at approve', 'SD504', `approve(:held, left(:digest, 32))`],
    ['the digest in capitals at approve', 'SD504', `approve(:held, upper(:digest))`],
    ['a stale digest at consume', 'SD504', `consume(:held, :run, '${wrong}')`],
    ['a blank reason at reject', 'SD001', `reject(:held, ' ')`],
    ['an item that the checklist does not have', 'SD001', `tick(:held, 'everything')`],
    ['an unknown run', 'SD401', `consume(:held, '${unknown}')`],
    ['an ended run', 'SD401', 'consume(:held, :ended)'],
    ['a run of another workspace', 'SD401', 'consume(:held, :elsewhere)'],
    ['an unknown record at approve', 'SD501', `approve('${unknown}', :digest)`],
    ['an unknown record at reject', 'SD501', `reject('${unknown}', 'no')`],
    ['an unknown record at withdraw', 'SD501', `withdraw('${unknown}')`],
    ['an unknown record at tick', 'SD501', `tick('${unknown}', '1')`],
    ['an unknown record at consume', 'SD501', `consume('${unknown}', :run)`],
    ['an unknown record in its checklist', 'SD501', `checklist('${unknown}')`],
  ])('%s', async (_, sqlstate, call) => {
    const { session } = place.service
    await session.query('begin')
    const run = await startRun(session, place.workspace)
    const ended = await startRun(session, place.workspace)
    await session.query('select iu_core.fn_command_run_finish($1)', [ended])
    const elsewhere = await startRun(session, null)
    // The reviewer must see the runs, which are gone afterwards: the same transaction, under the reviewer's role.
    await session.query(`set local role stagedoor_reviewer`)
    await session.query(`select set_config('request.jwt.claims', $1, true)`, [
      JSON.stringify({ sub: place.reviewer.actor }),
    ])
    const known: Record<string, string> = {
      held: held.staging_record_id,
      digest: held.content_hash,
      run,
      ended,
      elsewhere,
    }
    const sql = `select iu_core.fn_iu_staging_${call.replace(/:(\w+)/g, (_all, name) => `'${known[name]}'`)}`
    const refused = await session.query(sql).catch((error: pg.DatabaseError) => error)
    await session.query('rollback')
    expect(refused).toMatchObject({ code: sqlstate })
    expect((refused as Error).message).not.toMatch(/NULL|\(global\)/)
  })

  it.each(['unregister($1)', `emit_event($1, 'record_created')`, 'approve($1, null)', 'consume($1, null)'])(
    'an unknown record from back-end code: %s',
    async (call) => {
      const refused = place.worker.session.query(`select iu_core.fn_iu_staging_${call}`, [unknown])
      expect(await sqlstateOf(refused)).toMatch(/^SD(501|401)$/)
    },
  )
})

describe('the maintenance and the policy refuse', () => {
  it.each<[string, string, string]>([
    ['a scope that is an array', 'SD001', `cleanup('[]')`],
    ['a scope that is JSON null', 'SD001', `cleanup('null')`],
    ['an unknown setting', 'SD001', `cleanup('{"older_than": "1 day"}')`],
    ['a limit of 0', 'SD001', `cleanup('{"limit": 0}')`],
    ['a limit that is no number', 'SD001', `cleanup('{"limit": "all"}')`],
    ['a limit beyond counting', 'SD001', `cleanup('{"limit": 1e20}')`],
    ['a limit that is null', 'SD001', `cleanup('{"limit": null}')`],
    ['a dry run that is neither', 'SD001', `cleanup('{"dry_run": "perhaps"}')`],
    ['kinds that are no array', 'SD001', `cleanup('{"kinds": "mark_manifest"}')`],
    ['a kind that does not exist', 'SD507', `cleanup('{"kinds": ["misc"]}')`],
    ['a workspace that is no uuid', 'SD001', `cleanup('{"workspace_id": "acme"}')`],
    ['a negative limit of expire', 'SD001', 'expire(-1)'],
    ['a limit of expire of 0', 'SD001', 'expire(0)'],
    ['a negative sample', 'SD001', 'healthcheck(-1)'],
    ['an unknown event', 'SD301', "emit_event(:held, 'record_sold')"],
  ])('%s', async (_, sqlstate, call) => {
    const sql = `select iu_core.fn_iu_staging_${call.replace(':held', `'${held.staging_record_id}'`)}`
    expect(await sqlstateOf(place.worker.session.query(sql))).toBe(sqlstate)
  })

  it.each<[string, string, string]>([
    ['an unknown kind', 'SD507', `'misc', '{"four_eyes": false}', 'why not'`],
    ['a setting that cannot be changed', 'SD001', `'sql_snapshot', '{"approval_required": true}', 'why not'`],
    ['no reason', 'SD001', `'sql_snapshot', '{"four_eyes": false}', ' '`],
    ['no change', 'SD001', `'sql_snapshot', '{}', 'why not'`],
    ['changes that are an array', 'SD001', `'sql_snapshot', '[]', 'why not'`],
    ['a setting of null', 'SD001', `'sql_snapshot', '{"four_eyes": null}', 'why not'`],
    [
      'four-eyes that are neither on nor off',
      'SD001',
      `'sql_snapshot', '{"four_eyes": "perhaps"}', 'why not'`,
    ],
    ['a time to live that is no interval', 'SD001', `'sql_snapshot', '{"time_to_live": "soon"}', 'why not'`],
    ['a time to live of a second', 'SD001', `'sql_snapshot', '{"time_to_live": "1 second"}', 'why not'`],
    ['a time to live without end', 'SD001', `'sql_snapshot', '{"time_to_live": "infinity"}', 'why not'`],
    ['a negative retention', 'SD001', `'sql_snapshot', '{"retention": "-1 day"}', 'why not'`],
  ])('a policy with %s', async (_, sqlstate, args) => {
    expect(await sqlstateOf(db.owner(`select iu_core.fn_iu_staging_set_policy(${args})`))).toBe(sqlstate)
  })
})
