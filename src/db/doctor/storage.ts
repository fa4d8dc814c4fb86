/** Partitions and indexes: what changes while the database lives, and so is in no manifest. */
import type pg from 'pg'
import { OUR_SCHEMAS, OWNER } from './catalogue.ts'
import type { Finding } from './finding.ts'

const DAYS_AHEAD = 30

/** Wherever it is in our schemas: an index that is not valid is kept up to date and never used. */
export async function invalidIndexes(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ index: string; table: string; leftover: boolean; parent: boolean }>(
    `select format('%I.%I', n.nspname, i.relname) as index, format('%I.%I', tn.nspname, t.relname) as table,
            i.relname ~ '_cc(new|old)[0-9]*$' as leftover, i.relkind = 'I' as parent
       from pg_index x
       join pg_class i on i.oid = x.indexrelid
       join pg_namespace n on n.oid = i.relnamespace
       join pg_class t on t.oid = x.indrelid
       join pg_namespace tn on tn.oid = t.relnamespace
      where not (x.indisvalid and x.indisready)
        and (n.nspname = any ($1) or n.nspname = 'public' and pg_get_userbyid(i.relowner) = $2)
      order by 1`,
    [OUR_SCHEMAS, OWNER],
  )
  return rows.map(({ index, table, leftover, parent }) => ({
    kind: 'index',
    object: `index ${index}`,
    problem: parent
      ? `is not valid: a partition of ${table} has no index that belongs to it`
      : 'is not valid: building it was interrupted',
    remedy: leftover
      ? `drop index ${index};`
      : parent
        ? `alter index ${index} attach partition …; -- one for each partition of ${table} that has none, created first`
        : `reindex index ${index};`,
  }))
}

/** A partition is reached through its parent only, so nobody but the owner has a right on it. */
export async function partitionRights(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{
    name: string
    owner: string
    rls: boolean
    grantee: string | null
    privileges: string[]
  }>(
    `select format('%I.%I', n.nspname, c.relname) as name, pg_get_userbyid(c.relowner) as owner, c.relrowsecurity as rls,
            case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as grantee,
            array_remove(array_agg(a.privilege_type order by a.privilege_type), null) as privileges
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       left join lateral aclexplode(c.relacl) as a on a.grantee <> c.relowner
      where n.nspname = any ($1) and c.relispartition and c.relkind in ('r', 'p', 'f')
      group by c.oid, n.nspname, a.grantee
      order by 1, 4`,
    [OUR_SCHEMAS],
  )
  return rows.flatMap(({ name, owner, rls, grantee, privileges }, index) => {
    const object = `partition ${name}`
    const findings: Finding[] = []
    if (grantee !== null) {
      findings.push({
        kind: 'grant',
        object,
        problem: `gives ${privileges.join(', ')} to ${grantee}, past the policies of its parent`,
        remedy: `revoke ${privileges.join(', ')} on table ${name} from ${grantee};`,
      })
    }
    // A partition has a row for each grantee; its own state is told once.
    if (rows[index - 1]?.name === name) return findings
    if (owner !== OWNER) {
      findings.push({
        kind: 'owner',
        object,
        problem: `belongs to ${owner} instead of ${OWNER}`,
        remedy: `alter table ${name} owner to ${OWNER};`,
      })
    }
    if (!rls) {
      findings.push({
        kind: 'rls',
        object,
        problem: 'has row level security off',
        remedy: `alter table ${name} enable row level security;`,
      })
    }
    return findings
  })
}

const PARTITIONED = [
  {
    table: 'iu_core.event_outbox',
    left: 'iu_core.fn_event_partition_days_left',
    maintain: 'iu_core.fn_event_partitions_maintain',
    what: 'event',
  },
  {
    table: 'iu_core.job_history',
    left: 'iu_core.fn_job_history_days_left',
    maintain: 'iu_core.fn_job_history_maintain',
    what: 'end of a job',
  },
  {
    table: 'noetl.event',
    left: 'noetl.fn_execution_partition_days_left',
    maintain: 'noetl.fn_execution_partitions_maintain',
    what: 'event of an execution that begins now',
  },
]

/** Wants the owner's rights. */
export async function partitionsAhead(client: pg.Client): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { table, left, maintain, what } of PARTITIONED) {
    const { rows } = await client.query<{ days: number | null }>(`select ${left}() as days`)
    const days = rows[0]?.days ?? null
    if (days !== null && days >= DAYS_AHEAD) continue
    findings.push({
      kind: 'partitions',
      object: `table ${table}`,
      problem:
        days === null
          ? `has no partition for today: no ${what} can be written`
          : `has partitions for only ${days} more days, and should have ${DAYS_AHEAD} at least`,
      remedy: `select ${maintain}();`,
    })
  }
  return findings
}
