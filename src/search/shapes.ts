/** The records of this room, each stated once: its type and its shape in the API come from here. */
import {
  IntegerOrNull,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  Type,
  typed,
} from '../kernel/schema.ts'

const Count = Type.Integer({ minimum: 0 })
const Trouble = shape('SearchTrouble', { rows: Count, reason: Text })

export const SearchWaiting = shape('SearchWaiting', {
  pending: Type.Integer({ description: 'units and documents whose newest text is not in search yet' }),
  failed: Type.Integer({ description: 'those that failed every attempt and need a person' }),
  due: Type.Integer({ description: 'those that wait for a worker, not for the quiet window' }),
  oldest_at: nullable(Type.Unsafe<Date>({ ...Timestamp, description: 'since when the oldest waits' })),
  quiet_s: Type.Number({ description: 'seconds that search waits after an edit' }),
  retrying: Type.Union([Trouble, Type.Null()], { description: 'what failed and will be retried' }),
})
export type SearchWaiting = Row<typeof SearchWaiting>

export const SearchStatus = shape('SearchStatus', {
  collections: Type.Array(
    shape('CollectionStatus', {
      collection: Text,
      state: Text,
      embedder: Text,
      model: TextOrNull,
      dimension: IntegerOrNull,
      store: Text,
      points: Count,
      writing: Type.Integer({ minimum: 0, description: 'recorded, and not yet in the store' }),
      refused: Type.Integer({
        minimum: 0,
        description: 'its embedder does not take them; a collection that is being built does without',
      }),
    }),
  ),
  chunks: shape('ChunkCounts', {
    units: Count,
    documents: Count,
    rows: Count,
    to_analyse: Type.Integer({
      description:
        'those whose words an earlier version analysed; a worker does it again, and they are searched meanwhile',
    }),
  }),
  tables: shape(
    'SearchedTableCounts',
    {
      active: Count,
      scanning: Type.Integer({ minimum: 0, description: 'whose rows are being read' }),
      stopped: Type.Array(shape('StoppedTable', { table: Text, reason: Text })),
      changes: Type.Integer({ minimum: 0, description: 'changed rows that no worker has seen yet' }),
    },
    { description: 'your own tables in search' },
  ),
  outbox: shape('SearchOutbox', {
    pending: Count,
    processing: Count,
    done: Count,
    dead_letter: Count,
    due: Count,
    oldest_due_s: IntegerOrNull,
  }),
  outage: nullable(Trouble),
  retrying: Type.Union([Trouble, Type.Null()], { description: 'what failed and will be retried' }),
  window: shape(
    'SearchWindow',
    { quiet_s: Type.Number(), delete_s: Type.Number() },
    { description: 'seconds that search waits after an edit, and before it takes out what was deleted' },
  ),
  gates: shape('SearchGates', {
    excluded: Type.Boolean({ description: 'what is staged is kept out; closed, nothing is embedded' }),
    phase_1: Type.Boolean(),
    phase_2: Type.Boolean(),
    phase_3: Type.Boolean(),
  }),
  cost: Type.Array(
    shape('SearchCost', { day: Text, embedder: Text, model: Text, requests: Count, tokens: Count }),
    { description: 'of embedders that are paid for, a day, of the last month' },
  ),
})
export type SearchStatus = Row<typeof SearchStatus>

export const SearchDeadLetter = shape('SearchDeadLetter', {
  outbox_id: Text,
  unit_id: TextOrNull,
  document_id: TextOrNull,
  row_id: TextOrNull,
  name: Text,
  tries: Type.Integer(),
  error: TextOrNull,
  failed_at: Timestamp,
})
export type SearchDeadLetter = Row<typeof SearchDeadLetter>

export const SearchTable = shape('SearchTable', {
  code: Type.String({ description: 'its name here: the middle of the codes of its routes' }),
  source: Type.String({ description: 'the table, as SQL names it' }),
  workspace_id: TextOrNull,
  workspace_column: TextOrNull,
  language: Text,
  key_columns: Type.Array(Text),
  text_columns: Type.Array(Text),
  title_column: TextOrNull,
  filter_columns: Type.Array(Text),
  state: Type.Enum(['registered', 'dry_run', 'reviewed', 'active', 'stopped']),
  stopped_reason: TextOrNull,
  scan_state: Type.Enum(['none', 'waiting', 'scanning', 'sweeping', 'done'], {
    description: 'of the last reading of all its rows; sweeping: those that are gone are removed',
  }),
  scanned: Type.String({ description: 'rows that were read' }),
  scan_total: nullable(Type.String({ description: 'rows that there were; of a large table an estimate' })),
  scan_skipped: Type.String({ description: 'rows without a workspace, which nobody finds' }),
  scan_ended_at: nullable(Timestamp),
  routes: Type.Array(Text, { description: 'review and activate them together, or each by itself' }),
  registered_by: Text,
  registered_at: Timestamp,
  reviewed_by: TextOrNull,
  activated_by: TextOrNull,
  activated_at: nullable(Timestamp),
  readers: Type.Array(Text, {
    description:
      'roles that may read it, and so find its rows: people (authenticated), who also reviews (stagedoor_reviewer), agents (stagedoor_agent), programs (dot_executor)',
  }),
  reader_grants: Type.Array(Text, {
    description: 'what its owner runs so that the others find them, too; empty: all do',
  }),
})
export type SearchTable = Row<typeof SearchTable>

