/**
 * Every action and every view of the console exists on the command line. Each function of the console's API is called with a transport
 * that records the request; OpenAPI says which operation that is, and TWINS which command does the same. A new call of the console
 * without a line here fails, and so does a line that the console no longer needs.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { parseProblem } from '../docs/commands.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** By its path: it is written for browsers, whose types this program does not have. */
const CONSOLE_API = '../../console/src/api/client.ts'

/** Why a machine does not need it. */
class None {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}
const BROWSER = new None('about the session of a browser: the command line acts as its login, or with --as')
const DOCS = new None('the documentation is in the package and in the repository, as files')
const LIVE = new None('tells a page when to read again; a command is run once')

/** By operation: the command that does or shows the same, with the option that makes it so. */
const TWINS: Readonly<Record<string, string | None>> = {
  // The installation
  health: 'health',
  ready: 'health',
  getHealthDetails: 'health',
  getStorage: 'health --storage',
  listProcesses: 'process list',
  getOverview: 'status',
  getLimits: 'upload limits --workspace NAME',
  listGates: 'gate list',
  find: 'find TEXT',
  getTrace: 'trace ID',
  followChanges: LIVE,
  listDocsPages: DOCS,
  getDocsPage: DOCS,
  searchDocs: DOCS,
  listIssues: 'issue list',
  resolveIssue: 'issue resolve ID --resolution TEXT',

  // People
  me: BROWSER,
  getSession: BROWSER,
  signIn: BROWSER,
  beginOidcSignInWithInvitation: BROWSER,
  endSession: BROWSER,
  showInvitation: new None('the person who is invited opens the link in a browser'),
  acceptInvitation: new None('the person who is invited accepts in a browser'),
  listSessions: 'session list',
  endSessions: 'session end',
  endOneSession: 'session end',
  listMembers: 'member list',
  setMember: 'member add',
  deleteMember: 'member delete',
  listInvitations: 'invitation list',
  createInvitation: 'invitation create',
  revokeInvitation: 'invitation revoke',
  listTokens: 'token list',
  createToken: 'token create',
  revokeToken: 'token revoke',
  listGroups: 'group list',
  addGroupMember: 'group add NAME MEMBER',
  removeGroupMember: 'group remove NAME MEMBER',
  listReviewPolicies: 'policy list',
  setReviewPolicy: 'policy set FILE',
  removeReviewPolicy: 'policy remove',
  previewReviewPolicy: 'policy preview FILE',

  // Changes and their conversation
  listChanges: 'change list',
  getChange: 'change show 128',
  updateChange: 'change edit 128 --title TEXT --description TEXT',
  listChangeHistory: 'change history 128',
  setChangeReviewers: 'change reviewers 128',
  listChangeComments: 'change comments 128',
  createChangeComment: 'change comment 128 TEXT --line 12 --column spend',
  updateChangeComment: 'change comment 128 TEXT --edit ID',
  deleteChangeComment: 'change comment 128 --delete ID',
  resolveThread: 'change resolve ID',
  reopenThread: 'change resolve ID --reopen',
  listChangeReviews: 'change reviews 128',
  reviewChange: 'change approve 128',
  getInbox: 'change inbox --all',
  markInboxRead: 'change inbox --read',
  requestChangeUndo: 'change ask-undo 128 --reason TEXT',
  declineChangeUndo: 'change decline-undo 128',

  // Datasets and uploads
  listDatasets: 'dataset list',
  getDataset: 'dataset show NAME',
  checkDataset: 'dataset check NAME',
  listDatasetClients: 'client list --dataset NAME',
  getDatasetMapping: 'dataset map NAME',
  updateDatasetMapping: 'dataset map NAME --set Header=field --value field:text=value',
  deleteDatasetMappingEntry: 'dataset map NAME --forget HEADER',
  previewDatasetMapping: 'dataset map NAME FILE --no-remember',
  matchDatasets: 'dataset match FILE',
  createUpload: 'ingest FILE --dataset NAME',
  followUpload: 'ingest FILE --dataset NAME',
  listUploads: 'upload list',
  getUpload: 'upload show ID',
  listUploadHistory: 'upload history ID',
  listUploadChecks: 'upload checks ID',
  getUploadReading: 'upload show ID',
  readPlanSince: 'upload plan ID --rows --since DIGEST',
  listUploadProblemKinds: 'upload problems ID',
  uploadCorrections: 'upload repair ID --file FILE',
  listUploadRows: 'upload rows ID --problems',
  repairUploadRows: 'upload repair ID --column HEADER --replace old=new --dry-run',
  downloadUploadProblems: 'upload export ID -o FILE',
  planUpload:
    'upload plan ID --again --on-invalid skip --max-deleted 0.5 --allow-short-file --on-conflict use-mine',
  listPlanRows: 'upload plan ID --rows --column spend --by-more-than 0.5',
  readPlanDistribution: 'upload distribution ID --type daily_metric --column spend',
  listPlanConflicts: 'upload conflicts ID',
  listStaleRows: 'upload plan ID --stale',
  checkPlan: 'change show 128',
  getUploadRisk: 'upload risk ID',
  submitUpload: 'upload submit ID',
  approveUpload: 'upload approve ID --digest DIGEST --tick changes',
  rejectUpload: 'upload reject ID --reason TEXT',
  promoteUpload: 'upload promote ID --digest DIGEST',
  planUploadUndo: 'upload undo ID --plan',
  undoUpload: 'upload undo ID --reason TEXT',
  readUploadDownstream: 'upload downstream ID',
  retryUpload: 'upload retry ID',
  discardUpload: 'upload discard ID',
  createProposal: 'propose --again ID',
  listUploadLineage: 'upload lineage ID',
  getRowLineage: 'lineage TABLE --key JSON',
  listPromotions: 'promotion list',

  // Staging records
  listStagingRecords: 'staging list --status pending',
  getStagingRecord: 'staging show ID',
  getStagingPart: 'staging show ID --part 0',
  listStagingHistory: 'staging history ID',
  tickStagingChecklist: 'staging tick ID ITEM',
  approveStagingRecord: 'staging approve ID --digest DIGEST',
  rejectStagingRecord: 'staging reject ID --reason TEXT',
  withdrawStagingRecord: 'staging withdraw ID',
  getApproval: 'approval show ID',
  approveApproval: 'approval approve ID --digest DIGEST --answer NAME=VALUE',

  // Events, routes, consumers, webhooks
  listEvents: 'event list --domain staging --since 2h',
  getEvent: 'event show ID',
  listEventRoutes: 'route list',
  getEventRoute: 'route show NAME',
  listEventRouteEvidence: 'route evidence NAME',
  reviewEventRoute: 'route review NAME',
  activateEventRoute: 'route activate NAME',
  disableEventRoute: 'route disable NAME',
  listConsumers: 'consumer list',
  getConsumer: 'consumer show NAME',
  listConsumerEvidence: 'consumer evidence NAME',
  listUndelivered: 'consumer show NAME',
  reviewConsumer: 'consumer review NAME',
  listWebhookTargets: 'webhook list',
  setWebhookTarget: 'webhook set NAME',
  deleteWebhookTarget: 'webhook delete NAME',
  testWebhookTarget: 'webhook test NAME',

  // Jobs
  listJobs: 'job list --status dead',
  getJob: 'job show ID',
  cancelJob: 'job cancel ID --reason TEXT',
  getJobStatistics: 'job statistics --window 24h',
  listJobKinds: 'job kinds',
  updateJobKind: 'job kind set NAME',
  pauseJobKind: 'job pause NAME',
  resumeJobKind: 'job resume NAME',
  listDeadLetters: 'job dead-letters',
  groupDeadLetters: 'job dead-letters --groups',
  replayJobs: 'job replay --group ID --dry-run',
  listWorkers: 'worker list',
  listPools: 'pool list',
  listSchedules: 'schedule list',
  previewSchedule: 'schedule next-runs --cron LINE',
  setSchedule: 'schedule set NAME --cron LINE --kind KIND',
  deleteSchedule: 'schedule delete NAME',

  // Playbooks and executions
  listPlaybooks: 'playbook list',
  getPlaybook: 'playbook show NAME --version 2',
  listPlaybookVersions: 'playbook versions NAME',
  diffPlaybook: 'playbook diff NAME 1 2',
  checkPlaybook: 'playbook check FILE',
  registerPlaybook: 'playbook register FILE --open-to-members',
  enablePlaybook: 'playbook enable NAME',
  disablePlaybook: 'playbook disable NAME',
  listExecutions: 'execution list --status RUNNING',
  countExecutions: 'execution counts',
  listPlaybookRuns: 'execution counts',
  getExecution: 'execution show ID',
  getExecutionGraph: 'execution graph ID',
  getExecutionTimeline: 'execution timeline ID',
  listLoopItems: 'execution items ID --status failed',
  listExecutionHistory: 'execution events ID --failed',
  getExecutionResult: 'execution result ID --step NAME',
  startExecution: 'run NAME --set n=10',
  cancelExecution: 'execution cancel ID --reason TEXT',
  pauseExecution: 'execution pause ID',
  resumeExecution: 'execution resume ID',
  rerunExecution: 'execution rerun ID --from STEP --version latest',

  // Units, documents, search
  listUnits: 'unit list --text TEXT',
  listUnitKinds: 'unit kinds',
  listTopics: 'topic list',
  getUnit: 'unit show UNIT --version 2',
  getUnitContext: 'unit show UNIT',
  listUnitEdges: 'unit show UNIT',
  getUnitHistory: 'unit history UNIT',
  diffUnit: 'unit diff UNIT 1 2',
  createUnit: 'unit create ADDRESS',
  updateUnit: 'unit edit UNIT --note TEXT',
  updateUnitProfile: 'unit profile UNIT topic_labels=travel',
  addUnitEdge: 'unit edge add UNIT',
  deleteUnitEdge: 'unit edge delete ID',
  enactUnit: 'unit enact UNIT --approval-ref REF',
  supersedeUnit: 'unit supersede UNIT --by UNIT --approval-ref REF',
  retireUnit: 'unit retire UNIT',
  deleteUnit: 'unit delete UNIT',
  restoreUnit: 'unit restore UNIT',
  moveUnit: 'unit move UNIT --container UNIT --position 2',
  splitUnit: 'unit split UNIT --part address=file',
  mergeUnits: 'unit merge UNIT OTHER --into ADDRESS',
  changeUnitKind: 'unit change-kind UNIT --approval-ref REF',
  listDocuments: 'search document list',
  getDocument: 'search document show DOCUMENT',
  markDocument: 'mark FILE',
  getMarking: 'mark show ID',
  cutFromManifest: 'cut ID --digest DIGEST',
  search: 'search find TEXT',
  listSynonyms: 'search synonym list',
  addSynonyms: 'search synonym add WORD WORD',
  deleteSynonyms: 'search synonym delete WORD',
  listMissedQuestions: 'search missed list',
  setMissedLog: 'search missed log on',
  countWaitingForSearch: 'search status',
  listSearchTables: 'search tables',
  reviewSearchTable: 'search review-table TABLE --as reviewer',
  activateSearchTable: 'search activate-table TABLE --as reviewer',
  listSearchDeadLetters: 'search dead-letters',
  flushSearch: 'search flush',
  replaySearchDeadLetters: 'search replay',
}

