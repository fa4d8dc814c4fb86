/** What the caller may do with a unit now, and why not. For buttons and messages: the database decides. */
import { type CallerRights, Permission, permission } from '../gates/caller-rights.ts'
import { shape } from '../kernel/schema.ts'
import type { UnitRecord } from './shapes.ts'

export const UnitPermissions = shape(
  'UnitPermissions',
  {
    edit: Permission,
    profile: Permission,
    enact: Permission,
    supersede: Permission,
    retire: Permission,
    delete: Permission,
    restore: Permission,
    change_kind: Permission,
    move: Permission,
    split: Permission,
    merge: Permission,
  },
  { description: 'what you may do with it now' },
)

export function unitPermissions(
  unit: Pick<UnitRecord, 'lifecycle_status' | 'deleted_at'>,
  caller: CallerRights,
) {
  const { lifecycle_status: status } = unit
  const isDeleted = unit.deleted_at !== null
  const may = (...reasons: (string | false)[]) =>
    permission(caller.readOnly && 'This token can only read.', ...reasons)
  const right = (name: string) =>
    !caller.rights.includes(name) && `You do not have the right to ${name} in this workspace.`
  const deleted = isDeleted && 'It is deleted: restore it first.'
  const only = (...statuses: readonly string[]) =>
    !statuses.includes(status) && `It is ${status}. This is for units that are ${statuses.join(' or ')}.`
  const locked = status !== 'draft' && `It is ${status}: the text of a unit in force does not change.`
  // Only a draft is deleted and restored by those who write units.
  const ownDraft = right(status === 'draft' ? 'operate' : 'review')
  return {
    edit: may(right('operate'), deleted, locked),
    profile: may(right('operate'), deleted, only('draft', 'enacted')),
    enact: may(right('review'), deleted, only('draft')),
    supersede: may(right('review'), deleted, only('enacted')),
    retire: may(right('review'), deleted, only('draft', 'enacted')),
    delete: may(ownDraft, isDeleted && 'It is deleted already.'),
    restore: may(ownDraft, !isDeleted && 'It is not deleted.'),
    change_kind: may(right('review'), deleted, only('draft', 'enacted')),
    move: may(right('operate'), deleted, only('draft', 'enacted')),
    split: may(right('review'), deleted, only('draft', 'enacted')),
    merge: may(right('review'), deleted, only('draft', 'enacted')),
  }
}
