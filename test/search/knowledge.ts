/** Units and documents in search without a worker: each in the state that a test is about. */
import { randomUUID } from 'node:crypto'
import { type SearchAnswer, search } from '../../src/search/query.ts'
import type { SearchRequest } from '../../src/search/question.ts'
import { createVectorSearch, type SearchConfig, type VectorSearch } from '../../src/search/vector-search.ts'
import type { TestDatabase } from '../support/database.ts'
import { type AppRole, createMember, createWorkspace, type Member } from '../support/factories.ts'

export const NOTHING_CONFIGURED: SearchConfig = {
  embeddingsUrl: undefined,
  embeddingsApiKey: undefined,
  embeddingsModel: 'text-embedding-3-small',
  embeddingsDimension: 1536,
  qdrantUrl: undefined,
  qdrantApiKey: undefined,
}

export interface Knowledge {
  readonly workspace: string
  readonly people: Record<AppRole | 'stranger', Member>
  /** A draft that search holds as it is. */
  unit(address: string, body: string, options?: { language?: string; profile?: object }): Promise<string>
  edit(unit: string, body: string): Promise<void>
  /** Of the old knowledge base, in search as it is. */
  document(ref: string, body: string, title?: string): Promise<string>
  /** The unit was cut from the document. */
  cutFrom(unit: string, document: string): Promise<void>
  setUnit(
    unit: string,
    state: 'current+enacted' | 'current' | 'pending' | 'stale' | 'error' | 'retired',
  ): Promise<void>
  setDocument(document: string, state: 'current' | 'stale' | 'error'): Promise<void>
  chunks(source: string): Promise<string[]>
  ask(text: string, options?: Asked): Promise<SearchAnswer>
}

export interface Asked extends Omit<SearchRequest, 'workspaceId' | 'text'> {
  readonly as?: Member
  /** Stands for the leg by meaning: chunk ids, best first. */
  readonly dense?: readonly string[]
  readonly vectorSearch?: VectorSearch
}

