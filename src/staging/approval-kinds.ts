/** Kinds of what programs show for approval: a JSON Schema and a template, for each workspace. */
import { StagedoorError } from '../kernel/errors.ts'
import type { JsonObject } from '../kernel/json.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { ApprovalKind } from './approval-shapes.ts'

export interface NewApprovalKind {
  readonly kind: string
  /** JSON Schema 2020-12; a word that is not checked is refused. */
  readonly schema: JsonObject
  /** Markdown with `{{path}}`. */
  readonly template?: string | undefined
  readonly description?: string | undefined
  /** True: the next revision of a kind that there is. */
  readonly replace?: boolean | undefined
  /** For the back end, which acts for somebody. */
  readonly by?: string | undefined
}

const COLUMNS = columnsOf(ApprovalKind)

export async function setApprovalKind(
  db: Queryable,
  workspace: string,
  { kind, schema, template, description, replace, by }: NewApprovalKind,
): Promise<ApprovalKind> {
  const { rows } = await db.query<ApprovalKind>(
    `select ${COLUMNS} from iu_core.fn_approval_kind_set($1, $2, $3, $4, $5, $6, $7)`,
    [
      workspace,
      kind,
      JSON.stringify(schema),
      template ?? null,
      description ?? null,
      replace ?? false,
      by ?? null,
    ],
  )
  return rows[0]!
}

export async function listApprovalKinds(db: Queryable, workspace: string): Promise<ApprovalKind[]> {
  const { rows } = await db.query<ApprovalKind>(
    `select ${COLUMNS} from iu_core.v_approval_kind where workspace_id = $1 order by kind limit 1000`,
    [workspace],
  )
  return rows
}

export async function requireApprovalKind(
  db: Queryable,
  workspace: string,
  kind: string,
): Promise<ApprovalKind> {
  const { rows } = await db.query<ApprovalKind>(
    `select ${COLUMNS} from iu_core.v_approval_kind where workspace_id = $1 and kind = $2`,
    [workspace, kind],
  )
  if (rows[0]) return rows[0]
  throw new StagedoorError('approval_kind_not_found', { kind })
}

export async function deleteApprovalKind(
  db: Queryable,
  workspace: string,
  kind: string,
  by?: string,
): Promise<void> {
  await db.query('select iu_core.fn_approval_kind_delete($1, $2, $3)', [workspace, kind, by ?? null])
}
