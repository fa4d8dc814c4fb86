import { query } from './query.ts'
import type { Request } from './request.ts'
import type { Consumer, ConsumerEvidence, Dispatch, EventRoute, RouteEvidence } from './types.ts'

/** What turns changes of tables into events (routes), and events into jobs (consumers). */
export interface ConsumersApi {
  list(): Promise<{ consumers: Consumer[] }>
  find(id: string): Promise<Consumer>
  evidence(id: string, limit: number): Promise<{ evidence: ConsumerEvidence[] }>
  undelivered(id: string, limit: number): Promise<{ dispatches: Dispatch[] }>
  review(id: string, evidence: number): Promise<Consumer>
  routes(): Promise<{ routes: EventRoute[] }>
  route(code: string): Promise<EventRoute>
  routeEvidence(code: string, limit: number): Promise<{ evidence: RouteEvidence[] }>
  reviewRoute(code: string, seen: { evidence: number; revision: number }): Promise<EventRoute>
  activateRoute(code: string): Promise<EventRoute>
  disableRoute(code: string): Promise<EventRoute>
}

export function createConsumersApi(request: Request): ConsumersApi {
  const consumer = (id: string) => `/consumers/${encodeURIComponent(id)}`
  const route = (code: string) => `/event-routes/${encodeURIComponent(code)}`
  const post = <T>(path: string, body?: object) => request<T>(path, { method: 'POST', ...(body && { body }) })
  return {
    list: () => request('/consumers'),
    find: (id) => request(consumer(id)),
    evidence: (id, limit) => request(`${consumer(id)}/evidence?${query({ limit })}`),
    undelivered: (id, limit) => request(`${consumer(id)}/undelivered?${query({ limit })}`),
    review: (id, evidence) => post(`${consumer(id)}/review`, { evidence }),
    routes: () => request('/event-routes'),
    route: (code) => request(route(code)),
    routeEvidence: (code, limit) => request(`${route(code)}/evidence?${query({ limit })}`),
    reviewRoute: (code, seen) => post(`${route(code)}/review`, seen),
    activateRoute: (code) => post(`${route(code)}/activate`),
    disableRoute: (code) => post(`${route(code)}/disable`),
  }
}
