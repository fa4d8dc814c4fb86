/** The shapes that the API answers with, under the names that the pages use. All come from the API's description. */
import type { components, operations } from './types.generated.ts'

export type Answer<Operation extends keyof operations> = operations[Operation]['responses'] extends {
  200: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

export type Health = Answer<'health'>
export type Ready = Answer<'ready'>
export type Me = Answer<'me'>
export type Gates = Answer<'listGates'>
export type Gate = Gates['gates'][number]
export type EventPage = Answer<'listEvents'>
export type RecordedEvent = EventPage['events'][number]
export type Trace = Answer<'getTrace'>
export type Found = Answer<'find'>['found'][number]
export type Overview = Answer<'getOverview'>
export type RoomFigures = Overview['rooms'][number]
export type Consumer = Answer<'getConsumer'>
export type ConsumerEvidence = Answer<'listConsumerEvidence'>['evidence'][number]
export type Dispatch = Answer<'listUndelivered'>['dispatches'][number]
export type EventRoute = Answer<'getEventRoute'>
export type RouteEvidence = Answer<'listEventRouteEvidence'>['evidence'][number]
export type StagingRecords = Answer<'listStagingRecords'>
export type StagingSummary = StagingRecords['records'][number]
export type StagingRecord = Answer<'getStagingRecord'>
export type Approval = Answer<'getApproval'>
export type Job = Answer<'listJobs'>['jobs'][number]
export type Jobs = Answer<'listJobs'>
export type Execution = Answer<'listExecutions'>['executions'][number]
export type Executions = Answer<'listExecutions'>
export type ExecutionDetail = Answer<'getExecution'>
export type ExecutionCounts = Answer<'countExecutions'>
export type ExecutionGraph = Answer<'getExecutionGraph'>
export type GraphNode = ExecutionGraph['nodes'][number]
export type ExecutionTimeline = Answer<'getExecutionTimeline'>
export type ExecutionHistory = Answer<'listExecutionHistory'>
export type LoggedEvent = ExecutionHistory['events'][number]
export type LoopItems = Answer<'listLoopItems'>
export type LoopItem = LoopItems['items'][number]
export type Playbooks = Answer<'listPlaybooks'>
export type Playbook = Playbooks['playbooks'][number]
export type PlaybookDetail = Answer<'getPlaybook'>
export type PlaybookDiff = Answer<'diffPlaybook'>
export type PlaybookCheck = Answer<'checkPlaybook'>
export type PlaybookRuns = Answer<'listPlaybookRuns'>['playbooks'][number]
export type SearchWaiting = Answer<'countWaitingForSearch'>
export type DeadProjection = Answer<'listSearchDeadLetters'>['dead_letters'][number]
export type Marking = Answer<'getMarking'>
export type ListedUnit = Answer<'listUnits'>['units'][number]
export type UnitDetail = Answer<'getUnit'>
export type UnitContext = Answer<'getUnitContext'>
export type UnitHistory = Answer<'getUnitHistory'>
export type UnitDiff = Answer<'diffUnit'>
export type UnitEdges = Answer<'listUnitEdges'>
export type UnitEdge = UnitEdges['out'][number]
export type UnitKind = Answer<'listUnitKinds'>['kinds'][number]
export type Topic = Answer<'listTopics'>['topics'][number]
export type CutDocument = Answer<'listDocuments'>['documents'][number]
export type CutDocumentDetail = Answer<'getDocument'>
export type StagedMark = Answer<'markDocument'>
export type Cut = Answer<'cutFromManifest'>
export type SearchAnswer = Answer<'search'>
export type Synonyms = Answer<'listSynonyms'>['synonyms'][number]
export type MissedQuestions = Answer<'listMissedQuestions'>
export type SearchHit = SearchAnswer['hits'][number]
export type SearchTable = Answer<'getSearchTable'>
/** application/problem+json */
export type Problem = components['schemas']['Problem']
