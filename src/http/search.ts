/** Search: a question under the caller's own rights; and its administration, by administrators or, for all workspaces, by the back end. */
import type { FastifyRequest } from 'fastify'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { nullable, type Static, shape, Text, Type, Uuid } from '../kernel/schema.ts'
import { EMBEDDERS, STORES } from '../search/collections.ts'
import { deleteDocument, setDocument } from '../search/legacy.ts'
import type { Search } from '../search/library.ts'
import {
  LIFECYCLES,
  MAX_HITS,
  MAX_QUESTION_CHARACTERS,
  parseColumnValues,
  SOURCES,
} from '../search/question.ts'
import { SORTS } from '../search/result-list.ts'
import {
  AuditReport,
  MissedLog,
  MissedQuestion,
  SearchAnswer,
  SearchDeadLetter,
  SearchStatus,
  SearchWaiting,
  Synonyms,
} from '../search/shapes.ts'
import {
  flushOutbox,
  listDeadLetters,
  MAX_COUNTED,
  replayDeadLetters,
  waitingForSearch,
} from '../search/status.ts'
import {
  addSynonyms,
  deleteSynonyms,
  listSynonyms,
  missedLog,
  missedQuestions,
  setMissedLog,
} from '../search/synonyms.ts'
import { requireService, workspaceOf } from './access.ts'
import { TEXT_LIMIT } from './request-limits.ts'
import { limit, Reason, type Routes, routes, Workspace } from './routes.ts'
import { tableRoutes } from './search-tables.ts'

/** A question of 10,000 words, every character escaped. */
const QUESTION_LIMIT = 1024 ** 2
const EXACT = { additionalProperties: false }

const Word = Type.String({ minLength: 1, maxLength: 100 })
const Words = Type.Union([Word, Type.Array(Word, { minItems: 1, maxItems: 50 })])
const Explain = Type.Boolean({ default: false, description: 'say beside each hit why it is there' })
const Status = Type.Enum([...LIFECYCLES], { description: 'of units; default: draft and enacted' })
const Source = Type.Enum([...SOURCES], {
  description: 'only units, only the old knowledge base, or only rows of tables',
})
const Container = Type.String({
  maxLength: 400,
  description: 'address or id of a unit: it, and what is in it',
})
const ColumnValue = Type.String({ maxLength: 1000, pattern: '^[^=]+=' })
const QUESTION = 'a question, words, "a phrase", begin*, -without'
const Sort = Type.Enum([...SORTS], { default: 'relevance', description: 'of the 1,000 best hits' })
const OPTIONS = {
  explain: Explain,
  typing: Type.Boolean({
    default: false,
    description: 'the last word counts as a beginning; words alone are searched, and completions suggested',
  }),
  exact: Type.Boolean({ default: false, description: 'correct no word and add no synonym' }),
  sort: Sort,
  facets: Type.Boolean({ default: false, description: 'count the hits by each value of the filters' }),
  collapse: Type.Boolean({ default: true, description: 'show hits that say nearly the same once' }),
  context: Type.Boolean({ default: false, description: 'with each hit what stands around it' }),
}
const Next = Type.String({ maxLength: 16_000, description: '`next` of the page before' })

const SearchBody = {
  text: Type.String({ maxLength: MAX_QUESTION_CHARACTERS, description: QUESTION }),
  workspace_id: Workspace,
  limit: Type.Optional(limit(MAX_HITS, 10)),
  ...(Object.fromEntries(Object.entries(OPTIONS).map(([name, type]) => [name, Type.Optional(type)])) as {
    [Name in keyof typeof OPTIONS]: ReturnType<typeof Type.Optional<(typeof OPTIONS)[Name]>>
  }),
  after: Type.Optional(Next),
  filters: Type.Optional(
    shape(
      'SearchFilters',
      {
        topic: Type.Optional(Words),
        kind: Type.Optional(Words),
        status: Type.Optional(Type.Union([Status, Type.Array(Status, { minItems: 1, maxItems: 3 })])),
        language: Type.Optional(Words),
        profile: Type.Optional(
          Type.Record(Text, Type.Unknown(), { description: 'what the profile must hold, at least' }),
        ),
        edge: Type.Optional(
          shape(
            'EdgeFilter',
            {
              type: Type.Optional(Word),
              target: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
            },
            {
              ...EXACT,
              minProperties: 1,
              description:
                'an edge of this type from it, to this address, id or reference; one of the two will do',
            },
          ),
        ),
        container: Type.Optional(Container),
        source: Type.Optional(Source),
        table: Type.Optional(Words),
        columns: Type.Optional(
          Type.Record(Text, Type.Union([Text, Type.Array(Text, { minItems: 1, maxItems: 50 })]), {
            maxProperties: 10,
            description: 'rows of tables with these values in the columns that were projected for filters',
          }),
        ),
      },
      EXACT,
    ),
  ),
}
const Question = Type.Object(SearchBody)

