/** Changes: found by number or id, listed, edited, with their reviewers and history. Thin over the SQL functions, which hold every rule. */
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import {
  Change,
  type ChangeDifference,
  ChangeHistoryEntry,
  type ChangeKind,
  type ChangeStatus,
  ChangeSummary,
} from './shapes.ts'

export type { ChangeDifference } from './shapes.ts'

/** `#128` or `128`. */
export const CHANGE_NUMBER = /^#?([1-9][0-9]{0,8})$/

export interface ChangeFilter {
  readonly workspaceId?: string | undefined
  readonly status?: readonly ChangeStatus[] | undefined
  readonly kind?: ChangeKind | undefined
  /** A user id, or `me`. */
  readonly author?: string | undefined
  /** Whose review is requested, by name or by a group that they are in: a user id, or `me`. */
  readonly reviewer?: string | undefined
  readonly label?: string | undefined
  readonly dataset?: string | undefined
  readonly limit: number
  /** The change_id of the last one of the page before. */
  readonly after?: string | undefined
}

/** Also who is in a group that is asked. An agent is in none and reads none. */
async function groupsOf(db: Queryable, { reviewer }: ChangeFilter): Promise<string> {
  if (reviewer === undefined) return ''
  const { rows } = await db.query<{ may: boolean }>(
    `select has_table_privilege('iu_core.member_group_member', 'select') as may`,
  )
  return rows[0]!.may
    ? `or lower(r.group_name) in (select lower(g.group_name) from iu_core.member_group_member g
                                   where g.workspace_id = v_change.workspace_id
                                     and g.member = case $5 when 'me' then iu_core.fn_actor() else $5 end)`
    : ''
}

/** Newest first, as far as the caller may see. */
export async function listChanges(db: Queryable, filter: ChangeFilter): Promise<ChangeSummary[]> {
  const { rows } = await db.query<ChangeSummary>(
    // Once for the page, see listUploads.
    `with page as materialized (
     select ${columnsOf(ChangeSummary, { as: { outdated: 'null::text', approvers: 'null::jsonb' } })} from iu_core.v_change
      where ($1::uuid is null or workspace_id = $1) and ($2::text[] is null or status = any ($2))
        and ($3::text is null or kind = $3)
        and ($4::text is null or author = case $4 when 'me' then iu_core.fn_actor() else $4 end)
        and ($5::text is null or change_id in (select r.change_id from iu_core.change_reviewer r
                                                where r.reviewer = case $5 when 'me' then iu_core.fn_actor() else $5 end
                                                   ${await groupsOf(db, filter)}))
        and ($6::text is null or labels @> array[$6]) and ($7::text is null or dataset = $7)
        and ($8::uuid is null or change_id < $8)
      order by change_id desc limit $9
     )
     select ${columnsOf(ChangeSummary, { from: 'page', as: { outdated: 'o.outdated', approvers: 'a.approvers' } })}
       from page left join iu_core.fn_ingest_outdated(array(select page.subject_id from page where page.kind = 'upload')) o
         on o.upload_id = page.subject_id
       left join iu_core.fn_change_approvers_of(array(select page.subject_id from page)) a on a.subject_id = page.subject_id
      order by page.change_id desc`,
    [
      filter.workspaceId ?? null,
      filter.status ?? null,
      filter.kind ?? null,
      filter.author ?? null,
      filter.reviewer ?? null,
      filter.label ?? null,
      filter.dataset ?? null,
      filter.after ?? null,
      filter.limit,
    ],
  )
  return rows
}

/** By its number (`#128` or `128`), its id, or the id of its upload or record. The review package of an upload finds the upload's. */
export async function requireChange(db: Queryable, given: string, workspaceId?: string): Promise<Change> {
  const [, number] = CHANGE_NUMBER.exec(given) ?? []
  if (number === undefined && !UUID.test(given))
    throw new StagedoorError('change_not_found', { change: given })
  const { rows } = await db.query<Change>(
    `select ${columnsOf(Change, { as: { outdated: OUTDATED } })} from iu_core.v_change where ${number === undefined ? BY_ID : BY_NUMBER}`,
    number === undefined ? [given] : [number, workspaceId ?? null],
  )
  if (rows.length > 1) throw new StagedoorError('change_ambiguous', { number: number! })
  if (!rows[0]) throw new StagedoorError('change_not_found', { change: number ? `#${number}` : given })
  return rows[0]
}

const OUTDATED = '(select o.outdated from iu_core.fn_ingest_outdated(array[v_change.subject_id]) o)'
const BY_NUMBER = 'number = $1 and ($2::uuid is null or workspace_id = $2)'
const BY_ID = `change_id = $1 or subject_id = $1
  or subject_id = (select s.upload_id from iu_core.ingest_submission s where s.staging_record_id = $1)`

/** What is left out stays as it is. `by`: for the back end, which edits for somebody. */
export interface ChangeEdit {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly by?: string | undefined
}

export async function editChange(db: Queryable, changeId: string, edit: ChangeEdit): Promise<void> {
  await db.query('select iu_core.fn_change_edit($1, $2, $3, $4, $5)', [
    changeId,
    edit.title ?? null,
    edit.description ?? null,
    edit.labels ?? null,
    edit.by ?? null,
  ])
}

export interface Reviewers {
  /** User ids. */
  readonly reviewers?: readonly string[] | undefined
  readonly groups?: readonly string[] | undefined
  readonly by?: string | undefined
}

/** Exactly these are asked. Returns how many are new. */
export async function setReviewers(
  db: Queryable,
  changeId: string,
  { reviewers = [], groups = [], by }: Reviewers,
): Promise<number> {
  const { rows } = await db.query<{ added: number }>(
    'select iu_core.fn_change_reviewers_set($1, $2, $3, $4) as added',
    [changeId, reviewers, groups, by ?? null],
  )
  return rows[0]!.added
}

export interface HistoryPage {
  readonly limit: number
  /** The seq of the last entry of the page before. */
  readonly after?: number | undefined
}

/** Oldest first. */
export async function listChangeHistory(
  db: Queryable,
  changeId: string,
  { limit, after = 0 }: HistoryPage,
): Promise<ChangeHistoryEntry[]> {
  const { rows } = await db.query<ChangeHistoryEntry>(
    `select ${columnsOf(ChangeHistoryEntry)} from iu_core.change_history
      where change_id = $1 and seq > $2 order by seq limit $3`,
    [changeId, after, limit],
  )
  return rows
}

/** What differed between changes and their subjects; corrected unless `checkOnly`. For the back end. */
export async function rebuildChanges(
  db: Queryable,
  { checkOnly }: { readonly checkOnly: boolean },
): Promise<ChangeDifference[]> {
  const { rows } = await db.query<ChangeDifference>('select * from iu_core.fn_change_rebuild($1)', [
    checkOnly,
  ])
  return rows
}
