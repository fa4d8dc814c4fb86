/** The healthcheck, and bytes that were changed behind our back. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'
import { setGate, type Workplace, workplace } from './people.ts'
import { INTERMEDIATE, PACKAGE, passExpiry, passRetention, type Staged, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
let run: string

beforeAll(async () => {
  place = await workplace(db)
  run = await startRun(place.service.session, place.workspace)
})
beforeEach(() => db.owner('delete from iu_core.iu_staging_record'))

interface Health {
  ok: boolean
  checks: { name: string; ok: boolean; detail: string }[]
  lifecycle: Record<string, number>
  gates: Record<string, boolean>
}
async function health(sample = 100): Promise<Health> {
  const { rows } = await place.worker.session.query(
    'select iu_core.fn_iu_staging_healthcheck($1) as health',
    [sample],
  )
  return rows[0].health
}
const failing = (found: Health) => found.checks.filter((check) => !check.ok).map((check) => check.name)

it('is well when nothing is staged, and says what it looked at', async () => {
  const found = await health()
  expect(found).toMatchObject({ ok: true })
  expect(found.checks.map((check) => check.name)).toEqual([
    'vector worker shut out',
    'exclusion gate',
    'exclusion of every record',
    'digests',
    'parts present',
    'overdue expiries',
  ])
  expect(found.lifecycle).toEqual({
    pending: 0,
    approved: 0,
    consumed: 0,
    rejected: 0,
    expired: 0,
    cleaned: 0,
  })
})

it('counts the records in each status', async () => {
  const made: Staged[] = []
  for (let n = 0; n < 7; n++)
    made.push(await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE }))
  const [, approved, consumed, rejected, expired, cleaned] = made.map((one) => one.staging_record_id)
  await place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
    approved,
    made[1]!.content_hash,
  ])
  await place.operator.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [consumed, run])
  for (const id of [rejected, cleaned])
    await place.reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [id])
  await passExpiry(place.intruder, expired!)
  await place.worker.session.query('select iu_core.fn_iu_staging_expire()')
  await passRetention(place.intruder, cleaned!)
  await place.worker.session.query('select iu_core.fn_iu_staging_cleanup()')
  const found = await health()
  expect(found.lifecycle).toEqual({
    pending: 2,
    approved: 1,
    consumed: 1,
    rejected: 1,
    expired: 1,
    cleaned: 1,
  })
  expect(found.ok).toBe(true)
})

it('shows the gates, and fails when the exclusion of vectors is closed or missing', async () => {
  expect((await health()).gates).toEqual({
    'iu_core.staging_writes_enabled': true,
    'iu_core.staging_cleanup_enabled': true,
    'iu_core.no_vector_staging_excluded': true,
  })
  await setGate(db, 'no_vector_staging_excluded', false)
  expect(failing(await health())).toEqual(['exclusion gate'])
  await setGate(db, 'no_vector_staging_excluded', true)
  const session = await db.session('postgres')
  await session.query(
    `begin; delete from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded'`,
  )
  const { rows } = await session.query('select iu_core.fn_iu_staging_healthcheck() as health')
  await session.query('rollback')
  expect(failing(rows[0].health)).toEqual(['exclusion gate'])
})

it('fails while records are overdue that somebody should have expired', async () => {
  const made = await stage(place.agent.session, { workspace: place.workspace })
  await passExpiry(place.intruder, made.staging_record_id)
  const found = await health()
  expect(failing(found)).toEqual(['overdue expiries'])
  expect(found.checks.at(-1)!.detail).toMatch(/^1 records/)
  await setGate(db, 'staging_cleanup_enabled', false)
  expect(failing(await health())).toEqual([])
  await setGate(db, 'staging_cleanup_enabled', true)
  await place.worker.session.query('select iu_core.fn_iu_staging_expire()')
  expect(failing(await health())).toEqual([])
})

it.each(['iu_staging_record', 'iu_staging_payload', 'iu_staging_check', 'v_iu_staging_record'])(
  'fails when vector_worker is given a right on %s',
  async (relation) => {
    const session = await db.session('postgres')
    await session.query(`begin; grant select on iu_core.${relation} to vector_worker`)
    const { rows } = await session.query('select iu_core.fn_iu_staging_healthcheck() as health')
    await session.query('rollback')
    expect(failing(rows[0].health)).toEqual(['vector worker shut out'])
  },
)

it('fails when a record is not excluded from vectors, which needs the constraint dropped first', async () => {
  const made = await stage(place.agent.session, { workspace: place.workspace })
  const set = `update iu_core.iu_staging_record set vector_excluded = false where staging_record_id = '${made.staging_record_id}'`
  expect(await sqlstateOf(place.intruder.query(set))).toBe('23514')
  await place.intruder.query(
    'begin; alter table iu_core.iu_staging_record drop constraint iu_staging_record_never_in_vectors',
  )
  await place.intruder.query(set)
  const { rows } = await place.intruder.query('select iu_core.fn_iu_staging_healthcheck() as health')
  await place.intruder.query('rollback')
  expect(failing(rows[0].health)).toEqual(['exclusion of every record'])
})

describe('bytes changed behind our back', () => {
  const sha = (text: string) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`
  /** From clumsy to careful: each hides one more trace than the one before. */
  const TAMPERED: [string, string[]][] = [
    [
      'a number in the JSON',
      [
        `update iu_core.iu_staging_payload set payload_json = '{"rows": 4, "spend": 12.50}' where part_index = 0`,
      ],
    ],
    [
      'a trailing zero in the JSON',
      [
        `update iu_core.iu_staging_payload set payload_json = '{"rows": 3, "spend": 12.5}', byte_len = byte_len - 1 where part_index = 0`,
      ],
    ],
    [
      'a character in the text',
      [
        `update iu_core.iu_staging_payload set payload_text = payload_text || ' ', byte_len = byte_len + 1 where part_index = 1`,
      ],
    ],
    [
      'the digest of a part',
      [`update iu_core.iu_staging_payload set content_hash = repeat('0', 64) where part_index = 1`],
    ],
    [
      'the text and its digest',
      [
        `update iu_core.iu_staging_payload set payload_text = 'All is well.', byte_len = 12, content_hash = ${sha(`'All is well.'`)} where part_index = 1`,
      ],
    ],
    [
      'the text, its digest, and the digest that the record keeps of it',
      [
        `update iu_core.iu_staging_payload set payload_text = 'All is well.', byte_len = 12, content_hash = ${sha(`'All is well.'`)} where part_index = 1`,
        `update iu_core.iu_staging_record set part_digests = jsonb_set(part_digests, '{1,content_hash}', to_jsonb(${sha(`'All is well.'`)}))`,
      ],
    ],
  ]

  it.each(TAMPERED)('are noticed by the healthcheck, by approve and by consume: %s', async (_, edits) => {
    const sound = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
    const pending = await stage(place.agent.session, {
      workspace: place.workspace,
      ...PACKAGE,
      kind: 'review_package',
    })
    const approved = await stage(place.agent.session, {
      workspace: place.workspace,
      ...PACKAGE,
      kind: 'review_package',
    })
    for (const { staging_record_id } of [pending, approved]) {
      for (const item of ['1', 'totals']) {
        await place.reviewer.session.query('select iu_core.fn_iu_staging_tick($1, $2)', [
          staging_record_id,
          item,
        ])
      }
    }
    await place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
      approved.staging_record_id,
      approved.content_hash,
    ])
    expect((await health()).ok).toBe(true)

    for (const edit of edits) {
      const where = edit.includes(' where ') ? ' and' : ' where'
      await place.intruder.query(`${edit}${where} staging_record_id in ($1, $2)`, [
        pending.staging_record_id,
        approved.staging_record_id,
      ])
    }
    const found = await health()
    expect(failing(found).filter((name) => name !== 'parts present')).toEqual(['digests'])
    const { detail } = found.checks.find((check) => check.name === 'digests')!
    expect([pending, approved, sound].map((one) => detail.includes(one.staging_record_id))).toEqual([
      true,
      true,
      false,
    ])
    const approving = place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
      pending.staging_record_id,
      pending.content_hash,
    ])
    expect(await sqlstateOf(approving)).toBe('SD514')
    const consuming = place.operator.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [
      approved.staging_record_id,
      run,
    ])
    expect(await sqlstateOf(consuming)).toBe('SD514')
  })

  it.each([
    ['a part that is gone', 'delete from iu_core.iu_staging_payload where part_index = 1'],
    [
      'a part with another name',
      `update iu_core.iu_staging_payload set part_name = 'other' where part_index = 1`,
    ],
    ['parts in another order', 'update iu_core.iu_staging_payload set part_index = 7 where part_index = 0'],
    [
      'a part too many',
      `insert into iu_core.iu_staging_payload (staging_record_id, part_index, part_name, payload_kind, payload_text, byte_len, content_hash)
       select staging_record_id, 3, 'more', 'text', '', 0, content_hash from iu_core.iu_staging_payload where part_index = 0`,
    ],
  ])('are noticed by all three: %s', async (_, edit) => {
    const made = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
    await place.intruder.query(`${edit} and staging_record_id = '${made.staging_record_id}'`)
    for (const [who, call] of [
      ['reviewer', `approve('${made.staging_record_id}', '${made.content_hash}')`],
      ['operator', `consume('${made.staging_record_id}', '${run}')`],
    ] as const) {
      const refused = place[who].session.query(`select iu_core.fn_iu_staging_${call}`)
      expect(await sqlstateOf(refused), call).toBe('SD514')
    }
    expect((await health()).checks.find((check) => check.name === 'digests')).toMatchObject({ ok: false })
    // It can still be thrown away.
    await place.reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'tampered')`, [
      made.staging_record_id,
    ])
  })

  it('are found among older parts, too: the sample takes the newest and some from a random place', async () => {
    const old = await stage(place.agent.session, { workspace: place.workspace })
    for (let n = 0; n < 30; n++) await stage(place.agent.session, { workspace: place.workspace })
    await place.intruder.query(
      `update iu_core.iu_staging_payload set payload_json = '0', byte_len = 1 where staging_record_id = $1`,
      [old.staging_record_id],
    )
    // 31 parts: a sample of 62 has them all among the newest, one of 8 has the oldest only by luck of the place.
    expect(failing(await health(62))).toEqual(['digests'])
    await until('the oldest part is in a sample', async () => failing(await health(8)).length > 0)
  })
})

it('looks at no bytes at all when the sample is 0', async () => {
  const made = await stage(place.agent.session, { workspace: place.workspace })
  await place.intruder.query(
    `update iu_core.iu_staging_payload set payload_json = '0', byte_len = 1 where staging_record_id = $1`,
    [made.staging_record_id],
  )
  const found = await health(0)
  expect(found.checks.find((check) => check.name === 'digests')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^0 parts/),
  })
})