export const searchRoutes = (search: Search) =>
  routes('search', (api) => {
    questionRoutes(api, search)
    synonymRoutes(api)
    missedRoutes(api)
    projectionRoutes(api)
    collectionRoutes(api, search)
    documentRoutes(api)
    tableRoutes(api)
  })

function questionRoutes(api: Routes, search: Search): void {
  api.get('/', {
    operationId: 'search',
    summary:
      'Find units, documents and rows of your tables by words and by meaning; each hit says how fresh it is',
    query: {
      q: Type.String({ maxLength: 10_000, description: QUESTION, examples: ['paid leave'] }),
      workspace_id: Workspace,
      limit: limit(MAX_HITS, 10),
      ...OPTIONS,
      after: Type.Optional(Next),
      topic: Type.Optional(Word),
      kind: Type.Optional(Word),
      status: Type.Optional(Status),
      language: Type.Optional(Word),
      container: Type.Optional(Container),
      source: Type.Optional(Source),
      table: Type.Optional(Word),
      column: Type.Optional(
        Type.Union([ColumnValue, Type.Array(ColumnValue, { maxItems: 50 })], {
          description: 'column=value: only rows of tables with it; again for one or another',
        }),
      ),
    },
    answer: SearchAnswer,
    problems: [403, 404],
    handle: (request) => {
      const {
        q: text,
        topic,
        kind,
        status,
        language,
        container,
        source,
        table,
        column,
        ...asked
      } = request.query
      const filters = omitUndefined({
        topic,
        kind,
        status,
        language,
        container,
        source,
        table,
        columns: column === undefined ? undefined : parseColumnValues([column].flat()),
      })
      return answer(request, search, { ...asked, text, filters })
    },
  })

  api.post('/', {
    operationId: 'searchWith',
    summary: 'The same for long questions and for every filter',
    body: SearchBody,
    example: { text: 'how many days of leave?', filters: { topic: 'leave', status: 'enacted' } },
    answer: SearchAnswer,
    problems: [403, 404, 413],
    bodyLimit: QUESTION_LIMIT,
    config: { onlyReads: true },
    handle: (request) => answer(request, search, request.body),
  })
}

async function answer(
  request: FastifyRequest,
  search: Search,
  { workspace_id: named, filters, ...asked }: Static<typeof Question> | Asked,
) {
  const workspace_id = await request.transaction((client) => workspaceOf(client, named))
  const { status, ...others } = filters ?? {}
  return search.findAs((work) => request.transaction(work), {
    ...asked,
    workspaceId: workspace_id,
    filters: { ...others, ...(status !== undefined && { lifecycle: status }) },
  })
}

type Asked = Omit<Static<typeof Question>, 'workspace_id'> & { workspace_id: string | undefined }

const Count = Type.Object({ count: Type.Integer() })
const Changed = Type.Object({ changed: Type.Boolean() })

const SynonymWord = Type.String({ minLength: 1, maxLength: 100, description: 'one to four words' })
const Both = Type.Boolean({ default: false, description: 'and the other way round' })

