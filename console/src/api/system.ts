import { query } from './query.ts'
import type { Request } from './request.ts'
import type { Answer } from './types.ts'

export type HealthDetails = Answer<'getHealthDetails'>
export type Process = Answer<'listProcesses'>['processes'][number]
export type Storage = Answer<'getStorage'>
export type Issue = Answer<'listIssues'>['issues'][number]
export type WebhookTarget = Answer<'listWebhookTargets'>['targets'][number]
export type DatasetSummary = Answer<'listDatasets'>['datasets'][number]
export type DatasetDetail = Answer<'getDataset'>
export type DatasetProblem = Answer<'checkDataset'>['problems'][number]
export type RememberedMapping = Answer<'getDatasetMapping'>
export type Limits = Answer<'getLimits'>

interface WebhookChange {
  readonly url?: string
  readonly secret?: string
  readonly purpose?: WebhookTarget['purpose']
  readonly workspace_id?: string
  readonly description?: string
  readonly enabled?: boolean
}

/** Health and settings of the installation. */
export interface SystemApi {
  health(): Promise<HealthDetails>
  /** Who works on the database, on which host. */
  processes(): Promise<{ processes: Process[] }>
  storage(): Promise<Storage>
  issues(asked: {
    limit: number
    after?: string | undefined
    resolved?: boolean
  }): Promise<{ issues: Issue[]; next: string | null }>
  resolveIssue(id: string, resolution: string): Promise<Issue>
  datasets(workspace: string): Promise<{ datasets: DatasetSummary[] }>
  dataset(name: string, workspace: string): Promise<DatasetDetail>
  checkDataset(name: string, workspace: string): Promise<{ problems: DatasetProblem[] }>
  mapping(name: string, workspace: string, platform: string): Promise<RememberedMapping>
  forgetHeader(name: string, workspace: string, platform: string, header: string): Promise<RememberedMapping>
  forgetReadOptions(
    name: string,
    workspace: string,
    platform: string,
    shape: string,
    author: string,
  ): Promise<RememberedMapping>
  webhooks(workspace: string): Promise<{ targets: WebhookTarget[] }>
  setWebhook(target: string, change: WebhookChange): Promise<unknown>
  deleteWebhook(target: string): Promise<unknown>
  testWebhook(target: string): Promise<{ job_id: string }>
  limits(workspace: string): Promise<Limits>
}

export function createSystemApi(request: Request): SystemApi {
  const named = (name: string) => `/datasets/${encodeURIComponent(name)}`
  return {
    health: () => request('/health'),
    processes: () => request('/processes'),
    storage: () => request('/health/storage'),
    issues: (asked) => request(`/issues?${query(asked)}`),
    resolveIssue: (id, resolution) =>
      request(`/issues/${id}/resolve`, { method: 'POST', body: { resolution } }),
    datasets: (workspace_id) => request(`/datasets?${query({ workspace_id })}`),
    dataset: (name, workspace_id) => request(`${named(name)}?${query({ workspace_id })}`),
    checkDataset: (name, workspace_id) => request(`${named(name)}/check?${query({ workspace_id })}`),
    mapping: (name, workspace_id, platform) =>
      request(`${named(name)}/mapping?${query({ workspace_id, platform })}`),
    forgetHeader: (name, workspace_id, platform, header) =>
      request(`${named(name)}/mapping?${query({ workspace_id, platform, header })}`, { method: 'DELETE' }),
    forgetReadOptions: (name, workspace_id, platform, read_options, author) =>
      request(`${named(name)}/mapping?${query({ workspace_id, platform, read_options, author })}`, {
        method: 'DELETE',
      }),
    webhooks: (workspace_id) => request(`/webhooks?${query({ workspace_id })}`),
    setWebhook: (target, body) => request(`/webhooks/${target}`, { method: 'PUT', body }),
    deleteWebhook: (target) => request(`/webhooks/${target}`, { method: 'DELETE' }),
    testWebhook: (target) => request(`/webhooks/${target}/test`, { method: 'POST' }),
    limits: (workspace_id) => request(`/limits?${query({ workspace_id })}`),
  }
}