const Rank = Type.Optional(Type.Integer({ minimum: 1 }))

const MatchedWord = shape('MatchedWord', {
  word: Text,
  fields: Type.Array(Type.Enum(['text', 'title', 'address']), { description: 'where it stands' }),
  share: Type.Number({ description: 'its part of the score by words; those of a hit add up to 1' }),
})
export type MatchedWord = Row<typeof MatchedWord>

const NearbyUnit = shape('NearbyUnit', { unit_id: Text, canonical_address: Text, title: Text })

const HitContext = shape(
  'HitContext',
  {
    parent: Type.Optional(NearbyUnit),
    unit_before: Type.Optional(NearbyUnit),
    unit_after: Type.Optional(NearbyUnit),
    text_before: Type.Optional(Text),
    text_after: Type.Optional(Text),
  },
  {
    description:
      'where it was asked for: the container of the unit, the units before and behind it there, and the text before and behind the passage',
  },
)
export type HitContext = Row<typeof HitContext>

const SimilarHits = shape(
  'SimilarHits',
  {
    count: Count,
    hits: Type.Array(
      shape('SimilarHit', {
        source: Type.Enum(['unit', 'document']),
        id: Text,
        title: Text,
        address: Type.Optional(Type.String({ description: 'of a unit; of a document, where it comes from' })),
      }),
      { description: 'at most 20 of them' },
    ),
  },
  { description: 'hits that say nearly the same and are not listed themselves' },
)

export const SearchHit = shape('SearchHit', {
  source: Type.Enum(['unit', 'document', 'row']),
  unit_id: Type.Optional(Text),
  document_id: Type.Optional(
    Type.String({ description: 'of a unit: the document of the old knowledge base that it was cut from' }),
  ),
  canonical_address: Type.Optional(Text),
  source_ref: Type.Optional(Type.String({ description: 'of a document: where it comes from' })),
  table: Type.Optional(Type.String({ description: 'of a row: its table, as SQL names it' })),
  key: Type.Optional(
    typed<Readonly<Record<string, string>>>(
      Type.Record(Text, Text, { description: 'of a row: the columns of its key, and their values as text' }),
    ),
  ),
  columns: Type.Optional(
    typed<Readonly<Record<string, string>>>(
      Type.Record(Text, Text, { description: 'of a row: its values by which a question can be narrowed' }),
    ),
  ),
  lineage: Type.Optional(
    shape(
      'HitLineage',
      {
        upload_id: Text,
        file_name: TextOrNull,
        line: Type.Integer(),
        action: Text,
        promoted_at: Text,
        promoted_by: TextOrNull,
        approved_by: TextOrNull,
      },
      { description: 'of a row: the promotion that wrote it last' },
    ),
  ),
  title: Text,
  snippet: Text,
  highlights: Type.Array(
    typed<readonly [number, number]>(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 })),
    {
      description:
        'from and to, in characters (code points) of the snippet: where words of the question stand; `to` is not part of it',
    },
  ),
  score: Type.Number(),
  legs: shape(
    'HitRanks',
    { lexical: Rank, dense: Rank },
    { description: 'its place by words and by meaning' },
  ),
  freshness: Type.Enum(['current', 'pending', 'stale', 'error']),
  lifecycle_status: Type.Optional(Text),
  unit_kind: Type.Optional(Text),
  version_no: Type.Optional(Type.Integer({ description: 'whose text is shown' })),
  current_version_no: Type.Optional(Type.Integer()),
  warnings: Type.Array(Text),
  explain: Type.Optional(
    shape(
      'HitReasons',
      {
        unit: Text,
        document: Text,
        shares: shape(
          'HitShares',
          { words: Type.Number(), meaning: Type.Number() },
          { description: 'what each leg adds to the score' },
        ),
        chunk_id: Type.Optional(Text),
        words: Type.Array(MatchedWord),
      },
      {
        description:
          'where it was asked for: the states between which the matrix decided, the chunk, and the words that matched',
      },
    ),
  ),
  similar: Type.Optional(SimilarHits),
  context: Type.Optional(HitContext),
})
export type SearchHit = Row<typeof SearchHit>