/** Functions of the API that ask nothing of the server. */
const LOCAL = ['uploads.sendsHead']

interface Sent {
  readonly by: string
  readonly method: string
  readonly path: string
}
const sent: Sent[] = []
const called: string[] = []

beforeAll(async () => {
  const record = (method: string, path: string) =>
    sent.push({ by: called.at(-1)!, method, path: path.split('?')[0]! })
  vi.stubGlobal('fetch', async (address: string, { method = 'GET' }: { method?: string } = {}) => {
    record(method, address)
    throw new Error('Only recorded.')
  })
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      readonly upload = {}
      open(method: string, path: string) {
        record(method, path)
      }
      setRequestHeader() {}
      send() {}
    },
  )
  vi.stubGlobal(
    'FormData',
    class {
      append() {}
    },
  )
  const { createApi } = (await import(CONSOLE_API)) as { createApi(): object }
  await callAll(createApi())
})
afterAll(() => vi.unstubAllGlobals())

it('every function of the console’s API asks the server for an operation that OpenAPI knows', () => {
  expect(called.length).toBeGreaterThan(150)
  expect(sent.filter((one) => operationOf(one) === undefined)).toEqual([])
  const asked = new Set(sent.map(({ by }) => by))
  expect(called.filter((name) => !asked.has(name) && !LOCAL.includes(name))).toEqual([])
  // What is not in console/src/api would not be recorded.
  const elsewhere = readdirSync(join(ROOT, 'console/src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('api/'))
    .filter((path) =>
      /\b(fetch|XMLHttpRequest|EventSource)\(/.test(readFileSync(join(ROOT, 'console/src', path), 'utf8')),
    )
  expect(elsewhere).toEqual([])
})

it('every operation that the console uses has its command, and no line is left over', () => {
  const used = [...new Set(sent.map((one) => operationOf(one)!))].sort()
  expect(Object.keys(TWINS).sort()).toEqual(used)
})

it('the commands are there, take these options, and say what they do', async () => {
  const program = await createProgram()
  const wrong = Object.entries(TWINS).flatMap(([operation, twin]) => {
    if (twin instanceof None)
      return twin.reason === '' ? [`${operation} has neither a command nor a reason`] : []
    const words = twin.split(' ')
    const problem = parseProblem(program, words) ?? (isAction(program, words) ? undefined : 'no action')
    return problem === undefined ? [] : [`${operation}: stagedoor ${twin}: ${problem}`]
  })
  expect(wrong).toEqual([])
})

/** Stands for any argument: a text, a number, a record, a file. */
function anything(): unknown {
  return new Proxy(() => undefined, {
    get: (_, name) => {
      if (name === Symbol.toPrimitive || name === 'toString') return () => 'x'
      return typeof name === 'symbol' || name === 'toJSON' || name === 'then' ? undefined : anything()
    },
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
  })
}

/** Each function with its last argument true, and false: some choose their path by it. */
async function callAll(api: object, within: readonly string[] = []): Promise<void> {
  for (const [name, member] of Object.entries(api)) {
    const place = [...within, name]
    if (typeof member !== 'function') {
      await callAll(member, place)
      continue
    }
    called.push(place.join('.'))
    const others = Array.from({ length: Math.max(0, member.length - 1) }, anything)
    for (const last of [anything(), false])
      await Promise.resolve()
        .then(() => member(...others, last))
        .then((answer) => (answer?.done ? undefined : answer))
        .catch(() => undefined)
  }
}

const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>
}
/** A path without a parameter goes before one with. */
const PATTERNS = Object.entries(paths)
  .sort(([one], [other]) => one.split('{').length - other.split('{').length)
  .map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    operations,
  }))

function operationOf({ method, path }: Sent): string | undefined {
  const name = method.toLowerCase()
  const found = PATTERNS.find(({ pattern, operations }) => pattern.test(path) && operations[name])
  return found?.operations[name]?.operationId
}

/** Its help says what it does, and it is no group of commands. */
function isAction(program: Command, words: readonly string[]): boolean {
  let command = program
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word)
    if (child === undefined) break
    command = child
  }
  const isGroup = command.commands.length > 0 && command.name() !== 'mark'
  return !isGroup && command.description() !== '' && command.helpInformation().includes('--json')
}