/** Words that questions are also asked with. */
function synonymRoutes(api: Routes): void {
  api.get('/synonyms', {
    operationId: 'listSynonyms',
    summary: 'Synonyms that questions in a workspace are also asked with, by word',
    query: { workspace_id: Workspace, limit: limit(1000, 100), after: Type.Optional(SynonymWord) },
    answer: Type.Object({ synonyms: Type.Array(Synonyms) }),
    problems: [403, 404],
    handle: async (request) => {
      const { workspace_id, ...page } = request.query
      return {
        synonyms: await request.transaction(async (client) =>
          listSynonyms(client, await workspaceOf(client, workspace_id), page),
        ),
      }
    },
  })

  api.post('/synonyms', {
    operationId: 'addSynonyms',
    summary: 'Ask questions that have a word with its synonyms, too; for those who administer',
    body: {
      workspace_id: Workspace,
      word: SynonymWord,
      synonyms: Type.Array(SynonymWord, { minItems: 1, maxItems: 20 }),
      both: Type.Optional(Both),
    },
    example: { word: 'pto', synonyms: ['annual leave'], both: true },
    answer: Count,
    problems: [403, 404, 422],
    handle: async (request) => {
      const { workspace_id, ...synonyms } = request.body
      const count = await request.decide(async (client) =>
        addSynonyms(client, await workspaceOf(client, workspace_id), synonyms),
      )
      return { count }
    },
  })

  api.delete('/synonyms', {
    operationId: 'deleteSynonyms',
    summary: 'Delete a synonym of a word, or all of them; for those who administer',
    query: {
      workspace_id: Workspace,
      word: SynonymWord,
      synonym: Type.Optional(SynonymWord),
      both: Both,
    },
    answer: Count,
    problems: [403, 404],
    handle: async (request) => {
      const { workspace_id, synonym, ...old } = request.query
      const count = await request.decide(async (client) =>
        deleteSynonyms(client, await workspaceOf(client, workspace_id), {
          ...old,
          ...(synonym !== undefined && { synonyms: [synonym] }),
        }),
      )
      return { count }
    },
  })
}

/** Questions that found nothing. */
function missedRoutes(api: Routes): void {
  api.get('/missed', {
    operationId: 'listMissedQuestions',
    summary: 'Questions that found nothing, those asked most often first; for those who administer',
    description: 'Empty unless the workspace logs them: PUT /search/missed.',
    query: { workspace_id: Workspace, limit: limit(1000, 100) },
    answer: Type.Object({ log: MissedLog, questions: Type.Array(MissedQuestion) }),
    problems: [403, 404],
    handle: (request) =>
      request.transaction(async (client) => {
        const workspace = await workspaceOf(client, request.query.workspace_id)
        return {
          log: await missedLog(client, workspace),
          questions: await missedQuestions(client, workspace, request.query),
        }
      }),
  })

  api.put('/missed', {
    operationId: 'setMissedLog',
    summary: 'Log questions that find nothing, or stop it and delete the log; for those who administer',
    body: {
      workspace_id: Workspace,
      on: Type.Boolean(),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
    },
    example: { on: true, days: 30 },
    answer: Changed,
    problems: [403, 404],
    handle: async (request) => {
      const { workspace_id, ...log } = request.body
      return {
        changed: await request.decide(async (client) =>
          setMissedLog(client, await workspaceOf(client, workspace_id), log),
        ),
      }
    },
  })
}

/** What waits to be brought into search, and what failed. */
function projectionRoutes(api: Routes): void {
  api.get('/waiting', {
    operationId: 'countWaitingForSearch',
    summary: 'How many of your units and documents are not in search yet, since when, and how many failed',
    description: `Counts end at ${MAX_COUNTED}, which means that many or more.`,
    answer: SearchWaiting,
    handle: (request) => request.transaction(waitingForSearch),
  })

  api.post('/flush', {
    operationId: 'flushSearch',
    summary: 'Bring what waits for the quiet window into search at once; for those who operate',
    optionalBody: {
      workspace_id: Workspace,
      units: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
    },
    answer: Count,
    problems: [403, 404],
    handle: async (request) => {
      const { workspace_id, units } = request.body ?? {}
      const count = await request.transaction(async (client) =>
        flushOutbox(client, units ? { units } : { workspace: await workspaceOf(client, workspace_id) }),
      )
      return { count }
    },
  })

  api.get('/dead-letters', {
    operationId: 'listSearchDeadLetters',
    summary: 'What could not be brought into search after all its tries, newest first',
    query: { workspace_id: Type.Optional(Uuid), limit: limit(1000, 100) },
    answer: Type.Object({ dead_letters: Type.Array(SearchDeadLetter) }),
    handle: async (request) => {
      const { workspace_id, limit } = request.query
      return {
        dead_letters: await request.transaction((client) =>
          listDeadLetters(client, { limit, ...(workspace_id !== undefined && { workspace: workspace_id }) }),
        ),
      }
    },
  })

  api.post('/dead-letters/replay', {
    operationId: 'replaySearchDeadLetters',
    summary: 'Try dead letters again; for those who administer',
    optionalBody: {
      workspace_id: Workspace,
      outbox: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
    },
    answer: Count,
    problems: [403, 404],
    handle: async (request) => {
      const { workspace_id, outbox } = request.body ?? {}
      const isForAll = request.principal?.role === 'service_role' && workspace_id === undefined
      const count = await request.decide(async (client) =>
        replayDeadLetters(client, {
          ...(outbox && { outbox }),
          ...(!isForAll && { workspace: await workspaceOf(client, workspace_id) }),
        }),
      )
      return { count }
    },
  })
}

