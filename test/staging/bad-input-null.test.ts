/** NULL for each argument of each function: never a NULL that comes back in silence, and nothing done. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Workplace, workplace } from './people.ts'
import { INTERMEDIATE, jsonPart, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
const known: Record<string, string> = {}

beforeAll(async () => {
  place = await workplace(db)
  const held = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
  Object.assign(known, {
    record: `'${held.staging_record_id}'`,
    digest: `'${held.content_hash}'`,
    workspace: `'${place.workspace}'`,
    run: `'${await startRun(place.service.session, place.workspace)}'`,
    parts: `array['${jsonPart('{}')}'::jsonb]`,
  })
})

/**
 * Each function with arguments that are sound, and what it must answer when one of them is NULL: a SQLSTATE, or `may`
 * where NULL means "none" (then the answer must not be NULL).
 */
const FUNCTIONS: Record<string, [argument: string, onNull: string][]> = {
  create: [
    [`'agent_intermediate'`, 'SD507'],
    [`'nosql_payload'`, 'SD507'],
    [`'a purpose'`, 'SD001'],
    ['null', 'may'],
    [`'user'`, 'may'],
    [`'a source'`, 'may'],
    [`'a key'`, 'may'],
    [':parts', 'SD506'],
    [`now() + interval '1 day'`, 'may'],
    [':workspace', 'may'],
    [`'{}'`, 'may'],
    [`'{}'::uuid[]`, 'may'],
    ['false', 'may'],
  ],
  approve: [
    [':record', 'SD501'],
    [':digest', 'SD504'],
    ['null', 'may'],
    [`'a document'`, 'may'],
  ],
  reject: [
    [':record', 'SD501'],
    [`'no'`, 'SD001'],
  ],
  withdraw: [[':record', 'SD501']],
  tick: [
    [':record', 'SD501'],
    [`'1'`, 'SD001'],
    ['true', 'SD001'],
    [`'a note'`, 'may'],
  ],
  consume: [
    [':record', 'SD501'],
    [':run', 'SD401'],
    [':digest', 'may'],
  ],
  unregister: [[':record', 'SD501']],
  expire: [['10', 'SD001']],
  cleanup: [[`'{}'`, 'SD001']],
  emit_event: [
    [':record', 'SD501'],
    [`'ingestion_complete'`, 'SD301'],
    ['null', 'may'],
  ],
  healthcheck: [['10', 'SD001']],
  set_policy: [
    [`'sql_snapshot'`, 'SD507'],
    [`'{"four_eyes": false}'`, 'SD001'],
    [`'a reason'`, 'SD001'],
  ],
  checklist: [[':record', 'SD501']],
  key: [["variadic array['a']", 'SD001']],
  blobs_trash_orphans: [[`array['file:x']`, 'SD001']],
  blobs_claim: [
    [`'file'`, 'SD001'],
    ['10', 'SD001'],
  ],
  // Internal: only the owner, who is the other functions, can call them.
  policy: [
    [`'sql_snapshot'`, 'SD507'],
    [`'sql_result_snapshot'`, 'SD507'],
  ],
  json_digest: [[`'{}'`, 'SD506']],
  part_digests: [[':parts', 'SD506']],
  verify: [[':record', 'SD501']],
  workspace: [[':record', 'SD501']],
  raise_status: [
    [':record', 'SD501'],
    [`'approved'`, 'SD502'],
  ],
  set_rejected: [
    [':record', 'SD501'],
    [`'somebody'`, '23514'],
    [`'a reason'`, '23514'],
  ],
}
/** Not to be called by hand, or without anything that NULL could mean. */
const LEFT_OUT = [
  'record_guard',
  'record_digest',
  'payload_hash',
  'kind_policy_audit',
  'blobs_lock',
  'event_write',
  'set_consumed',
  'tick_as',
  'require_four_eyes',
  'checklist_check',
  'checklist_items',
]

const CASES = Object.entries(FUNCTIONS).flatMap(([name, args]) =>
  args.map(([, onNull], at) => [name, at + 1, onNull] as const),
)

describe('NULL', () => {
  it.each(CASES)('as argument of %s, number %i: %s', async (name, number, onNull) => {
    const args = FUNCTIONS[name]!.map(([argument], at) => {
      const variadic = argument.startsWith('variadic') ? 'variadic ' : ''
      return at + 1 === number ? `${variadic}null` : argument.replace(/^:(\w+)$/, (_, value) => known[value]!)
    })
    // The owner of the tables is a service, and its own name may be left out.
    const session = name === 'withdraw' ? place.agent.session : await owner()
    await session.query('begin')
    const query = session.query(`select * from iu_core.fn_iu_staging_${name}(${args.join(', ')}) as answer`)
    const refused = await sqlstateOf(query)
    await session.query('rollback')
    expect(refused).toBe(onNull === 'may' ? 'not refused' : onNull)
    if (onNull === 'may') expect(Object.values((await query).rows[0])).not.toContain(null)
  })

  it('is tried at every function of the staging zone', async () => {
    const functions = await db.owner<{ name: string; args: number }>(
      `select replace(proname, 'fn_iu_staging_', '') as name, pronargs::int as args from pg_proc
        where pronamespace = 'iu_core'::regnamespace and proname like 'fn\\_iu\\_staging\\_%'`,
    )
    const tried = Object.entries(FUNCTIONS).map(([name, args]) => [name, args.length])
    const there = functions
      .filter(({ name }) => !LEFT_OUT.includes(name))
      .map(({ name, args }) => [name, args])
    expect(there.sort()).toEqual(tried.sort())
  })
})

let opened: ReturnType<typeof db.session> | undefined
function owner(): ReturnType<typeof db.session> {
  opened ??= db.session()
  return opened
}
