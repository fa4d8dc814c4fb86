/** Access control, read from the catalogue: rules that hold for every function, view and table of ours, also future ones. */
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

/** Roles that people and agents act under; back-end roles (service_role, dot_executor, …) act in every workspace. */
const PEOPLE = ['anon', 'authenticated', 'stagedoor_agent', 'stagedoor_reviewer', 'vector_worker', 'directus']

/** Definer functions that people may call though they do not begin with require_member, and why. */
const MEMBERSHIP_PRIMITIVES = {
  'iu_core.fn_i_operate_everywhere()': 'takes no argument and answers about the actor',
  'iu_core.fn_my_administered_members()': 'takes no argument and answers about the actor',
  'iu_core.require_member(uuid,text)': 'it is the check itself',
  'iu_core.fn_my_workspaces()': 'the right-hand side of every policy: only the workspaces of whoever acts',
  'iu_core.fn_my_workspaces_as_person()': 'the same for policies that leave agents out: it takes no argument',
  'iu_core.fn_search_row_is_mine(uuid)': 'of a policy: only what is of the workspaces of whoever acts',
  'iu_core.fn_my_memberships()': 'the same with names and roles: it takes no argument and shows only the own',
  'iu_core.fn_my_token_creator()': 'who created the token that acts: it takes no argument',
  'iu_core.fn_my_token_names(text[])': 'names of tokens, only of the workspaces of whoever acts',
  'iu_core.fn_system_issue_summaries(integer,uuid)':
    'kinds, counts and times of issues, only of the workspaces of whoever acts',
  'iu_core.fn_gate_open(text)': 'vector_worker asks a shared switch, which has no workspace',
}

/** Definer functions of the worker of search alone: it projects every workspace, and has no right on what is staged. */
const SEARCH_WORKER = [
  ...['activate', 'backfill', 'cancel', 'create', 'delete'].map((name) => `fn_search_collection_${name}`),
  ...['ensure', 'nearest', 'put', 'delete'].map((name) => `fn_search_pgvector_${name}`),
  ...['claim', 'complete', 'fail', 'put', 'release'].map((name) => `fn_vector_${name}`),
  ...['confirm_removed', 'confirm_written', 'delete', 'reject', 'store'].map(
    (name) => `fn_vector_points_${name}`,
  ),
  ...['cost_add', 'generation_add', 'reanalyse', 'text_put'].map((name) => `fn_search_${name}`),
  ...['row_sources_of_all', 'rows_are_many', 'rows_collect', 'rows_refresh'].map(
    (name) => `fn_search_${name}`,
  ),
  ...['table_scan_begin', 'table_scan_put', 'table_sweep', 'table_tree', 'tables_verify'].map(
    (name) => `fn_search_${name}`,
  ),
].map((name) => `iu_core.${name}`)

