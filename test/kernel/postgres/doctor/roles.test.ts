/** Roles belong to the whole server, so this file has one of its own. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { withClient } from '../../../../src/kernel/postgres/connection.ts'
import { examine, type Finding } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { type EmbeddedServer, startEmbedded } from '../../../../src/kernel/postgres/embedded/server.ts'
import { LONG } from '../../../support/length.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../../../support/template.ts'
import { temporaryHome } from '../../../support/temporary-home.ts'

const { version } = inject('server')
const home = temporaryHome('doctor-roles')
let server: EmbeddedServer | undefined

const url = (login: string) => loginUrl(server!.url(), login, 'examined')
const superuser = (sql: string) => withClient(url('postgres'), (client) => client.query(sql))
const findings = async (login = MIGRATOR): Promise<readonly Finding[]> =>
  (await examine({ url: url(login) })).findings

beforeAll(async () => {
  server = await startEmbedded({ home, version, durability: 'throwaway' })
  await prepareTemplate(server.url())
  await withClient(server.url(), (client) =>
    client.query(`create database examined template ${TEMPLATE} owner ${MIGRATOR}`),
  )
})

afterAll(async () => {
  await server?.stop()
})

describe('finds, and repairs with its own remedy,', () => {
  // Each expects its own finding only, so it also proves that the remedy before it worked.
  const drifts: [what: string, drift: string, role: string, problem: string][] = [
    [
      'an API login that inherits the rights of what it may become',
      'alter role stagedoor_api inherit',
      'stagedoor_api',
      'has INHERIT',
    ],
    [
      'an API login that is a superuser',
      'alter role stagedoor_api superuser',
      'stagedoor_api',
      'has SUPERUSER',
    ],
    [
      'an API login that passes by row level security',
      'alter role stagedoor_api bypassrls',
      'stagedoor_api',
      'has BYPASSRLS',
    ],
    [
      'an API login that makes roles',
      'alter role stagedoor_api createrole',
      'stagedoor_api',
      'has CREATEROLE',
    ],
    ['a worker that cannot log in', 'alter role stagedoor_worker nologin', 'stagedoor_worker', 'lacks LOGIN'],
    ['an owner that logs in', 'alter role workflow_admin login', 'workflow_admin', 'has LOGIN'],
    [
      'people who pass by row level security',
      'alter role authenticated bypassrls',
      'authenticated',
      'has BYPASSRLS',
    ],
    [
      'an API login that cannot become what it must',
      `set role ${MIGRATOR}; revoke anon from stagedoor_api`,
      'stagedoor_api',
      'cannot become anon',
    ],
    [
      'a worker that cannot become what it must',
      `set role ${MIGRATOR}; revoke vector_worker from stagedoor_worker`,
      'stagedoor_worker',
      'cannot become vector_worker',
    ],
    [
      'an API login that can become the owner',
      'grant workflow_admin to stagedoor_api',
      'stagedoor_api',
      'is a member of workflow_admin, and must be able to become nothing but ' +
        'anon, authenticated, service_role, stagedoor_agent, stagedoor_reviewer, stagedoor_executor',
    ],
    [
      'an API login that can become more by a detour',
      'grant pg_read_all_data to authenticated',
      'authenticated',
      'is a member of pg_read_all_data, and must be able to become nothing',
    ],
    [
      'an agent that can decide',
      'grant stagedoor_reviewer to stagedoor_agent',
      'stagedoor_agent',
      'is a member of stagedoor_reviewer, and must be able to become nothing',
    ],
    [
      'a vector worker that sees every workspace',
      'grant service_role to vector_worker',
      'vector_worker',
      'is a member of service_role, and must be able to become nothing',
    ],
    [
      'a worker that can decide',
      'grant stagedoor_reviewer to stagedoor_worker',
      'stagedoor_worker',
      'is a member of stagedoor_reviewer, and must be able to become nothing but ' +
        'dot_executor, service_role, vector_worker',
    ],
    [
      'an API login that can hand on what it may become',
      `set role ${MIGRATOR}; grant stagedoor_reviewer to stagedoor_api with admin option`,
      'stagedoor_api',
      'can make others members of stagedoor_reviewer',
    ],
    ...(version >= 16
      ? ([
          [
            'an API login that has rights by itself through one membership',
            `set role ${MIGRATOR}; grant service_role to stagedoor_api with inherit true`,
            'stagedoor_api',
            'has the rights of service_role without becoming it',
          ],
        ] as [string, string, string, string][])
      : []),
  ]

  it.each(drifts.filter((_, at) => LONG || at % 4 === 0))(
    '%s',
    { tags: 'property' },
    async (_, drift, role, problem) => {
      await superuser(drift)
      const found = await findings()
      expect(found).toEqual([{ kind: 'role', object: `role ${role}`, problem, remedy: expect.any(String) }])
      await superuser(found[0]!.remedy)
    },
  )

  it('a login that migrates and cannot become what the commands act as', async () => {
    await superuser(`set role ${MIGRATOR}; revoke dot_executor from ${MIGRATOR}`)
    const found = await findings()
    expect(found).toEqual([
      {
        kind: 'login',
        object: `login "${MIGRATOR}"`,
        problem: 'cannot become dot_executor',
        remedy: expect.stringMatching(/^grant dot_executor to "stagedoor_migrator".*;$/),
      },
    ])
    await superuser(found[0]!.remedy)
  })
})

it('takes the roles of Supabase as they are', async () => {
  await superuser(
    `alter role service_role bypassrls noinherit; alter role anon noinherit; alter role directus login;
     create role authenticator login noinherit; grant anon, authenticated, service_role to authenticator;
     grant anon, authenticated, service_role to postgres;
     create role pgsodium_keyholder; grant pgsodium_keyholder to service_role`,
  )
  expect(await findings()).toEqual([])
})

it('finds a role that is gone', async () => {
  await superuser('alter role directus rename to directus_2')
  const found = await findings()
  expect(found[0]).toEqual({
    kind: 'grant',
    object: expect.any(String),
    problem: expect.stringContaining('directus'),
    remedy: expect.any(String),
  })
  expect(found).toContainEqual({
    kind: 'role',
    object: 'role directus',
    problem: 'does not exist',
    remedy: 'create role directus nologin;',
  })
  await superuser('alter role directus_2 rename to directus')
})

it('does what it can for a login that cannot become the owner, and says what the login lacks', async () => {
  await superuser("create role visitor login password 'for-tests-only'")
  await superuser('revoke select on iu_core.event_outbox from authenticated')
  expect(await findings('visitor')).toEqual([
    {
      kind: 'login',
      object: 'login visitor',
      problem: expect.stringContaining('cannot become workflow_admin'),
      remedy: expect.stringMatching(/^grant workflow_admin to "visitor"/),
    },
    expect.objectContaining({ kind: 'grant', problem: 'lacks SELECT for authenticated' }),
  ])
  const [forApi] = await findings('stagedoor_api')
  expect(forApi).toMatchObject({ kind: 'login', remedy: expect.stringContaining('DATABASE_DIRECT_URL') })
})

it('compares the rest also for a login of ours, and never says to make it the owner', async () => {
  const found = await findings('stagedoor_worker')
  expect(found).toEqual([
    {
      kind: 'login',
      object: 'login stagedoor_worker',
      problem: expect.stringContaining('none of those migrates'),
      remedy: 'Set DATABASE_DIRECT_URL to the login that migrates.',
    },
    expect.objectContaining({ kind: 'grant', problem: 'lacks SELECT for authenticated' }),
  ])
  await superuser('create database unmigrated')
  const report = await examine({ url: loginUrl(server!.url(), 'stagedoor_worker', 'unmigrated') })
  expect(report.findings.map(({ object }) => object)).toEqual(['login stagedoor_worker'])
})
