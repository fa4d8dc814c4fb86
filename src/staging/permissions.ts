/** What the caller may do with a record now, and why not. For buttons and messages: the database decides. */

import { type CallerRights, Permission, permission } from '../gates/caller-rights.ts'
import { WRITES_GATE } from '../gates/gates.ts'
import { shape } from '../kernel/schema.ts'
import type { ChecklistItem, StagingRecord } from './shapes.ts'

export const StagingPermissions = shape(
  'StagingPermissions',
  { tick: Permission, approve: Permission, reject: Permission, withdraw: Permission, consume: Permission },
  { description: 'what you may do with it now' },
)

export function recordPermissions(
  record: StagingRecord,
  checklist: readonly ChecklistItem[],
  caller: CallerRights,
) {
  const may = (...reasons: (string | false)[]) =>
    permission(caller.readOnly && 'This token can only read.', ...reasons)
  const right = (name: string) =>
    !caller.rights.includes(name) && `You do not have the right to ${name} in this workspace.`
  const gate = !caller.gateOpen && `The gate ${WRITES_GATE} is closed.`
  const undecided = notPending(record)
  const own =
    record.four_eyes &&
    [record.owner_actor, record.owner_via].some(
      (owner) => owner?.toLowerCase() === caller.actor.toLowerCase(),
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
      record.owner_actor !== caller.actor && 'Only its owner withdraws it.',
      right('stage'),
      undecided,
      gate,
    ),
    consume: may(right('operate'), notConsumable(record), gate),
  }
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