export const NoHits = shape(
  'NoHits',
  {
    texts: Type.Integer({ description: 'how many chunks of units and documents are in search' }),
    tables: Type.Integer({
      description: 'how many tables of yours are searched; their rows are not counted, some may be hidden',
    }),
    waiting: Type.Integer({
      description:
        'units that are not in search yet; counts end at 1000. Rows of tables that wait are not counted: some may be hidden',
    }),
    unknown_words: Type.Array(
      shape('UnknownWord', {
        word: Text,
        similar: Type.Array(Text, { description: 'words that texts here have, the most similar first' }),
      }),
      { description: 'words of the question that no text has' },
    ),
    without_filters: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'how many hits the same question has without filters, counted up to the limit; null: it had none',
    }),
    excluded: Type.Array(Text, { description: 'what the question excludes' }),
    without_exclusions: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'how many hits the same question has if it excludes nothing, counted up to the limit; null: it excludes nothing, or asks for nothing else',
    }),
  },
  { description: 'where nothing was found: why that may be' },
)
export type NoHits = Row<typeof NoHits>

const Correction = shape('Correction', { word: Text, replaced_by: Text })
export type Correction = Row<typeof Correction>

const UsedSynonym = shape('UsedSynonym', { word: Text, synonyms: Type.Array(Text) })
export type UsedSynonym = Row<typeof UsedSynonym>

const FacetValue = shape('FacetValue', {
  filter: Type.Enum(['source', 'table', 'column', 'kind', 'status', 'language', 'topic']),
  column: Type.Optional(Type.String({ description: 'of a table, where `filter` is column' })),
  value: Text,
  count: Count,
})
export type FacetValue = Row<typeof FacetValue>

export const SearchAnswer = shape('SearchAnswer', {
  hits: Type.Array(SearchHit),
  next: Type.Optional(
    Type.String({ description: 'there are more hits: ask the same question again with it as `after`' }),
  ),
  facets: Type.Optional(
    Type.Array(FacetValue, {
      description: 'where it was asked for: how many hits have each value of a filter',
    }),
  ),
  corrected: Type.Optional(
    shape(
      'CorrectedQuestion',
      { text: Text, instead: Text, words: Type.Array(Correction) },
      {
        description:
          'no text has some words: shows results for `text` instead of what was typed; `exact` asks for `instead`',
      },
    ),
  ),
  synonyms: Type.Optional(Type.Array(UsedSynonym, { description: 'that the question was also asked with' })),
  suggestions: Type.Optional(
    Type.Array(Text, { description: 'while typing: the question with its last word completed' }),
  ),
  warnings: Type.Array(Text, { description: 'what could not be asked, and what to do' }),
  took_ms: Type.Number(),
  legs: shape(
    'LegCounts',
    {
      lexical: Type.Integer(),
      dense: Type.Union([Type.Integer(), Type.Enum(['off', 'unavailable'])]),
    },
    { description: 'how many chunks each leg found' },
  ),
  no_hits: Type.Optional(NoHits),
})
export type SearchAnswer = Row<typeof SearchAnswer>

export const AuditFinding = shape('SearchAuditFinding', {
  finding: Type.Enum(['orphan', 'ghost', 'payload', 'staging', 'missing', 'left']),
  collection: nullable(Type.String({ description: 'null: found in PostgreSQL itself' })),
  id: Type.String({ description: 'of the point, or of the unit or document' }),
  detail: Text,
  repaired: Type.Boolean(),
})
export type AuditFinding = Row<typeof AuditFinding>

export const AuditedCollection = shape('AuditedCollection', {
  collection: Text,
  state: Text,
  store: Text,
  points: nullable(Type.Integer({ description: 'that the store holds; null: it could not be asked' })),
  problem: Type.Optional(Text),
})
export type AuditedCollection = Row<typeof AuditedCollection>

export const AuditReport = shape('SearchAudit', {
  ok: Type.Boolean({ description: 'nothing was found, and every collection was looked at' }),
  collections: Type.Array(AuditedCollection),
  findings: Type.Array(AuditFinding),
})
export type AuditReport = Row<typeof AuditReport>

export const Synonyms = shape('Synonyms', {
  word: Text,
  synonyms: Type.Array(Text),
  created_by: Text,
  created_at: Timestamp,
})
export type Synonyms = Row<typeof Synonyms>

export const MissedLog = shape(
  'MissedLog',
  {
    on: Type.Boolean(),
    days: Type.Integer({ description: 'how long a question stays after it was asked last' }),
    questions: Count,
  },
  { description: 'whether questions without hits are logged' },
)
export type MissedLog = Row<typeof MissedLog>

export const MissedQuestion = shape('MissedQuestion', {
  question: Text,
  times: Count,
  first_at: Timestamp,
  last_at: Timestamp,
})
export type MissedQuestion = Row<typeof MissedQuestion>
