import { beforeAll, describe, expect, it } from 'vitest'
import { listIssues, openIssue, resolveIssue } from '../../src/events/issues.ts'
import { useDatabase } from '../support/database.ts'
import { type AppRole, createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const worker = () => db.pool('stagedoor_worker')
const events = (type: string, issue: string) =>
  db.owner(
    'select safe_payload, workspace_id from iu_core.event_outbox where event_type = $1 and event_subject_ref = $2',
    [type, issue],
  )

const findIssue = async (id: string) =>
  (await listIssues(worker(), { resolved: true, limit: 1000 })).find((one) => one.issue_id === id)

let ours: string
const people = {} as Record<AppRole, Member>
let stranger: Member

beforeAll(async () => {
  ours = await createWorkspace(db, 'ours')
  for (const role of ['viewer', 'operator', 'agent'] as const)
    people[role] = await createMember(db, ours, role)
  stranger = await createMember(db, await createWorkspace(db, 'theirs'), 'admin')
})

const BROKEN = {
  code: 'disk_full',
  severity: 'error',
  subject: 'volume:a',
  title: 'The disk is full',
} as const

describe('an issue', () => {
  it('is opened once for each code and subject; what happens again is counted, and emitted once', async () => {
    const first = await openIssue(worker(), { ...BROKEN, detail: { left: 1 } })
    expect(await openIssue(worker(), { ...BROKEN, detail: { left: 0 } })).toBe(first)
    const other = await openIssue(worker(), { ...BROKEN, subject: 'volume:b' })
    expect(other).not.toBe(first)
    expect(await findIssue(first)).toMatchObject({
      occurrences: '2',
      detail: { left: 0 },
      resolved_at: null,
    })
    expect(await events('issue_opened', first)).toEqual([
      { safe_payload: { issue_id: first, code: 'disk_full', severity: 'error' }, workspace_id: null },
    ])
  })

  it('without a subject is one, too', async () => {
    const { subject: _, ...nameless } = BROKEN
    expect(await openIssue(worker(), nameless)).toBe(await openIssue(worker(), nameless))
  })

  it('is resolved once, which emits an event; happening again, it is a new one', async () => {
    const issue = await openIssue(worker(), { ...BROKEN, subject: 'volume:c', workspace: ours })
    expect(await resolveIssue(worker(), issue, { resolution: 'bought a larger one' })).toMatchObject({
      resolved_by: 'stagedoor_worker',
      resolution: 'bought a larger one',
    })
    expect(await events('issue_resolved', issue)).toEqual([
      { safe_payload: { issue_id: issue, code: 'disk_full', severity: 'error' }, workspace_id: ours },
    ])
    expect(await sqlstateOf(resolveIssue(worker(), issue))).toBe('SD331')
    expect(await events('issue_resolved', issue)).toHaveLength(1)
    const again = await openIssue(worker(), { ...BROKEN, subject: 'volume:c', workspace: ours })
    expect(again).not.toBe(issue)
    const open = (await listIssues(worker())).map((one) => one.issue_id)
    expect([open.includes(again), open.includes(issue)]).toEqual([true, false])
    const all = (await listIssues(worker(), { resolved: true, limit: 1000 })).map((one) => one.issue_id)
    expect([all.includes(again), all.includes(issue)]).toEqual([true, true])
  })

  it('is resolved by one of two who try at the same time', async () => {
    const issue = await openIssue(worker(), { ...BROKEN, subject: 'volume:d' })
    const tried = await Promise.all([1, 2].map(() => sqlstateOf(resolveIssue(worker(), issue))))
    expect(tried.sort()).toEqual(['SD331', 'not refused'])
  })

  it('counted by many at the same time misses none', async () => {
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => openIssue(worker(), { ...BROKEN, subject: 'volume:e' })),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await findIssue(ids[0]!)).toMatchObject({ occurrences: '8' })
    expect(await events('issue_opened', ids[0]!)).toHaveLength(1)
  })

  it('that is not there is an error of its own', async () => {
    expect(await sqlstateOf(resolveIssue(worker(), '00000000-0000-7000-8000-000000000000'))).toBe('SD330')
  })

  it.each([
    ['no code', { code: null }],
    ['no title', { title: null }],
    ['no severity', { severity: null }],
  ])('with %s is refused', async (_, missing) => {
    expect(await sqlstateOf(openIssue(worker(), { ...BROKEN, ...missing } as never))).toBe('SD001')
  })
})

describe('access control', () => {
  it('shows members the issues of their workspace, and nobody else’s', async () => {
    const issue = await openIssue(worker(), { ...BROKEN, subject: 'volume:f', workspace: ours })
    const seen = (caller: Member) =>
      db.as(caller, async (client) => (await listIssues(client)).map((one) => one.issue_id))
    expect(await seen(people.viewer)).toContain(issue)
    expect(await db.as(people.viewer, (client) => listIssues(client))).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ workspace_id: null })]),
    )
    expect(await seen(stranger)).toEqual([])
    expect(await sqlstateOf(seen(people.agent))).toBe('42501')
  })

  it('lets an operator of the workspace resolve, not a viewer, an agent, or somebody of another', async () => {
    const issue = await openIssue(worker(), { ...BROKEN, subject: 'volume:g', workspace: ours })
    const resolve = (caller: Member) => sqlstateOf(db.as(caller, (client) => resolveIssue(client, issue)))
    expect(await resolve(people.viewer)).toBe('SD202')
    expect(await resolve(stranger)).toBe('SD330')
    expect(await resolve(people.agent)).toBe('42501')
    expect(await resolve(people.operator)).toBe('not refused')
    expect(await findIssue(issue)).toMatchObject({ resolved_by: people.operator.userId })
  })

  it('leaves what belongs to no workspace to back-end code', async () => {
    const issue = await openIssue(worker(), { ...BROKEN, subject: 'volume:h' })
    expect(await sqlstateOf(db.as(people.operator, (client) => resolveIssue(client, issue)))).toBe('SD330')
    expect(await findIssue(issue)).toMatchObject({ resolved_by: null })
  })

  it('lets nobody but back-end code open one', async () => {
    for (const person of [people.viewer, people.operator, people.agent]) {
      expect(await sqlstateOf(db.as(person, (client) => openIssue(client, BROKEN)))).toBe('42501')
    }
  })
})
