/** Hits in tables of the user: which rows the caller may read now, what they say, and which promotion wrote them. */
import type { Client } from '../kernel/postgres/connection.ts'
import type { SearchHit } from './shapes.ts'

/** A chunk of a row, read in its table under the caller's rights. */
export interface RowFacts {
  readonly chunk_id: string
  readonly row_id: string
  /** As SQL names it. */
  readonly table_source: string
  readonly key: Readonly<Record<string, string>>
  readonly title: string
  readonly filters: Readonly<Record<string, string>> | null
  readonly vector_state: 'current' | 'pending' | 'error'
  readonly language: string
  readonly is_as_projected: boolean
}

interface CheckedRow extends RowFacts {
  readonly is_visible: boolean
  /** Why the table could not be read. */
  readonly problem: string | null
}

interface CheckedRows {
  readonly visible: readonly RowFacts[]
  /** Chunks that must not be shown. */
  readonly hidden: ReadonlySet<string>
  readonly unreadable: readonly { readonly table: string; readonly problem: string }[]
}

/** Reads the rows of these chunks in their tables, as the role and with the claims of the transaction. Other chunks are ignored. */
export async function visibleRows(
  client: Client,
  workspace: string,
  chunks: readonly string[],
): Promise<CheckedRows> {
  if (chunks.length === 0) return { visible: [], hidden: new Set(), unreadable: [] }
  const { rows } = await client.query<CheckedRow>(
    `select chunk_id, row_id, table_source, key, title, filters, vector_state, language, is_as_projected, is_visible, problem
       from iu_core.fn_search_row_facts($1, $2)`,
    [workspace, chunks],
  )
  const problems = new Map(
    rows.flatMap(({ table_source, problem }) => (problem === null ? [] : [[table_source, problem] as const])),
  )
  return {
    visible: rows.filter(({ is_visible }) => is_visible),
    hidden: new Set(rows.filter(({ is_visible }) => !is_visible).map(({ chunk_id }) => chunk_id)),
    unreadable: [...problems].map(([table, problem]) => ({ table, problem })),
  }
}

/** Tables in search that the caller has no right to read, whether they have hits or not: a hidden row must not be told by a warning. */
export async function deniedTables(client: Client, workspace: string): Promise<string[]> {
  const { rows } = await client.query<{ source: string }>(
    `select format('%I.%I', t.source_schema, t.source_table) as source
       from iu_core.search_table t
       join pg_namespace n on n.nspname = t.source_schema
       join pg_class c on c.relnamespace = n.oid and c.relname = t.source_table
      where (t.workspace_id = $1 or t.workspace_column is not null) and t.state = 'active'
        and not (has_schema_privilege(n.oid, 'usage')
                 and (has_table_privilege(c.oid, 'select')
                      or not exists (select from unnest(t.key_columns || t.text_columns || t.filter_columns
                                                        || array_remove(array[t.title_column, t.workspace_column], null)) as k (name)
                                       join pg_attribute a on a.attrelid = c.oid and a.attname = k.name and not a.attisdropped
                                      where not has_column_privilege(c.oid, a.attnum, 'select'))))
      order by 1`,
    [workspace],
  )
  return rows.map(({ source }) => source)
}

/** By chunk; the row may have been deleted or hidden meanwhile. */
export async function rowTexts(
  client: Client,
  workspace: string,
  chunks: readonly string[],
): Promise<Map<string, string>> {
  if (chunks.length === 0) return new Map()
  const { rows } = await client.query<{ id: string; text: string }>(
    'select id, text from iu_core.fn_search_row_texts($1, $2)',
    [workspace, chunks],
  )
  return new Map(rows.map(({ id, text }) => [id, text]))
}

type Lineage = NonNullable<SearchHit['lineage']>

/** By row: the promotion that wrote it last, if one did and the caller may know. */
export async function lineageOf(
  client: Client,
  workspace: string,
  rows: readonly RowFacts[],
): Promise<Map<string, Lineage>> {
  if (rows.length === 0) return new Map()
  const { rows: found } = await client.query<{ row_id: string; lineage: Lineage | null }>(
    `select r.row_id, iu_core.fn_search_row_lineage($1, r.table_source, r.key) as lineage
       from jsonb_to_recordset($2) as r (row_id text, table_source text, key jsonb)`,
    [workspace, JSON.stringify(rows.map(({ row_id, table_source, key }) => ({ row_id, table_source, key })))],
  )
  return new Map(found.flatMap(({ row_id, lineage }) => (lineage ? [[row_id, lineage] as const] : [])))
}