/** `perform iu_core.require_member(…)`, or its result assigned, before anything else happens; require_starter, that of a unit and those of what all workspaces share ask in turn. */
const CHECKS_FIRST =
  /\bbegin\s+(?:--[^\n]*\s+)*(?:perform\s+|\w+\s*:=\s*)(?:iu_core\.(?:fn_unit_)?require_member(?:_everywhere|_somewhere)?|noetl\.require_starter)\s*\(/i

interface Routine {
  signature: string
  owner: string
  definer: boolean
  config: string[] | null
  public_may: boolean
  people_may: string[]
  body: string
}

async function routines(client: Pick<pg.Client, 'query'>): Promise<Routine[]> {
  const { rows } = await client.query<Routine>(
    `select p.oid::regprocedure::text as signature, p.proowner::regrole::text as owner, p.prosecdef as definer,
            p.proconfig as config, p.prosrc as body,
            exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                     where a.grantee = 0 and a.privilege_type = 'EXECUTE') as public_may,
            array(select r from unnest($1::text[]) as r where has_function_privilege(r, p.oid, 'execute')) as people_may
       from pg_proc p
      where p.pronamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace)
         or (p.pronamespace = 'public'::regnamespace and p.proowner = 'workflow_admin'::regrole)
      order by 1`,
    [PEOPLE],
  )
  return rows
}

const failing = (all: Routine[], rule: (routine: Routine) => boolean): string[] =>
  all.filter((routine) => !rule(routine)).map((routine) => routine.signature)

const belongsToOwner = (routine: Routine) => routine.owner === 'workflow_admin'
const isClosedToPublic = (routine: Routine) => !routine.public_may
const hasFixedPath = (routine: Routine) =>
  !routine.definer || (routine.config ?? []).includes('search_path=pg_catalog, pg_temp')
const isOfSearchWorker = ({ signature, people_may }: Routine) =>
  people_may.every((role) => role === 'vector_worker') && SEARCH_WORKER.includes(signature.split('(')[0]!)
const checksMembership = (routine: Routine) =>
  !routine.definer ||
  routine.people_may.length === 0 ||
  isOfSearchWorker(routine) ||
  routine.signature in MEMBERSHIP_PRIMITIVES ||
  CHECKS_FIRST.test(routine.body)

describe('every function of ours', () => {
  it.each([
    ['belongs to workflow_admin', belongsToOwner],
    ['cannot be executed by PUBLIC', isClosedToPublic],
    ['has a fixed search_path, pg_catalog first and pg_temp last, if it is a definer function', hasFixedPath],
    ['begins with require_member if it is a definer function that people may call', checksMembership],
  ])('%s', async (_, rule) => {
    const all = await routines(db.pool('postgres'))
    expect(all.length).toBeGreaterThan(15)
    expect(failing(all, rule)).toEqual([])
  })

  it.each(Object.entries(MEMBERSHIP_PRIMITIVES))('%s is an exception that exists: %s', async (signature) => {
    const routine = (await routines(db.pool('postgres'))).find((one) => one.signature === signature)
    expect(routine).toMatchObject({ definer: true })
    expect(routine!.people_may).not.toEqual([])
  })

  it('would be reported if it broke a rule', async () => {
    const session = await db.session('postgres')
    await session.query('begin')
    await session.query(`
      create function iu_core.leak(p_workspace_id uuid) returns bigint language plpgsql security definer
      set search_path = iu_core, pg_catalog as $$
      begin
        if p_workspace_id is null then return 0; end if;
        perform iu_core.require_member(p_workspace_id, 'read');
        return (select count(*) from iu_core.event_outbox);
      end $$;
      grant execute on function iu_core.leak(uuid) to stagedoor_agent;
      create function iu_core.sound(p_workspace_id uuid) returns void language plpgsql security definer
      set search_path = pg_catalog, pg_temp as $$
      begin
        -- The doorman first.
        perform iu_core.require_member(p_workspace_id, 'read');
      end $$;
      revoke all on function iu_core.sound(uuid) from public;
      alter function iu_core.sound(uuid) owner to workflow_admin;
      grant execute on function iu_core.sound(uuid) to authenticated`)
    const all = await routines(session)
    await session.query('rollback')
    for (const rule of [belongsToOwner, isClosedToPublic, hasFixedPath, checksMembership]) {
      expect(failing(all, rule)).toEqual(['iu_core.leak(uuid)'])
    }
  })
})

it('makes every view security_invoker, so that it cannot see through row security', async () => {
  const views = await db.owner<{ view: string; options: string[] | null }>(
    `select oid::regclass::text as view, reloptions as options from pg_class
      where relkind = 'v' and (relnamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace)
                               or relowner = 'workflow_admin'::regrole)`,
  )
  expect(views.length).toBeGreaterThan(0)
  expect(views.filter(({ options }) => !options?.includes('security_invoker=true'))).toEqual([])
})

it('has row security on for every table of ours, partitions and history too, and every table is the owner’s', async () => {
  const tables = await db.owner<{ name: string; on: boolean; owner: string }>(
    `select oid::regclass::text as name, relrowsecurity as on, relowner::regrole::text as owner from pg_class
      where relkind in ('r', 'p') and (relnamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace)
                                       or relowner = 'workflow_admin'::regrole)`,
  )
  expect(tables.length).toBeGreaterThan(15)
  expect(tables.filter((table) => !table.on || table.owner !== 'workflow_admin')).toEqual([])
})

it('has no materialized view, foreign table or rule, which row security does not reach', async () => {
  expect(
    await db.owner(
      `select oid::regclass from pg_class
        where relnamespace in ('iu_core'::regnamespace, 'noetl'::regnamespace) and relkind in ('m', 'f')`,
    ),
  ).toEqual([])
})

it('lets agents execute nothing that decides', async () => {
  const all = await routines(db.pool('postgres'))
  expect(
    all.filter((routine) => routine.people_may.includes('stagedoor_agent')).map((one) => one.signature),
  ).toEqual([
    'iu_core.fn_actor()',
    'iu_core.fn_actor_for(text)',
    // Asks, and uses what people approved of its own requests, once: test/staging/approvals.
    'iu_core.fn_approval_finish(uuid,text,text)',
    'iu_core.fn_approval_get(uuid)',
    'iu_core.fn_approval_outcome(uuid)',
    'iu_core.fn_approval_request(jsonb,uuid,text,text)',
    'iu_core.fn_approval_use(uuid,text,text)',
    'iu_core.fn_blob_register(uuid,text,bigint,text)',
    'iu_core.fn_caller_is_service()',
    'iu_core.fn_caller_role()',
    // Comments, and title, description, labels and reviewers of its own changes; only threads that it began are its to resolve.
    'iu_core.fn_change_approvers(uuid)',
    'iu_core.fn_change_approvers_of(uuid[])',
    'iu_core.fn_change_changes_requested(text,uuid,text)',
    'iu_core.fn_change_comment(uuid,text,uuid,text,integer,text,text)',
    'iu_core.fn_change_comment_delete(uuid,text)',
    'iu_core.fn_change_comment_update(uuid,text,text)',
    'iu_core.fn_change_edit(uuid,text,text,text[],text)',
    'iu_core.fn_change_reviewers_set(uuid,text[],text[],text)',
    'iu_core.fn_change_thread_resolve(uuid,boolean,text)',
    'iu_core.fn_change_undo_open(uuid)',
    // What a cut would do: nothing is changed.
    'iu_core.fn_cut_preview(uuid,jsonb)',
    'iu_core.fn_ingest_begin(uuid,text,text,text,text,bigint,uuid,text,jsonb,text,jsonb,text)',
    'iu_core.fn_ingest_discard(uuid,text)',
    'iu_core.fn_ingest_limits(uuid)',
    'iu_core.fn_ingest_lookup_unknown(uuid,text,text,text[])',
    // Which plans are outdated, among the uploads that they see.
    'iu_core.fn_ingest_outdated(uuid[])',
    'iu_core.fn_ingest_plan(uuid,text,numeric,text,text,text,text)',
    // What planning again would ask: nothing is changed.
    'iu_core.fn_ingest_plan_conflicts(uuid,text,numeric,integer,text)',
    // What a plan of theirs says, as an object.
    'iu_core.fn_ingest_plan_image(jsonb,iu_core.ingest_plan_row)',
    // What the rows of a plan of theirs are called.
    'iu_core.fn_ingest_plan_row_names(uuid,integer[],integer[])',
    'iu_core.fn_ingest_plan_since(uuid,text)',
    'iu_core.fn_ingest_plan_stale(uuid,integer,text,boolean)',
    // Where the file of an upload is that they opened just now; and a file of theirs that failed is read again.
    'iu_core.fn_ingest_queue_reading(uuid,uuid,text,text,text,jsonb,uuid,boolean)',
    'iu_core.fn_ingest_read_options_forget(uuid,text,text,text,text)',
    'iu_core.fn_ingest_retry(uuid,text)',
    'iu_core.fn_ingest_risk(uuid)',
    'iu_core.fn_ingest_submit(uuid,text,text)',
    'iu_core.fn_iu_staging_checklist(uuid)',
    'iu_core.fn_iu_staging_checklist_items(jsonb)',
    'iu_core.fn_iu_staging_create(text,text,text,text,text,text,text,jsonb[],timestamp with time zone,uuid,jsonb,uuid[],boolean)',
    'iu_core.fn_iu_staging_key(text[])',
    'iu_core.fn_iu_staging_withdraw(uuid)',
    // What a text that they bring leaves out: nothing is changed.
    'iu_core.fn_mark_left_out(bytea,jsonb)',
    'iu_core.fn_my_memberships()',
    'iu_core.fn_my_token_creator()',
    'iu_core.fn_my_token_names(text[])',
    'iu_core.fn_my_workspaces()',
    // What its own changes need, and who has approved.
    'iu_core.fn_proposal_admit(uuid,text)',
    'iu_core.fn_proposal_tables(uuid)',
    'iu_core.fn_review_requirement(uuid)',
    'iu_core.fn_search_allowed_ids(uuid,jsonb,integer)',
    'iu_core.fn_search_analyse(text,text,boolean)',
    'iu_core.fn_search_analysis()',
    'iu_core.fn_search_analyzer(text)',
    'iu_core.fn_search_chunk_lexemes(uuid,uuid[])',
    'iu_core.fn_search_completions(uuid,text,integer)',
    'iu_core.fn_search_context(uuid,uuid[])',
    'iu_core.fn_search_documents(uuid,text[])',
    'iu_core.fn_search_filter_chunks(uuid,jsonb,uuid[])',
    'iu_core.fn_search_filter_documents(uuid,jsonb,text[])',
    'iu_core.fn_search_fold(text)',
    'iu_core.fn_search_hits(uuid,uuid[])',
    'iu_core.fn_search_lexical(uuid,text,integer,jsonb)',
    'iu_core.fn_search_log(uuid)',
    // The log of what found nothing, where the workspace asks for it.
    'iu_core.fn_search_missed_add(uuid,text)',
    'iu_core.fn_search_normalize(text)',
    'iu_core.fn_search_parse(text)',
    'iu_core.fn_search_pending(uuid,text,integer,jsonb)',
    'iu_core.fn_search_question(uuid,text[],boolean)',
    'iu_core.fn_search_reads_marks(text)',
    'iu_core.fn_search_row_facts(uuid,uuid[])',
    'iu_core.fn_search_row_hits(uuid,uuid[])',
    'iu_core.fn_search_row_is_mine(uuid)',
    'iu_core.fn_search_row_is_of(uuid,uuid)',
    'iu_core.fn_search_row_lineage(uuid,text,jsonb)',
    'iu_core.fn_search_row_sources(uuid,uuid[])',
    'iu_core.fn_search_row_texts(uuid,uuid[])',
    'iu_core.fn_search_rows_read(uuid,uuid[])',
    'iu_core.fn_search_scores(uuid,text,uuid[],jsonb)',
    'iu_core.fn_search_sources(uuid,uuid[],uuid[])',
    'iu_core.fn_search_space(text,boolean)',
    'iu_core.fn_search_stamp(uuid)',
    'iu_core.fn_search_synonyms(uuid,integer,text)',
    'iu_core.fn_search_texts(uuid,uuid[],uuid[])',
    'iu_core.fn_search_unknown_words(uuid,text[])',
    'iu_core.fn_search_why(uuid,text,uuid[])',
    'iu_core.fn_search_words(text,text)',
    'iu_core.fn_search_written(uuid,text[],uuid[],text[])',
    // Kinds, counts and times of the issues of its workspaces; their texts stay with people.
    'iu_core.fn_system_issue_summaries(integer,uuid)',
    'iu_core.fn_text_language(text)',
    'iu_core.fn_time_uuid()',
    'iu_core.fn_time_uuid_floor(timestamp with time zone)',
    // What its policies let them see.
    'iu_core.fn_unit_read(uuid,uuid,text,integer,timestamp with time zone)',
    'iu_core.require_member(uuid,text)',
    // What runs, what begins, and the items of a loop, of executions that they see.
    'noetl.fn_execution_running(bigint,integer)',
    'noetl.fn_execution_starting(bigint)',
    'noetl.fn_loop_items(bigint,text,text,integer,integer)',
    // Arithmetic on ids.
    'noetl.fn_loop_progress(bigint,text)',
    'noetl.fn_shard_of(bigint)',
    'noetl.fn_snowflake_floor(timestamp with time zone)',
    'noetl.fn_snowflake_time(bigint)',
  ])
})
