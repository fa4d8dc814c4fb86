/** The shapes that the API answers with, under the names that the pages use. All come from the API's description. */
import type { components, operations } from './types.generated.ts'

export type Answer<Operation extends keyof operations> = operations[Operation]['responses'] extends {
  200: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

export type Health = Answer<'health'>
export type Ready = Answer<'ready'>
export type ReadyCheck = Ready['checks'][number]
export type Me = Answer<'me'>
export type Gates = Answer<'listGates'>
export type Gate = Gates['gates'][number]
export type EventPage = Answer<'listEvents'>
export type RecordedEvent = EventPage['events'][number]
export type Trace = Answer<'getTrace'>
export type Found = Answer<'find'>['found'][number]
export type OverviewFacts = Answer<'getOverview'>
export type Consumer = Answer<'getConsumer'>
export type ConsumerEvidence = Answer<'listConsumerEvidence'>['evidence'][number]
export type Dispatch = Answer<'listUndelivered'>['dispatches'][number]
export type EventRoute = Answer<'getEventRoute'>
export type RouteEvidence = Answer<'listEventRouteEvidence'>['evidence'][number]
export type StagingRecords = Answer<'listStagingRecords'>
export type StagingSummary = StagingRecords['records'][number]
export type StagingRecord = Answer<'getStagingRecord'>
export type Job = Answer<'listJobs'>['jobs'][number]
export type Jobs = Answer<'listJobs'>
export type Execution = Answer<'listExecutions'>['executions'][number]
export type Executions = Answer<'listExecutions'>
export type SearchWaiting = Answer<'countWaitingForSearch'>
export type DeadProjection = Answer<'listSearchDeadLetters'>['dead_letters'][number]
export type Marking = Answer<'getMarking'>
/** application/problem+json */
export type Problem = components['schemas']['Problem']
