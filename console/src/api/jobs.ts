import { query } from './query.ts'
import type { Request } from './request.ts'
import type { Answer, Job } from './types.ts'

export type JobStatistics = Answer<'getJobStatistics'>
export type JobDetail = Answer<'getJob'>
export type KindCounts = JobStatistics['kinds'][number]
export type JobKind = Answer<'listJobKinds'>['kinds'][number]
type DeadLetterGroups = Answer<'groupDeadLetters'>
export type DeadLetterGroup = DeadLetterGroups['groups'][number]
export type Schedule = Answer<'listSchedules'>['schedules'][number]
export type Pool = Answer<'listPools'>['pools'][number]
export type Workers = Answer<'listWorkers'>

export interface JobPage {
  readonly jobs: Job[]
  readonly next: string | null
}

export interface ReplaySelection {
  readonly workspace_id?: string | undefined
  readonly jobs?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly group?: string | undefined
  readonly failed_before?: string | undefined
}

export interface NewSchedule {
  readonly cron: string
  readonly time_zone: string
  readonly job_kind: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly enabled: boolean
}

interface PageOf {
  readonly limit: number
  readonly after?: string | undefined
}

/** Jobs, their kinds, dead letters, schedules and workers. */
export interface JobsApi {
  statistics(asked: { window: string; kind?: string | undefined }): Promise<JobStatistics>
  list(asked: PageOf & { status?: string | undefined; kind?: string | undefined }): Promise<JobPage>
  find(id: string): Promise<JobDetail>
  cancel(id: string, reason: string): Promise<{ outcome: 'cancelled' | 'requested' }>
  kinds(): Promise<{ kinds: JobKind[] }>
  setKind(kind: string, settings: object): Promise<JobKind>
  pause(kind: string): Promise<JobKind>
  resume(kind: string): Promise<JobKind>
  groups(asked: { kind?: string | undefined; workspace_id?: string | undefined }): Promise<DeadLetterGroups>
  deadLetters(
    asked: PageOf & {
      kind?: string | undefined
      group?: string | undefined
      workspace_id?: string | undefined
    },
  ): Promise<JobPage>
  /** What a replay would take; nothing is changed. */
  replayable(selection: ReplaySelection): Promise<{ jobs: string[] }>
  replay(selection: ReplaySelection): Promise<{ jobs: string[] }>
  schedules(): Promise<{ schedules: Schedule[] }>
  nextRuns(cron: string, timeZone: string): Promise<{ next_runs: string[] }>
  setSchedule(name: string, schedule: NewSchedule): Promise<unknown>
  deleteSchedule(name: string): Promise<unknown>
  workers(): Promise<Workers>
  /** How many workers are wanted. */
  pools(): Promise<{ pools: Pool[] }>
}

/** As many as one replay takes. */
const MAX_REPLAYED = 100_000

export function createJobsApi(request: Request): JobsApi {
  const post = <T>(path: string, body?: object) => request<T>(path, { method: 'POST', ...(body && { body }) })
  return {
    statistics: (asked) => request(`/jobs/statistics?${query(asked)}`),
    list: (asked) => request(`/jobs?${query(asked)}`),
    find: (id) => request(`/jobs/${id}`),
    cancel: (id, reason) => post(`/jobs/${id}/cancel`, reason === '' ? {} : { reason }),
    kinds: () => request('/job-kinds'),
    setKind: (kind, settings) => request(`/job-kinds/${kind}`, { method: 'PATCH', body: settings }),
    pause: (kind) => post(`/job-kinds/${kind}/pause`),
    resume: (kind) => post(`/job-kinds/${kind}/resume`),
    groups: (asked) => request(`/dead-letters/groups?${query(asked)}`),
    deadLetters: (asked) => request(`/dead-letters?${query(asked)}`),
    replayable: (selection) => post('/jobs/replay', { ...selection, limit: MAX_REPLAYED, dry_run: true }),
    replay: (selection) => post('/jobs/replay', { ...selection, limit: MAX_REPLAYED }),
    schedules: () => request('/schedules?runs=5'),
    nextRuns: (cron, time_zone) => request(`/schedules/next-runs?${query({ cron, time_zone })}`),
    setSchedule: (name, body) => request(`/schedules/${name}`, { method: 'PUT', body }),
    deleteSchedule: (name) => request(`/schedules/${name}`, { method: 'DELETE' }),
    workers: () => request('/workers'),
    pools: () => request('/pools'),
  }
}
