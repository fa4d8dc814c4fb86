/**
 * Routines and views are re-applied when their text changes, all in one transaction; one that only moved to another
 * chapter is left as it is.
 * CREATE OR REPLACE alone is not enough: a changed return type or parameter name is refused, a changed
 * parameter list creates a second function, and old grants stay.
 */
import type pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { ROLES } from './bootstrap.ts'
import type { Routine } from './files.ts'

interface Applied {
  readonly file: string
  readonly kind: Routine['kind']
  readonly schema_name: string
  readonly object_name: string
  readonly hash: string
  readonly definition_hash: string
  /** Hashes of the objects of its name in the database: one, unless somebody dropped it or added an overload. */
  readonly live: readonly string[]
}

interface RoutineChanges {
  /** To be applied: the routine is new, its text has changed, or the database no longer has what it made. */
  readonly changed: readonly Routine[]
  readonly removed: readonly Applied[]
  /** Those of `changed` whose text was applied, and which somebody changed or dropped since. */
  readonly drifted: readonly Routine[]
}

/** How PostgreSQL writes names depends on the search path: always the same one, or equal objects look different. */
const FIXED_PATH = 'set local search_path = pg_catalog, pg_temp'

/** Runs inside the caller's transaction. */
export async function compareRoutines(
  client: pg.Client,
  routines: readonly Routine[],
): Promise<RoutineChanges> {
  await client.query(FIXED_PATH)
  const { rows } = await client.query<Applied>(
    `select file, kind, schema_name, object_name, hash, definition_hash,
            ${liveHashes('kind', 'schema_name', 'object_name')} as live
       from iu_core.schema_routine`,
  )
  const applied = new Map(rows.map((row) => [appliedKey(row), row]))
  const shipped = new Set(routines.map(objectKey))
  const unchanged = (routine: Routine) => applied.get(objectKey(routine))?.hash === routine.hash
  const drifted = routines.filter(
    (routine) => unchanged(routine) && isDrifted(applied.get(objectKey(routine))!),
  )
  return {
    changed: routines.filter((routine) => !unchanged(routine) || drifted.includes(routine)),
    removed: rows.filter((row) => !shipped.has(appliedKey(row))),
    drifted,
  }
}

function objectKey({ kind, schema, name }: Pick<Routine, 'kind' | 'schema' | 'name'>): string {
  return `${kind} ${schema}.${name}`
}

function appliedKey({ kind, schema_name, object_name }: Applied): string {
  return objectKey({ kind, schema: schema_name, name: object_name })
}

/** Another major version writes the same view differently, so hashes of two major versions cannot be compared. */
function isDrifted({ definition_hash, live }: Applied): boolean {
  const comparable = live.every((hash) => major(hash) === major(definition_hash))
  return live.length === 0 || (comparable && !live.includes(definition_hash))
}

const major = (hash: string) => hash.split(':')[0]

/** Runs inside the caller's transaction, as the owner. */
export async function applyRoutines(
  client: pg.Client,
  routines: readonly Routine[],
  changes: RoutineChanges,
): Promise<void> {
  // Bodies may name functions of later chapters.
  await client.query(`set local check_function_bodies = off; ${FIXED_PATH}`)
  const pending = new Set(changes.changed)
  await recordFiles(client, routines)
  for (const removed of changes.removed) {
    const { kind, schema_name: schema, object_name: name } = removed
    const dropped = await drop(client, { kind, schema, name }, routines)
    for (const dependent of dropped) pending.add(dependent)
    await client.query(
      'delete from iu_core.schema_routine where kind = $1 and schema_name = $2 and object_name = $3',
      [kind, schema, name],
    )
  }
  for (;;) {
    const routine = next(routines, pending)
    if (!routine) return
    pending.delete(routine)
    for (const dependent of await applyRoutine(client, routine, routines)) pending.add(dependent)
  }
}

/**
 * The first one in the order of the chapters, which puts each object after those that it depends on. Only a trigger may call a
 * function of a later chapter, which must exist first.
 */
function next(routines: readonly Routine[], pending: ReadonlySet<Routine>): Routine | undefined {
  const waiting = routines.filter((routine) => pending.has(routine))
  const isReady = (routine: Routine) =>
    !waiting.some((other) => other !== routine && makesTriggerOn(routine, other))
  return waiting.find(isReady) ?? waiting[0]
}

/** Whether the text of the first routine creates a trigger that calls the second. */
function makesTriggerOn({ triggerFunctions }: Routine, { schema, name }: Routine): boolean {
  return triggerFunctions.includes(`${schema}.${name}`)
}

