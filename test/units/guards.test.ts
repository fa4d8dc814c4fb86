/** What holds for everybody, the owner of the tables and the superuser, too: tried by every role, statement by statement. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROLES } from '../../src/kernel/postgres/migrate/bootstrap.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, create, edit, enact, refusal, useLife, versions } from './life.ts'

const db = useDatabase()
const life = useLife(db)

let owner: pg.Client
let superuser: pg.Client
/** One of each, fresh for every statement that could change it is not needed: none of them may. */
const units = { draft: '', enacted: '', superseded: '', retired: '', deleted: '' }

beforeAll(async () => {
  owner = await db.session()
  superuser = await db.session('postgres')
  for (const status of Object.keys(units) as (keyof typeof units)[]) {
    units[status] = (await create(life, { body: 'One', p_title: 'T' })).unit_id
    await edit(life.operator, units[status], 1, { p_body: 'Two' })
  }
  await enact(life.reviewer, units.enacted, 2)
  await enact(life.reviewer, units.superseded, 2)
  await call(life.reviewer, 'fn_unit_supersede', {
    p_unit_id: units.superseded,
    p_successor_id: units.enacted,
    p_apr_ref: 'apr-2',
  })
  await call(life.reviewer, 'fn_unit_retire', { p_unit_id: units.retired })
  await call(life.operator, 'fn_unit_delete', { p_unit_id: units.deleted })
})

/** As the owner and as the superuser, each in a transaction of its own that is taken back; deferred checks are asked, too. */
async function triedByOwners(sql: string): Promise<Record<string, unknown>[]> {
  const answers = []
  for (const session of [owner, superuser]) {
    await session.query('begin')
    answers.push(await refusal(session.query(sql).then(() => session.query('set constraints all immediate'))))
    await session.query('rollback')
  }
  return answers
}
const both = (expected: object) => [expect.objectContaining(expected), expect.objectContaining(expected)]
const unitUpdate = (set: string, unit: string) =>
  `update iu_core.information_unit set ${set} where unit_id = '${unit}'`
const version = (unit: string, no: number | null, more = '') =>
  `insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, body, content_hash, edited_by)
   values ('${unit}', ${no}, 'note', 'T', 'Three', 'forged', 'x') ${more}`

const WRITES = [
  'insert into iu_core.unit_version select * from iu_core.unit_version limit 1',
  `update iu_core.unit_version set body = 'forged'`,
  'delete from iu_core.unit_version',
  'truncate iu_core.unit_version cascade',
  'insert into iu_core.information_unit select * from iu_core.information_unit limit 1',
  `update iu_core.information_unit set title = 'forged'`,
  'delete from iu_core.information_unit',
  'truncate iu_core.information_unit cascade',
  'insert into public.iu_lifecycle_log select * from public.iu_lifecycle_log limit 1',
  `update public.iu_lifecycle_log set reason = 'forged'`,
  'delete from public.iu_lifecycle_log',
  'truncate public.iu_lifecycle_log',
  `update iu_core.vector_outbox set status = 'done'`,
  'delete from iu_core.universal_edges',
  'delete from iu_core.kb_document',
]

it.each(ROLES.map((role) => role.name).filter((name) => name !== 'workflow_admin'))(
  '%s writes none of the tables itself',
  async (role) => {
    await superuser.query(`set role ${role}`)
    try {
      for (const sql of WRITES) expect(await sqlstateOf(superuser.query(sql)), sql).toBe('42501')
    } finally {
      await superuser.query('reset role')
    }
  },
)

