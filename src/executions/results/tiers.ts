/**
 * Results by size: small ones stay in the event (tier eventlog), larger ones are a row (db), the largest a file (disk).
 * Everything is durable before `keep` resolves, so what a later step refers to is there. The results that nobody else needs,
 * those between the tools of one command, are kept nowhere but in the process (tier memory): see run-command.ts.
 */
import type { Pool } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { INLINE_BYTES, type ResultValue } from '../event.ts'
import type { Json } from '../playbook/definition.ts'
import { ToolError } from '../tool.ts'
import { hashOf, isFile, readResult, removeResult, uriOf, writeResult } from './disk.ts'
import type { ResultOrigin, ResultStore } from './store.ts'

export const DB_BYTES = 1024 * 1024
export const MOST_BYTES = 64 * 1024 * 1024

export interface ResultOptions {
  /** Acting as dot_executor. */
  readonly pool: Pool
  /** A folder that every engine of this database sees. Absent: large results are rows as well. */
  readonly home?: string
}

export function createResults({ pool, home }: ResultOptions): ResultStore {
  return {
    async keep(value, origin) {
      const text = JSON.stringify(value)
      const bytes = Buffer.byteLength(text)
      // A copy: whoever made the value may go on changing it.
      if (bytes <= INLINE_BYTES) return { value: copyOf(value, text) }
      if (bytes > MOST_BYTES) throw tooLarge(bytes)
      const ref =
        bytes <= DB_BYTES || home === undefined
          ? await putRow(pool, text, bytes, origin)
          : await putFile(pool, home, text, bytes, origin)
      return { ref, bytes }
    },
    load: (result) => ('value' in result ? Promise.resolve(result.value) : loadRef(pool, home, result.ref)),
  }
}

function copyOf(value: Json, text: string): Json {
  return typeof value === 'object' && value !== null ? (JSON.parse(text) as Json) : value
}

async function putRow(pool: Pool, text: string, bytes: number, origin: ResultOrigin): Promise<string> {
  const { rows } = await pool.query<{ ref: string }>(
    `select noetl.fn_result_put($1, $2, p_body => $3, p_node_name => $4, p_command_id => $5, p_name => $6,
                                p_parent_ref_id => $7)::text as ref`,
    [origin.execution_id, bytes, text, ...namesOf(origin)],
  )
  return rows[0]!.ref
}

async function putFile(
  pool: Pool,
  home: string,
  text: string,
  bytes: number,
  origin: ResultOrigin,
): Promise<string> {
  const { rows } = await pool.query<{ ref: string }>('select noetl.fn_snowflake()::text as ref')
  const { ref } = rows[0]!
  const uri = uriOf(origin.execution_id, ref)
  await writeResult(home, uri, text)
  try {
    await pool.query(
      `select noetl.fn_result_put($1, $2, p_ref_id => $3, p_physical_uri => $4, p_content_hash => $5, p_node_name => $6,
                                  p_command_id => $7, p_name => $8, p_parent_ref_id => $9)`,
      [origin.execution_id, bytes, ref, uri, hashOf(text), ...namesOf(origin)],
    )
  } catch (error) {
    // If the row was written after all and only its answer was lost, nobody has been told of it.
    await removeResult(home, uri).catch(() => {})
    throw error
  }
  return ref
}

function namesOf(origin: ResultOrigin): (string | null)[] {
  return [origin.node_name ?? null, origin.command_id ?? null, origin.name ?? null, origin.parent_ref ?? null]
}

interface Kept {
  readonly store_tier: string
  readonly physical_uri: string | null
  readonly content_hash: Buffer
  readonly collected: boolean
  readonly body: string | null
}

async function loadRef(pool: Pool, home: string | undefined, ref: string): Promise<Json> {
  let kept = await keptAs(pool, ref)
  if (kept?.store_tier === 'eventlog' && !kept.collected) {
    // The results of a loop: put together for whoever reads them first.
    await pool.query('select noetl.fn_loop_results($1)', [ref])
    kept = await keptAs(pool, ref)
  }
  if (kept === undefined || kept.collected) throw new StagedoorError('result_gone', { ref })
  const content = kept.body ?? (await contentOf(home, ref, kept))
  if (!hashOf(content).equals(kept.content_hash)) {
    throw new StagedoorError('internal', {
      reason: `the result ${ref} is not what was kept: its hash differs`,
    })
  }
  return JSON.parse(content.toString()) as Json
}

async function keptAs(pool: Pool, ref: string): Promise<Kept | undefined> {
  const { rows } = await pool.query<Kept>(
    `select r.store_tier, r.physical_uri, r.content_hash, r.collected_at is not null as collected, b.body::text as body
       from noetl.result_ref r left join noetl.result_body b using (ref_id) where r.ref_id = $1`,
    [ref],
  )
  return rows[0]
}

async function contentOf(home: string | undefined, ref: string, kept: Kept): Promise<Buffer> {
  const onDisk = isFile(kept.store_tier)
  const content =
    onDisk && home !== undefined && kept.physical_uri !== null
      ? await readResult(home, kept.physical_uri)
      : undefined
  if (content !== undefined) return content
  const hint = onDisk
    ? `Its file is ${kept.physical_uri} below STAGEDOOR_HOME, which this process does not have. Engines on several machines share that folder.`
    : `It is kept in the tier ${kept.store_tier}, which this process does not read.`
  throw new StagedoorError('result_gone', { ref }, { hint })
}

function tooLarge(bytes: number): ToolError {
  const { message, hint } = new StagedoorError('result_too_large', { bytes, limit: MOST_BYTES })
  return new ToolError(`${message}. ${hint}`)
}

/** For tests, and for runs that nobody else looks at: the tier memory, gone with the process. */
export function createMemoryResults(): ResultStore {
  const kept = new Map<string, string>()
  return {
    async keep(value) {
      const text = JSON.stringify(value)
      const bytes = Buffer.byteLength(text)
      if (bytes <= INLINE_BYTES) return { value: copyOf(value, text) }
      if (bytes > MOST_BYTES) throw tooLarge(bytes)
      const ref = String(kept.size + 1)
      kept.set(ref, text)
      return { ref, bytes }
    },
    async load(result: ResultValue) {
      if ('value' in result) return result.value
      const text = kept.get(result.ref)
      if (text === undefined) throw new StagedoorError('result_gone', { ref: result.ref })
      return JSON.parse(text) as Json
    },
  }
}