/** Returns the routines that were dropped because they depend on it: they must be applied again. */
async function applyRoutine(
  client: pg.Client,
  routine: Routine,
  routines: readonly Routine[],
): Promise<Routine[]> {
  const before = await identities(client, routine)
  await refuseForeign(client, routine, before)
  for (const identity of before) await resetGrants(client, routine, identity)
  let dropped: Routine[] = []
  let recreated = false
  await client.query('savepoint routine')
  try {
    await client.query(routine.sql)
  } catch (error) {
    await client.query('rollback to savepoint routine')
    // Refused replacements: another return type or parameter name, a view that lost a column.
    if (!['42P13', '42P16'].includes((error as { code?: string }).code ?? ''))
      throw migrationFailed(routine, error)
    dropped = await drop(client, routine, routines)
    recreated = true
    try {
      await client.query(routine.sql)
    } catch (failure) {
      throw migrationFailed(routine, failure)
    }
  }
  const after = await identities(client, routine)
  const added = after.filter((identity) => !before.includes(identity))
  if (added.length > 0) {
    for (const old of before.filter((identity) => after.includes(identity))) {
      dropped.push(...(await dropObject(client, routine.kind, old, routines)))
    }
  }
  const [identity] = added.length > 0 ? added : after
  if (!identity) throw migrationFailed(routine, new Error('its text created no object of its name'))
  if (routine.kind !== 'view') await client.query(`revoke all on ${routine.kind} ${identity} from public`)
  await record(client, routine)
  // A new or re-created function has lost the triggers that other routines create on it.
  const isNew = before.length === 0 || added.length > 0 || recreated
  const triggers = isNew
    ? routines.filter((other) => other !== routine && makesTriggerOn(other, routine))
    : []
  return [...dropped, ...triggers]
}

/** Signatures (functions) or the name (views) of the objects in the database that have a routine's name. */
async function identities(
  client: pg.Client,
  routine: Pick<Routine, 'kind' | 'schema' | 'name'>,
): Promise<string[]> {
  const sql =
    routine.kind === 'view'
      ? `select format('%I.%I', n.nspname, c.relname) as identity
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = $1 and c.relname = $2`
      : `select format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as identity
           from pg_proc p join pg_namespace n on n.oid = p.pronamespace
          where n.nspname = $1 and p.proname = $2`
  const { rows } = await client.query<{ identity: string }>(sql, [routine.schema, routine.name])
  return rows.map((row) => row.identity)
}

async function refuseForeign(client: pg.Client, routine: Routine, existing: string[]): Promise<void> {
  if (existing.length === 0) return
  const { rowCount } = await client.query(
    'select from iu_core.schema_routine where kind = $1 and schema_name = $2 and object_name = $3',
    [routine.kind, routine.schema, routine.name],
  )
  if (rowCount === 0)
    throw new StagedoorError('foreign_object', { object: `The ${routine.kind} ${existing[0]!}` })
}

/** A grant that is no longer in the text must be revoked in the database. */
async function resetGrants(client: pg.Client, routine: Routine, identity: string): Promise<void> {
  const others = ROLES.map((role) => role.name).filter((name) => name !== 'workflow_admin')
  const kind = routine.kind === 'view' ? 'table' : routine.kind
  await client.query(`revoke all on ${kind} ${identity} from public, ${others.join(', ')}`)
}

async function drop(
  client: pg.Client,
  routine: Pick<Routine, 'kind' | 'schema' | 'name'>,
  routines: readonly Routine[],
): Promise<Routine[]> {
  const dropped: Routine[] = []
  for (const identity of await identities(client, routine)) {
    dropped.push(...(await dropObject(client, routine.kind, identity, routines)))
  }
  return dropped
}

/** Drops an object with our views and triggers that depend on it. Refuses if an object of somebody else depends on it. */
async function dropObject(
  client: pg.Client,
  kind: Routine['kind'],
  identity: string,
  routines: readonly Routine[],
): Promise<Routine[]> {
  const remade: Routine[] = []
  for (const view of await dependentViews(client, kind, identity)) {
    const routine = routines.find((candidate) => `${candidate.schema}.${candidate.name}` === view)
    if (!routine && !(await isOurs(client, view))) {
      throw inTheWay(`The view ${view}, which uses ${identity},`, identity)
    }
    remade.push(...(await dropObject(client, 'view', view, routines)))
    if (routine) remade.push(routine)
  }
  for (const { trigger, ours } of await dependentTriggers(client, kind, identity)) {
    if (!ours) throw inTheWay(`The trigger ${trigger}, which calls ${identity},`, identity)
    await client.query(`drop trigger ${trigger}`)
  }
  try {
    await client.query(`drop ${kind} if exists ${identity}`)
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string }
    if (code !== '2BP01') throw error
    throw inTheWay(`Something that uses ${identity} (${detail})`, identity, error)
  }
  return remade
}