describe('the owner and the superuser', () => {
  it.each([
    [`update iu_core.unit_version set body = 'forged'`, 'iu_core.unit_version', 'update'],
    ['update iu_core.unit_version set note = note', 'iu_core.unit_version', 'update'],
    ['delete from iu_core.unit_version', 'iu_core.unit_version', 'delete'],
    ['truncate iu_core.unit_version cascade', 'iu_core.unit_version', 'truncate'],
    ['delete from iu_core.information_unit', 'iu_core.information_unit', 'delete'],
    ['truncate public.iu_lifecycle_log', 'public.iu_lifecycle_log', 'truncate'],
    [`update public.iu_lifecycle_log set to_status = 'x'`, 'public.iu_lifecycle_log', 'update'],
    ['delete from public.iu_lifecycle_log', 'public.iu_lifecycle_log', 'delete'],
  ])('cannot: %s', async (sql, table, operation) => {
    expect(await triedByOwners(sql)).toEqual(both({ code: 'SD002', table, operation }))
  })

  it('cannot truncate the units, which takes all that belongs to them along', async () => {
    expect(await triedByOwners('truncate iu_core.information_unit cascade')).toEqual(both({ code: 'SD002' }))
  })

  it.each([
    ['unit_id', 'gen_random_uuid()'],
    ['workspace_id', 'gen_random_uuid()'],
    ['canonical_address', `'another'`],
    ['source_ref', `'elsewhere'`],
    ['owner_actor', `'somebody'`],
    ['owner_via', `'somebody'`],
    ['created_at', 'now()'],
    ['unit_kind', `'table'`],
    ['apr_ref', `'apr-9'`],
    ['supersedes', `(select unit_id from iu_core.information_unit order by 1 limit 1)`],
    ['superseded_by', `(select unit_id from iu_core.information_unit order by 1 limit 1)`],
  ])('cannot change the identity: %s', async (field, value) => {
    for (const unit of [units.draft, units.enacted])
      expect(await triedByOwners(unitUpdate(`${field} = ${value}`, unit))).toEqual(
        both({ code: 'SD910', field }),
      )
  })

  it.each(['enacted', 'superseded', 'retired', 'deleted'] as const)(
    'cannot touch the content of what is %s',
    async (status) => {
      const unit = units[status]
      const locked = both({ code: 'SD903', unit, status })
      expect(await triedByOwners(unitUpdate(`title = 'forged'`, unit))).toEqual(locked)
      expect(await triedByOwners(unitUpdate(`content_hash = 'forged'`, unit))).toEqual(locked)
      expect(await triedByOwners(unitUpdate('version_no = version_no + 1', unit))).toEqual(locked)
      expect(await triedByOwners(version(unit, 3))).toEqual(locked)
      const older = `(select unit_version_id from iu_core.unit_version where unit_id = '${unit}' and version_no = 1)`
      expect(await triedByOwners(unitUpdate(`current_version_id = ${older}`, unit))).toEqual(locked)
      if (status !== 'enacted')
        expect(await triedByOwners(unitUpdate(`content_profile = '{"a": 1}'`, unit))).toEqual(locked)
    },
  )

  it.each([
    ['enacted', 'deleted_at = now()', 'deleted'],
    ['draft', 'deleted_at = now()', 'deleted'],
    ['deleted', 'deleted_at = null', 'draft'],
    ['draft', `lifecycle_status = 'retired'`, 'retired'],
  ] as const)(
    'cannot change the life of what is %s without a line in its history: %s',
    async (status, set, to) => {
      expect(await triedByOwners(unitUpdate(set, units[status]))).toEqual(
        both({ code: 'SD905', unit: units[status], status, to: `${to} without a line in its history` }),
      )
    },
  )

  it('cannot change the content of a draft but with its next version', async () => {
    const refused = both({ code: 'SD001' })
    const older = `(select unit_version_id from iu_core.unit_version where unit_id = '${units.draft}' and version_no = 1)`
    const foreign = `(select current_version_id from iu_core.information_unit where unit_id = '${units.enacted}')`
    for (const set of [
      `title = 'forged'`,
      `content_hash = 'forged'`,
      'version_no = version_no + 1',
      'version_no = version_no - 1',
      `current_version_id = ${older}`,
      `current_version_id = ${foreign}`,
      `current_version_id = ${foreign}, version_no = 3`,
    ])
      expect(await triedByOwners(unitUpdate(set, units.draft)), set).toEqual(refused)
  })

  it('cannot leave a gap in the versions, nor one that the unit does not take', async () => {
    for (const no of [1, 2, 4, null])
      expect(await triedByOwners(version(units.draft, no)), `${no}`).toEqual(both({ code: 'SD001' }))
    expect(await triedByOwners(version(units.draft, 3))).toEqual(both({ code: 'SD001' }))
    // A version of no unit: the foreign key, at the end.
    expect(await triedByOwners(version(units.draft.replace(/^.{8}/, '00000000'), 1))).toEqual(
      both({ code: '23503' }),
    )
  })

  it('cannot forge a hash', async () => {
    await owner.query('begin')
    const { rows } = await owner.query(
      version(units.draft, 3, 'returning content_hash = encode(sha256(body::bytea), $$hex$$) as right'),
    )
    await owner.query('rollback')
    expect(rows).toEqual([{ right: true }])
  })

  it.each([
    ['draft', 'superseded', { code: 'SD905', status: 'draft', to: 'superseded' }],
    ['enacted', 'draft', { code: 'SD905', status: 'enacted', to: 'draft' }],
    ['superseded', 'enacted', { code: 'SD905', status: 'superseded', to: 'enacted' }],
    ['retired', 'draft', { code: 'SD905', status: 'retired', to: 'draft' }],
    ['retired', 'enacted', { code: 'SD905', status: 'retired', to: 'enacted' }],
    ['deleted', 'enacted', { code: 'SD905', status: 'deleted', to: 'enacted' }],
  ] as const)('cannot make what is %s %s', async (status, to, expected) => {
    expect(
      await triedByOwners(unitUpdate(`lifecycle_status = '${to}', apr_ref = 'apr-9'`, units[status])),
    ).toEqual(both(expected))
  })

  it('cannot enact without an approval, nor change the date of a deletion', async () => {
    expect(await triedByOwners(unitUpdate(`lifecycle_status = 'enacted'`, units.draft))).toEqual(
      both({ code: '23514' }),
    )
    expect(await triedByOwners(unitUpdate('deleted_at = now()', units.deleted))).toEqual(
      both({ code: 'SD905' }),
    )
  })

  it('cannot give topics that are not in the vocabulary, nor core keys', async () => {
    expect(
      await triedByOwners(unitUpdate(`content_profile = '{"topic_labels": ["x"]}'`, units.draft)),
    ).toEqual(both({ code: 'SD907', topics: 'x' }))
    expect(await triedByOwners(unitUpdate(`content_profile = '{"title": "x"}'`, units.draft))).toEqual(
      both({ code: 'SD911', keys: 'title' }),
    )
  })

  it('cannot bear a unit that is not a whole draft', async () => {
    const birth = (more: string) => `
      with v as (
        select unit_version_id, content_hash, title from iu_core.unit_version where unit_id = '${units.draft}' and version_no = 1)
      insert into iu_core.information_unit (unit_id, workspace_id, canonical_address, unit_kind, source_ref, owner_actor,
                                            current_version_id, content_hash, title ${more ? `, ${more.split(' ')[0]}` : ''})
      select gen_random_uuid(), '${life.workspace}', 'forged', 'note', 's', 'o', unit_version_id, content_hash, title
             ${more ? `, ${more.split(' ')[1]}` : ''} from v`
    // The version is another unit's.
    expect(await triedByOwners(birth(''))).toEqual(both({ code: 'SD001' }))
    expect(await triedByOwners(birth(`lifecycle_status 'retired'`))).toEqual(
      both({ code: 'SD905', to: 'retired' }),
    )
    expect(await triedByOwners(birth('deleted_at now()'))).toEqual(both({ code: 'SD905', to: 'deleted' }))
    expect(await triedByOwners(birth('version_no 2'))).toEqual(both({ code: 'SD001' }))
  })

  describe('can bear a unit with its fifteen fields,', () => {
    const fields = `unit_id, workspace_id, canonical_address, unit_kind, source_ref, owner_actor, created_at, lifecycle_status,
      current_version_id, version_no, title, content_hash, content_profile`
    const birth = (without: string) => `
      with v as (insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, body, content_hash, edited_by, language)
                 values (gen_random_uuid(), 1, 'note', 'T', ${without === 'body' ? 'null' : `'Text'`}, '', 'x',
                         ${without === 'language' ? 'null' : `'en'`}) returning *),
           u as (select v.unit_id, '${life.workspace}'::uuid as workspace_id, 'whole' as canonical_address, 'note' as unit_kind,
                        's' as source_ref, 'o' as owner_actor, now() as created_at, 'draft' as lifecycle_status,
                        unit_version_id as current_version_id, 1 as version_no, v.title, v.content_hash, '{}'::jsonb as content_profile
                   from v)
      insert into iu_core.information_unit (${fields}) select ${fields.replace(new RegExp(`\\b${without}\\b`), 'null')} from u`

    it('all of them', async () => {
      expect(await triedByOwners(birth('nothing'))).toEqual([{ code: undefined }, { code: undefined }])
    })

    it.each([...fields.split(/,\s+/), 'language', 'body'])('not without %s', async (field) => {
      for (const answer of await triedByOwners(birth(field)))
        expect(['23502', 'SD001']).toContain(answer.code)
    })
  })
})

it('has changed nothing by all that was tried', async () => {
  for (const unit of Object.values(units))
    expect(await versions(db, unit)).toMatchObject([{ body: 'One' }, { body: 'Two', title: 'T' }])
})
