/** Routes and consumers of the library. Registering needs the login that administers the database. */
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import * as consumers from './consumers.ts'
import { dispatchEvents, type Pass } from './dispatcher.ts'
import * as routes from './routes.ts'

/**
 * A review names its reviewer, who must not be the one who registered. Nor may the login be, and on your own database it usually
 * is: there people review over the API, with their own tokens.
 */
export interface Review {
  readonly reviewer: string
  /** How much of the evidence they looked at. */
  readonly evidence: number
}

export interface Routes {
  /** Returns its code. A change of what it matches or sends disables it and takes its review away. */
  register(route: routes.NewRoute): Promise<string>
  list(): Promise<routes.Route[]>
  get(code: string): Promise<routes.Route | undefined>
  /** Attaches the triggers; returns on how many tables. */
  dryRun(code: string): Promise<number>
  evidence(code: string, limit?: number): Promise<routes.RouteEvidence[]>
  review(code: string, review: Review & { readonly revision?: number }): Promise<void>
  activate(code: string): Promise<void>
  disable(code: string, reason?: string): Promise<void>
  /** Returns the statements that are left to the owners of the tables. */
  delete(code: string): Promise<string[]>
}

export interface Consumers {
  register(consumer: consumers.NewConsumer): Promise<consumers.Consumer>
  list(): Promise<consumers.Consumer[]>
  get(consumer: string): Promise<consumers.Consumer | undefined>
  dryRun(consumer: string): Promise<consumers.Consumer>
  evidence(consumer: string, limit?: number): Promise<consumers.Evidence[]>
  review(consumer: string, review: Review): Promise<consumers.Consumer>
  activate(consumer: string): Promise<consumers.Consumer>
  disable(consumer: string): Promise<consumers.Consumer>
  delete(consumer: string): Promise<void>
  /** Makes jobs of past events. */
  backfill(consumer: string, range: { from: Date; to: Date }): Promise<consumers.Backfill>
  /** Dispatches the next events once. The dispatcher (`stagedoor start`, `work({ dispatcher: true })`) does so all the time. */
  dispatch(limit?: number): Promise<Pass>
}

type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

interface EventsDeps {
  /** One transaction as the owner of everything of ours. */
  readonly admin: Transaction
  /** As the same role, one statement at a time. */
  readonly administrator: Queryable
  readonly service: Transaction
  readonly worker: Transaction
}

export function routesLibrary({ admin, service, worker }: Omit<EventsDeps, 'administrator'>): Routes {
  return {
    register: (route) => admin((client) => routes.registerRoute(client, route)),
    list: () => worker(routes.listRoutes),
    get: (code) => worker((client) => routes.findRoute(client, code)),
    dryRun: (code) => admin((client) => routes.dryRunRoute(client, code)),
    evidence: (code, limit) => worker((client) => routes.routeEvidence(client, code, limit)),
    review: (code, { reviewer, ...review }) =>
      service((client) => routes.reviewRoute(client, code, { ...review, actor: reviewer })),
    activate: (code) => service((client) => routes.activateRoute(client, code)),
    disable: (code, reason) =>
      service((client) => routes.disableRoute(client, code, reason === undefined ? {} : { reason })),
    delete: (code) => admin((client) => routes.deleteRoute(client, code)),
  }
}

export function consumersLibrary({ admin, administrator, service, worker }: EventsDeps): Consumers {
  return {
    register: (consumer) => admin((client) => consumers.registerConsumer(client, consumer)),
    list: () => worker(consumers.listConsumers),
    get: (consumer) => worker((client) => consumers.findConsumer(client, consumer)),
    dryRun: (consumer) => admin((client) => consumers.dryRunConsumer(client, consumer)),
    evidence: (consumer, limit) => worker((client) => consumers.consumerEvidence(client, consumer, limit)),
    review: (consumer, { reviewer, evidence }) =>
      service((client) => consumers.reviewConsumer(client, consumer, { evidence, actor: reviewer })),
    activate: (consumer) => admin((client) => consumers.activateConsumer(client, consumer)),
    disable: (consumer) => admin((client) => consumers.disableConsumer(client, consumer)),
    delete: (consumer) => admin((client) => consumers.deleteConsumer(client, consumer)),
    // Each page is committed by itself.
    backfill: (consumer, range) => consumers.backfillConsumer(administrator, consumer, range),
    dispatch: (limit) => worker((client) => dispatchEvents(client, limit)),
  }
}
