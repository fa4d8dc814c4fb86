/** What the caller may do with a record now, and why not. For buttons and messages: the database decides. */
import type { Client } from '../../../db/connection.ts'
import type { Caller } from '../../../db/transaction.ts'
import { WRITES_GATE } from '../../../staging/gate.ts'
import type { ChecklistItem, StagingRecord } from '../../../staging/records.ts'

export interface Standing {
  readonly actor: string
  readonly rights: readonly string[]
  readonly gateOpen: boolean
  /** Of the token. */
  readonly readOnly: boolean
}

/** An agent's token has an agent's rights only, whatever its subject is besides. */
export async function readStanding(
  client: Client,
  workspace: string | null,
  { role, readOnly = false }: Pick<Caller, 'role' | 'readOnly'>,
): Promise<Standing> {
  const { rows } = await client.query<Omit<Standing, 'readOnly'>>(
    `select iu_core.fn_actor() as actor,
            exists (select from iu_core.dot_config where key = $3 and value = 'true') as "gateOpen",
            case when iu_core.fn_caller_is_service() then array['read', 'stage', 'operate', 'review']
                 else array(select unnest(a.rights) from iu_core.fn_my_memberships() m
                              join iu_core.app_role a on a.app_role = m.app_role where m.workspace_id = $1
                            intersect
                            select unnest(a.rights) from iu_core.app_role a
                             where $2 <> 'stagedoor_agent' or a.app_role = 'agent') end as rights`,
    [workspace, role, WRITES_GATE],
  )
  return { ...rows[0]!, readOnly }
}

export interface Permission {
  readonly allowed: boolean
  readonly reason: string | null
}

export function permissions(record: StagingRecord, checklist: readonly ChecklistItem[], standing: Standing) {
  const may = (...reasons: (string | false)[]) =>
    permission(standing.readOnly && 'This token can only read.', ...reasons)
  const right = (name: string) =>
    !standing.rights.includes(name) && `You do not have the right to ${name} in this workspace.`
  const gate = !standing.gateOpen && `The gate ${WRITES_GATE} is closed.`
  const undecided = notPending(record)
  const own =
    record.four_eyes &&
    [record.owner_actor, record.owner_via].some(
      (owner) => owner?.toLowerCase() === standing.actor.toLowerCase(),
    ) &&
    'It is your own; somebody else must decide.'
  const open = checklist.filter((item) => item.required && item.ticked_at === null)
  return {
    tick: may(
      right('review'),
      undecided,
      own,
      checklist.length === 0 && 'The record has no checklist.',
      gate,
    ),
    approve: may(
      right('review'),
      undecided,
      own,
      record.checklist_required &&
        open.length > 0 &&
        `The checklist has open items: ${open.map((item) => item.item_id).join(', ')}.`,
      gate,
    ),
    reject: may(right('review'), undecided, gate),
    withdraw: may(
      record.owner_actor !== standing.actor && 'Only its owner withdraws it.',
      right('stage'),
      undecided,
      gate,
    ),
    consume: may(right('operate'), notConsumable(record), gate),
  }
}

/** The first reason counts. */
function permission(...reasons: (string | false)[]): Permission {
  const reason = reasons.find((candidate) => candidate !== false)
  return { allowed: reason === undefined, reason: reason || null }
}

function notPending(record: StagingRecord): string | false {
  if (record.lifecycle_status !== 'pending') return `It is ${record.lifecycle_status} already.`
  return overdue(record)
}

function notConsumable(record: StagingRecord): string | false {
  if (record.lifecycle_status === 'approved') return overdue(record)
  if (record.lifecycle_status !== 'pending') return `It is ${record.lifecycle_status} already.`
  return record.approval_required ? 'It must be approved first.' : overdue(record)
}

function overdue(record: StagingRecord): string | false {
  return record.expires_at.getTime() <= Date.now() && 'It has expired.'
}
