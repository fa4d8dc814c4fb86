/** Finds anything by its name or id, as far as the caller may see. For people: a few results of each kind, the newest first. */
import { UUID } from '../kernel/ids.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, Text, TextOrNull, Type } from '../kernel/schema.ts'

const KINDS = [
  'change',
  'upload',
  'record',
  'job',
  'execution',
  'event',
  'unit',
  'playbook',
  'dataset',
] as const

export const Found = shape('Found', {
  kind: Type.Enum(KINDS),
  id: Type.String({ description: 'its id; of a change its number, of a playbook or dataset its name' }),
  title: Text,
  detail: TextOrNull,
})
export type Found = Row<typeof Found>

/** Of one kind. */
const MAX_FOUND = 5
/** Names are looked for among this many, the newest. */
const MAX_SEARCHED = 10_000
export const MAX_QUERY = 200

interface Source {
  readonly kind: Found['kind']
  /** Whoever may not read it finds nothing of this kind. */
  readonly table: string
  /** What is asked by: a part of the name, a whole uuid, or digits. */
  readonly by: Partial<Record<'name' | 'uuid' | 'digits', string>>
}

// $1 is what is looked for: a pattern for ILIKE, a uuid, or a number.
const SOURCES: readonly Source[] = [
  {
    kind: 'change',
    table: 'iu_core.change',
    by: {
      name: `select number::text as id, coalesce(title, '#' || number) as title, kind || ', ' || status as detail
               from (select * from iu_core.change order by change_id desc limit ${MAX_SEARCHED}) c where title ilike $1`,
      uuid: `select number::text as id, coalesce(title, '#' || number) as title, kind || ', ' || status as detail
               from iu_core.change where change_id = $1::uuid or subject_id = $1::uuid`,
      digits: `select number::text as id, coalesce(title, '#' || number) as title, kind || ', ' || status as detail
                 from iu_core.change where number::text = $1`,
    },
  },
  {
    kind: 'upload',
    table: 'iu_core.ingest_upload',
    by: {
      name: `select upload_id::text as id, file_name as title, status as detail
               from (select * from iu_core.ingest_upload order by upload_id desc limit ${MAX_SEARCHED}) u
              where file_name ilike $1 order by upload_id desc`,
      uuid: 'select upload_id::text as id, file_name as title, status as detail from iu_core.ingest_upload where upload_id = $1::uuid',
    },
  },
  {
    kind: 'record',
    table: 'iu_core.iu_staging_record',
    by: {
      name: `select staging_record_id::text as id, purpose as title, lifecycle_status as detail
               from (select * from iu_core.iu_staging_record order by staging_record_id desc limit ${MAX_SEARCHED}) r
              where purpose ilike $1 order by staging_record_id desc`,
      uuid: `select staging_record_id::text as id, purpose as title, lifecycle_status as detail
               from iu_core.iu_staging_record where staging_record_id = $1::uuid`,
    },
  },
  {
    kind: 'unit',
    table: 'iu_core.information_unit',
    by: {
      name: `select unit_id::text as id, title, canonical_address as detail
               from (select * from iu_core.information_unit order by unit_id desc limit ${MAX_SEARCHED}) u
              where title ilike $1 or canonical_address ilike $1 order by unit_id desc`,
      uuid: 'select unit_id::text as id, title, canonical_address as detail from iu_core.information_unit where unit_id = $1::uuid',
    },
  },
  {
    kind: 'job',
    table: 'iu_core.job_queue',
    by: {
      uuid: `select job_id::text as id, job_kind as title, null::text as detail from iu_core.job_queue where job_id = $1::uuid
             union all select job_id::text, job_kind, 'ended' from iu_core.job_history where job_id = $1::uuid
             union all select job_id::text, job_kind, 'dead' from iu_core.job_dead_letter where job_id = $1::uuid`,
    },
  },
  {
    kind: 'execution',
    table: 'noetl.execution',
    by: {
      digits: `select x.execution_id::text as id, coalesce(c.path, 'execution') as title, x.status as detail
                 from noetl.execution x left join noetl.catalog c using (catalog_id)
                where length($1) < 19 and x.execution_id = $1::bigint`,
    },
  },
  {
    kind: 'event',
    table: 'iu_core.event_outbox',
    by: {
      uuid: `select id::text, event_domain || '.' || event_type as title, event_subject_ref as detail
               from iu_core.event_outbox where id = $1::uuid`,
    },
  },
  {
    kind: 'playbook',
    table: 'noetl.catalog',
    by: {
      name: `select distinct on (path) path as id, path as title, 'version ' || version as detail
               from noetl.catalog where path ilike $1 order by path, version desc`,
    },
  },
  {
    kind: 'dataset',
    table: 'iu_core.ingest_dataset',
    by: {
      name: `select dataset as id, title, dataset as detail from iu_core.ingest_dataset
              where title ilike $1 or dataset ilike $1 order by dataset`,
    },
  },
]

/** `#128` and `128` are the number of a change. */
export async function find(db: Queryable, text: string): Promise<Found[]> {
  const asked = text.trim()
  if (asked === '') return []
  const readable = await readableTables(db)
  const found: Found[] = []
  for (const { kind, table, by } of SOURCES) {
    if (!readable.has(table)) continue
    for (const [sql, value] of questions(by, asked)) {
      const { rows } = await db.query<Omit<Found, 'kind'>>(
        `select * from (${sql}) found limit ${MAX_FOUND}`,
        [value],
      )
      found.push(...rows.map((row) => ({ kind, ...row })))
    }
  }
  return found
}

function questions(by: Source['by'], asked: string): [sql: string, value: string][] {
  const digits = asked.replace(/^#/, '')
  if (UUID.test(asked)) return by.uuid ? [[by.uuid, asked]] : []
  const questions: [string, string][] = []
  if (by.digits && /^\d{1,18}$/.test(digits)) questions.push([by.digits, digits])
  if (by.name && !asked.startsWith('#')) questions.push([by.name, `%${asked.replace(/[\\%_]/g, '\\$&')}%`])
  return questions
}

/** Agents may not read every table, and not every installation has every one. */
async function readableTables(db: Queryable): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `select name from unnest($1::text[]) name
      where case when to_regclass(name) is not null then has_table_privilege(name, 'select') end`,
    [SOURCES.map(({ table }) => table)],
  )
  return new Set(rows.map(({ name }) => name))
}