export async function createKnowledge(db: TestDatabase): Promise<Knowledge> {
  const workspace = await createWorkspace(db, `Acme ${randomUUID()}`)
  const roles: AppRole[] = ['viewer', 'operator', 'reviewer', 'admin', 'agent']
  const members = await Promise.all(
    roles.map(async (role) => [role, await createMember(db, workspace, role)]),
  )
  const stranger = await createMember(db, await createWorkspace(db, 'Others'), 'admin')
  const people = { ...Object.fromEntries(members), stranger } as Knowledge['people']
  const worker = db.pool('stagedoor_worker')
  const put = (source: object) =>
    worker.query('select iu_core.fn_search_text_put($1)', [JSON.stringify([source])])

  async function projectUnit(unit: string): Promise<void> {
    const [row] = await db.owner<{ version: string; hash: string; length: number }>(
      `select v.unit_version_id as version, v.content_hash as hash, length(v.body) as length
         from iu_core.information_unit u join iu_core.unit_version v on v.unit_version_id = u.current_version_id where u.unit_id = $1`,
      [unit],
    )
    const { version, hash, length } = row!
    await put({ unit_id: unit, version, hash, chunks: [{ from: 0, to: length }] })
    await db.owner(
      `insert into iu_core.unit_vector (unit_id, unit_version_id, content_hash_at_embedding, collection)
       values ($1, $2, $3, 'units_1') on conflict (unit_id) do update
         set unit_version_id = excluded.unit_version_id, content_hash_at_embedding = excluded.content_hash_at_embedding`,
      [unit, version, hash],
    )
    await endOutbox('unit_id', unit, 'done')
  }

  const endOutbox = (column: 'unit_id' | 'document_id', id: string, status: string) =>
    db.owner(
      `insert into iu_core.vector_outbox (${column}, operation, earliest_run_at, status) values ($1, 'upsert', now(), $2)
       on conflict (${column}) where ${column} is not null do update
         set status = excluded.status, leased_until = null, worker_id = null`,
      [id, status],
    )

  async function projectDocument(document: string): Promise<void> {
    const [row] = await db.owner<{ hash: string; length: number }>(
      'select content_hash as hash, length(body) as length from iu_core.kb_document where document_id = $1',
      [document],
    )
    await put({ document_id: document, hash: row!.hash, chunks: [{ from: 0, to: row!.length }] })
    await db.owner(
      `insert into iu_core.search_document_sync (document_id, document_updated_at, content_hash)
       select document_id, updated_at, content_hash from iu_core.kb_document where document_id = $1
       on conflict (document_id) do update set document_updated_at = excluded.document_updated_at, content_hash = excluded.content_hash`,
      [document],
    )
    await endOutbox('document_id', document, 'done')
  }

  return {
    workspace,
    people,
    async unit(address, body, { language = 'en', profile = {} } = {}) {
      const { rows } = await worker.query<{ unit_id: string }>(
        'select unit_id from iu_core.fn_unit_create($1, $2, $3, p_language => $4, p_profile => $5)',
        [workspace, address, body, language, JSON.stringify(profile)],
      )
      await projectUnit(rows[0]!.unit_id)
      return rows[0]!.unit_id
    },
    async edit(unit, body) {
      await worker.query(
        'select iu_core.fn_unit_edit($1, (select version_no from iu_core.information_unit where unit_id = $1), $2)',
        [unit, body],
      )
    },
    async document(ref, body, title = ref) {
      const { rows } = await worker.query<{ id: string }>(
        'select iu_core.fn_document_put($1, $2, $3, $4) as id',
        [workspace, ref, title, body],
      )
      await projectDocument(rows[0]!.id)
      return rows[0]!.id
    },
    async cutFrom(unit, document) {
      await db.owner(
        `insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, position, title, content_hash, cut_run_id)
         select $2, unit_id, canonical_address, 1, title, content_hash, gen_random_uuid() from iu_core.information_unit where unit_id = $1`,
        [unit, document],
      )
    },
    async setUnit(unit, state) {
      if (state === 'current+enacted') {
        await db.as(people.reviewer, (client) =>
          client.query(`select iu_core.fn_unit_enact($1, 1, 'APR-1')`, [unit]),
        )
        await endOutbox('unit_id', unit, 'done')
      }
      if (state === 'pending')
        await db.owner(
          `update iu_core.vector_outbox set status = 'pending', first_enqueued_at = clock_timestamp() where unit_id = $1`,
          [unit],
        )
      if (state === 'stale')
        await db.owner(
          `update iu_core.unit_vector set content_hash_at_embedding = repeat('0', 64) where unit_id = $1`,
          [unit],
        )
      if (state === 'error') await endOutbox('unit_id', unit, 'dead_letter')
      if (state === 'retired') await worker.query('select iu_core.fn_unit_retire($1)', [unit])
    },
    async setDocument(document, state) {
      if (state === 'stale')
        await db.owner(
          `update iu_core.search_document_sync set document_updated_at = document_updated_at - interval '1 day' where document_id = $1`,
          [document],
        )
      if (state === 'error') await endOutbox('document_id', document, 'dead_letter')
    },
    async chunks(source) {
      const rows = await db.owner<{ chunk_id: string }>(
        'select chunk_id from iu_core.search_chunk where coalesce(unit_id, document_id) = $1 order by position',
        [source],
      )
      return rows.map(({ chunk_id }) => chunk_id)
    },
    async ask(text, { as = people.viewer, dense, vectorSearch, ...options } = {}) {
      const own = createVectorSearch({ pool: worker, config: NOTHING_CONFIGURED })
      const standIn: VectorSearch = {
        ...own,
        ...(dense && {
          state: async (id) => ({ ...(await own.state(id)), active: STAND_IN }),
          units: async (_, request) => {
            const only = await request.only
            return { ids: dense.filter((id) => only === undefined || only.includes(id)) }
          },
        }),
      }
      return search(
        { transaction: (work) => db.as(as, work), vectorSearch: vectorSearch ?? standIn },
        { workspaceId: workspace, text, ...options },
      )
    },
  }
}

const STAND_IN = {
  collection: 'units_1',
  embedder: 'lsa',
  model: null,
  dimension: 200,
  generation_id: null,
  store: 'postgres',
} as const