/** Search as a whole, which is about all workspaces. */
function collectionRoutes(api: Routes, search: Search): void {
  api.get('/status', {
    operationId: 'getSearchStatus',
    summary: 'Collections, what waits, outages, phases and cost of search; for the back end',
    answer: SearchStatus,
    problems: [403],
    handle: (request) => {
      requireService(request, 'it is about all workspaces')
      return search.status()
    },
  })

  api.post('/audit', {
    operationId: 'auditSearch',
    summary: 'Compare what the vector stores hold with PostgreSQL, and repair on request; for the back end',
    optionalBody: { repair: Type.Optional(Type.Boolean()) },
    answer: AuditReport,
    problems: [403],
    handle: (request) => {
      requireService(request, 'stores hold what is of all workspaces')
      return search.audit({ repair: request.body?.repair === true })
    },
  })

  api.post('/switch', {
    operationId: 'switchSearch',
    summary: 'Another embedder or store: a new collection is filled beside the old one; for the back end',
    body: {
      embedder: Type.Optional(Type.Enum([...EMBEDDERS])),
      model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      dimension: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096 })),
      store: Type.Optional(Type.Enum([...STORES])),
    },
    example: { embedder: 'openai' },
    answer: shape('Collection', { collection: Text, state: Text }),
    status: 202,
    problems: [403, 409, 422],
    handle: (request) => {
      requireService(request, 'search is switched for all workspaces')
      return search.switchTo(request.body)
    },
  })

  api.delete('/switch', {
    operationId: 'cancelSearchSwitch',
    summary: 'Give up the collection that is being built; for the back end',
    answer: Type.Object({ collection: nullable(Text) }),
    problems: [403],
    handle: async (request) => {
      requireService(request, 'search is switched for all workspaces')
      return { collection: (await search.cancelSwitch()) ?? null }
    },
  })

  api.put('/phases/:phase', {
    operationId: 'setSearchPhase',
    summary: 'Open or close a phase of the migration from the old knowledge base, in order; for the back end',
    params: { phase: Type.Integer({ minimum: 1, maximum: 3 }) },
    body: { open: Type.Boolean(), reason: Reason },
    example: { open: true },
    answer: Changed,
    problems: [403, 409],
    handle: async (request) => {
      requireService(request, 'phases hold for all workspaces')
      const { open, reason } = request.body
      return { changed: await search.setPhase(request.params.phase, open, reason) }
    },
  })

  api.put('/window', {
    operationId: 'setSearchWindow',
    summary: 'How long search waits after an edit, and after a deletion; for the back end',
    body: {
      quiet_s: Type.Optional(Type.Integer({ minimum: 120, maximum: 180 })),
      delete_s: Type.Optional(Type.Integer({ minimum: 30, maximum: 60 })),
      reason: Reason,
    },
    example: { quiet_s: 180 },
    answer: Changed,
    problems: [403],
    handle: async (request) => {
      requireService(request, 'the window holds for all workspaces')
      return { changed: await search.setWindow(request.body) }
    },
  })
}

/** Documents of the old knowledge base; for those who administer. */
function documentRoutes(api: Routes): void {
  api.post('/documents', {
    operationId: 'setSearchDocument',
    summary: 'Take a document of the old knowledge base into search, or update it; for those who administer',
    body: {
      workspace_id: Workspace,
      source_ref: Type.String({ minLength: 1, maxLength: 2000 }),
      title: Type.String({ minLength: 1, maxLength: 500 }),
      text: Type.String({ minLength: 1 }),
      language: Type.Optional(Type.String({ maxLength: 35, examples: ['en'] })),
    },
    answer: Type.Object({ document_id: Text }),
    problems: [403, 413],
    bodyLimit: TEXT_LIMIT,
    config: { right: 'administer' },
    handle: async (request) => {
      const { workspace_id, text: body, ...document } = request.body
      const document_id = await request.decide(async (client) =>
        setDocument(client, await workspaceOf(client, workspace_id), { ...document, body }),
      )
      return { document_id }
    },
  })

  api.delete('/documents/:id', {
    operationId: 'deleteSearchDocument',
    summary: 'Delete a document of the old knowledge base from search; for those who administer',
    problems: [403, 404],
    handle: (request) => request.decide((client) => deleteDocument(client, request.params.id)),
  })
}
