import { learnNames } from '../people.ts'
import { query } from './query.ts'
import type { Request } from './request.ts'
import type {
  Execution,
  ExecutionCounts,
  ExecutionDetail,
  ExecutionGraph,
  ExecutionHistory,
  Executions,
  ExecutionTimeline,
  LoopItems,
  PlaybookRuns,
} from './types.ts'

export interface ExecutionFilter {
  readonly playbook?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface StartRequest {
  readonly playbook: string
  readonly args: Readonly<Record<string, unknown>>
  readonly workspace_id?: string | undefined
  readonly version?: number | undefined
}

/** Executions of playbooks. */
export interface ExecutionsApi {
  list(
    asked: ExecutionFilter & {
      status?: Execution['status'] | undefined
      failed?: boolean | undefined
      parent?: string | undefined
      limit: number
      after?: string | undefined
    },
  ): Promise<Executions>
  counts(asked: ExecutionFilter): Promise<ExecutionCounts>
  byPlaybook(): Promise<{ playbooks: PlaybookRuns[] }>
  find(id: string): Promise<ExecutionDetail>
  graph(id: string): Promise<ExecutionGraph>
  timeline(id: string): Promise<ExecutionTimeline>
  items(
    id: string,
    loop: string,
    asked: { status?: string | undefined; after?: string | undefined; limit: number },
  ): Promise<LoopItems>
  history(
    id: string,
    asked: {
      after?: string | undefined
      limit: number
      items: boolean
      failed: boolean
      step?: string | undefined
    },
  ): Promise<ExecutionHistory>
  result(id: string, step?: string): Promise<{ value?: unknown }>
  start(asked: StartRequest): Promise<{ execution_id: string }>
  cancel(id: string, reason: string): Promise<unknown>
  pause(id: string): Promise<unknown>
  resume(id: string): Promise<unknown>
  rerun(id: string, asked: { from_step: string; version?: number }): Promise<{ execution_id: string }>
}

export function createExecutionsApi(request: Request): ExecutionsApi {
  const post = <T>(path: string, body?: object) =>
    request<T>(`/executions${path}`, { method: 'POST', ...(body && { body }) })
  return {
    list: async (asked) => {
      const list = await request<Executions>(`/executions?${query(asked)}`)
      learnNames(list.people)
      return list
    },
    counts: (asked) => request(`/executions/counts?${query(asked)}`),
    byPlaybook: () => request('/executions/by-playbook'),
    find: (id) => request(`/executions/${id}`),
    graph: (id) => request(`/executions/${id}/graph`),
    timeline: (id) => request(`/executions/${id}/timeline`),
    items: (id, loop, asked) => request(`/executions/${id}/loops/${loop}/items?${query(asked)}`),
    history: (id, asked) => request(`/executions/${id}/history?${query(asked)}`),
    result: (id, step) => request(`/executions/${id}/result?${query({ step })}`),
    start: (asked) => post('', asked),
    cancel: (id, reason) => post(`/${id}/cancel`, reason === '' ? undefined : { reason }),
    pause: (id) => post(`/${id}/pause`),
    resume: (id) => post(`/${id}/resume`),
    rerun: (id, asked) => post(`/${id}/rerun`, asked),
  }
}
