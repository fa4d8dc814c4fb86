/** What the caller may do with a change. For buttons and messages: the database decides. */
import type { CallerRights } from '../gates/caller-rights.ts'
import { shape, Type } from '../kernel/schema.ts'
import type { ChangeSummary } from './shapes.ts'

export const ChangePermissions = shape(
  'ChangePermissions',
  {
    comment: Type.Boolean(),
    edit: Type.Boolean({ description: 'title, description, labels and reviewers' }),
    resolve: Type.Boolean({ description: 'every thread; one that you began you can resolve anyway' }),
  },
  { description: 'what you may do with it' },
)

export function changePermissions(change: ChangeSummary, caller: CallerRights) {
  const isAuthor = change.author === caller.actor
  const isReviewer = caller.rights.includes('review')
  const may = (allowed: boolean) => allowed && !caller.readOnly
  return {
    comment: may(caller.rights.includes('read')),
    edit: may(caller.rights.includes('stage') && (isAuthor || isReviewer)),
    // An agent does not operate: it resolves only what it began.
    resolve: may((isAuthor && caller.rights.includes('operate')) || isReviewer),
  }
}