/** Whether it is a view of an earlier version, which is about to be dropped anyway. */
async function isOurs(client: pg.Client, view: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from iu_core.schema_routine where kind = 'view' and format('%I.%I', schema_name, object_name) = $1`,
    [view],
  )
  return rowCount === 1
}

function inTheWay(object: string, identity: string, cause?: unknown): StagedoorError {
  const hint = `It stands in the way of a new version of ${identity}. Drop it, migrate, and create it again.`
  return new StagedoorError('foreign_object', { object }, { hint, cause })
}

/** None for an object that does not exist any more: it was dropped together with another one. */
async function dependentViews(client: pg.Client, kind: Routine['kind'], identity: string): Promise<string[]> {
  const catalogue = kind === 'view' ? 'pg_class' : 'pg_proc'
  const lookUp = kind === 'view' ? 'to_regclass' : 'to_regprocedure'
  const reference = kind === 'view' ? identity : await signature(client, identity)
  const { rows } = await client.query<{ view: string }>(
    `select distinct format('%I.%I', n.nspname, v.relname) as view
       from pg_depend d
       join pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
       join pg_class v on v.oid = r.ev_class
       join pg_namespace n on n.oid = v.relnamespace
      where d.refclassid = '${catalogue}'::regclass and d.refobjid = ${lookUp}($1) and v.oid <> d.refobjid`,
    [reference],
  )
  return rows.map((row) => row.view)
}

/** A trigger on a table of ours was created by our routines, and those that still create it are applied again. */
async function dependentTriggers(
  client: pg.Client,
  kind: Routine['kind'],
  identity: string,
): Promise<{ trigger: string; ours: boolean }[]> {
  if (kind === 'view') return []
  // A trigger on a partition is dropped together with its parent's trigger.
  const { rows } = await client.query<{ trigger: string; ours: boolean }>(
    `select format('%I on %s', t.tgname, t.tgrelid::regclass) as trigger,
            pg_get_userbyid(c.relowner) = current_user as ours
       from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where t.tgfoid = $1::regprocedure and not t.tgisinternal and t.tgparentid = 0`,
    [await signature(client, identity)],
  )
  return rows
}

/** regprocedure takes types only, without parameter names. */
async function signature(client: pg.Client, identity: string): Promise<string> {
  const { rows } = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) = $1`,
    [identity],
  )
  return rows[0]!.signature
}

/** Records the file of each routine: one that only moved is not applied again. */
async function recordFiles(client: pg.Client, routines: readonly Routine[]): Promise<void> {
  await client.query(
    `update iu_core.schema_routine r set file = s.file
       from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as s (kind, schema_name, object_name, file)
      where (r.kind, r.schema_name, r.object_name) = (s.kind, s.schema_name, s.object_name) and r.file <> s.file`,
    [
      routines.map(({ kind }) => kind),
      routines.map(({ schema }) => schema),
      routines.map(({ name }) => name),
      routines.map(({ file }) => file),
    ],
  )
}

async function record(client: pg.Client, routine: Routine): Promise<void> {
  await client.query(
    `insert into iu_core.schema_routine (file, kind, schema_name, object_name, hash, definition_hash)
     values ($1, $2, $3, $4, $5, (${liveHashes('$2::text', '$3::text', '$4::text')})[1])
     on conflict (kind, schema_name, object_name) do update
       set file = excluded.file, hash = excluded.hash, definition_hash = excluded.definition_hash, applied_at = clock_timestamp()`,
    [routine.file, routine.kind, routine.schema, routine.name, routine.hash],
  )
}

/** SQL for an array of hashes of an object's definition, each with the major version of the server. */
function liveHashes(kind: string, schema: string, name: string): string {
  return `array(
    select current_setting('server_version_num')::int / 10000 || ':' ||
           encode(sha256(convert_to(definition, 'UTF8')), 'hex')
      from (select pg_get_functiondef(p.oid) as definition
              from pg_proc p join pg_namespace n on n.oid = p.pronamespace
             where ${kind} <> 'view' and p.prokind in ('f', 'p') and n.nspname = ${schema} and p.proname = ${name}
            union all
            select concat(pg_get_viewdef(c.oid), c.reloptions)
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where ${kind} = 'view' and c.relkind = 'v' and n.nspname = ${schema} and c.relname = ${name}) as shown)`
}

function migrationFailed(routine: Routine, cause: unknown): StagedoorError {
  if (cause instanceof StagedoorError) return cause
  return new StagedoorError(
    'migration_failed',
    { file: `${routine.file}, ${routine.schema}.${routine.name}`, reason: (cause as Error).message },
    { cause },
  )
}
