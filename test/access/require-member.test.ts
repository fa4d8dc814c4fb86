import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../support/database.ts'
import { type AppRole, createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

const RIGHTS = ['read', 'stage', 'operate', 'review', 'administer'] as const

/** The one table of application roles, written out: a changed right must be changed here, too. */
const MATRIX: Record<AppRole, { databaseRole: string; may: readonly boolean[] }> = {
  //                                            read  stage  operate review administer
  viewer: { databaseRole: 'authenticated', may: [true, false, false, false, false] },
  operator: { databaseRole: 'authenticated', may: [true, true, true, false, false] },
  reviewer: { databaseRole: 'stagedoor_reviewer', may: [true, true, true, true, false] },
  admin: { databaseRole: 'stagedoor_reviewer', may: [true, true, true, true, true] },
  agent: { databaseRole: 'stagedoor_agent', may: [true, true, false, false, false] },
}
const APP_ROLES = Object.keys(MATRIX) as AppRole[]

let ours: string
let theirs: string
const members = new Map<AppRole, Member>()

beforeAll(async () => {
  ours = await createWorkspace(db, 'ours')
  theirs = await createWorkspace(db, 'theirs')
  for (const role of APP_ROLES) members.set(role, await createMember(db, ours, role))
})

const requireMember =
  (workspace: string | null, right: string | null) =>
  async (client: Client): Promise<string> => {
    const { rows } = await client.query<{ role: string }>('select iu_core.require_member($1, $2) as role', [
      workspace,
      right,
    ])
    return rows[0]!.role
  }

describe.each(APP_ROLES)('%s', (role) => {
  it.each(RIGHTS.map((right, index) => ({ right, may: MATRIX[role].may[index]! })))(
    '$right: $may',
    async ({ right, may }) => {
      const asked = db.as(members.get(role)!, requireMember(ours, right))
      if (may) expect(await asked).toBe(role)
      else {
        const refused = await asked.catch((error: Error) => error)
        expect(refused).toMatchObject({
          code: 'right_missing',
          message: `The role ${role} in this workspace does not include the right to ${right}`,
        })
      }
    },
  )

  it.each(RIGHTS)('has no right to %s in a workspace of others', async (right) => {
    expect(await sqlstateOf(db.as(members.get(role)!, requireMember(theirs, right)))).toBe('SD201')
  })

  it('has no right outside any workspace', async () => {
    expect(await sqlstateOf(db.as(members.get(role)!, requireMember(null, 'read')))).toBe('SD201')
  })
})

it('keeps the table of application roles exactly as written here', async () => {
  const rows = await db.owner<{ app_role: string; database_role: string; rights: string[] }>(
    'select app_role, database_role, rights from iu_core.app_role',
  )
  expect(Object.fromEntries(rows.map((row) => [row.app_role, row]))).toEqual(
    Object.fromEntries(
      APP_ROLES.map((role) => [
        role,
        {
          app_role: role,
          database_role: MATRIX[role].databaseRole,
          rights: RIGHTS.filter((_, index) => MATRIX[role].may[index]),
        },
      ]),
    ),
  )
})

it.each(['operate', 'review', 'administer'])(
  'never lets the agent role %s, even when its subject is admin of the workspace',
  async (right) => {
    const admin = members.get('admin')!
    const agent = { role: 'stagedoor_agent', claims: { sub: admin.userId } }
    expect(await sqlstateOf(db.as(agent, requireMember(ours, right)))).toBe('SD202')
  },
)

it('does not let an admin review under the role of a viewer', async () => {
  const admin = members.get('admin')!
  const lesser = { role: 'authenticated', claims: { sub: admin.userId } }
  expect(await sqlstateOf(db.as(lesser, requireMember(ours, 'review')))).toBe('SD202')
})

it('does not let a viewer review under the role of a reviewer', async () => {
  const viewer = members.get('viewer')!
  const greater = { role: 'stagedoor_reviewer', claims: { sub: viewer.userId } }
  expect(await sqlstateOf(db.as(greater, requireMember(ours, 'review')))).toBe('SD202')
})

it('lets back-end code act in every workspace and outside of them', async () => {
  const service = { role: 'service_role', claims: { sub: 'importer' } }
  for (const workspace of [ours, theirs, null]) {
    expect(await db.as(service, requireMember(workspace, 'administer'))).toBe('service')
  }
  const worker = await db.session('stagedoor_worker')
  expect(await requireMember(ours, 'operate')(worker)).toBe('service')
})

it('forgets a member who was removed', async () => {
  const leaver = await createMember(db, ours, 'admin')
  await db.owner('delete from public.workspace_members where user_id = $1', [leaver.userId])
  expect(await sqlstateOf(db.as(leaver, requireMember(ours, 'read')))).toBe('SD201')
})

it.each([null, '', 'READ', 'everything'])('refuses %s, which is not a right', async (right) => {
  expect(await sqlstateOf(db.as(members.get('admin')!, requireMember(ours, right)))).toBe('SD001')
})

it('says who was refused what, for the API to answer', async () => {
  const viewer = members.get('viewer')!
  await expect(db.as(viewer, requireMember(ours, 'review'))).rejects.toMatchObject({
    code: 'right_missing',
    status: 403,
    details: { actor: viewer.userId, role: 'viewer', right: 'review' },
  })
})
