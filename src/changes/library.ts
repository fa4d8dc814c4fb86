/** Changes for programs. */
import type { Client } from '../kernel/postgres/connection.ts'
import * as changes from './changes.ts'
import * as comments from './comments.ts'
import * as inbox from './inbox.ts'
import * as policies from './policies.ts'
import * as reviews from './reviews.ts'
import type { Change, ChangeComment, ChangeHistoryEntry, ChangeSummary, CommentEdit } from './shapes.ts'
import { declineUndo, requestUndo } from './undo-requests.ts'

type Edit = Omit<changes.ChangeEdit, 'by'> & { readonly by: string }

/**
 * What is reviewed: uploads, records that need a decision, cuts of documents. `change` is a number (`'#128'` or `'128'`, with
 * `workspace` where several have it), its id, or the id of its upload or record. Acts as the back end (service_role) for whom `by`
 * names; people act through the API, under their own role.
 */
export interface Changes {
  list(filter?: Partial<changes.ChangeFilter>): Promise<ChangeSummary[]>
  /** Throws change_not_found. */
  get(change: string, options?: { workspace?: string }): Promise<Change>
  /** Title, description, labels; what is left out stays. */
  edit(change: string, edit: Edit): Promise<Change>
  /** Exactly these people and groups are asked for a review. Returns how many are new. */
  setReviewers(change: string, asked: changes.Reviewers & { readonly by: string }): Promise<number>
  history(change: string, page?: Partial<changes.HistoryPage>): Promise<ChangeHistoryEntry[]>
  comment(change: string, comment: comments.NewComment & { readonly by: string }): Promise<ChangeComment>
  comments(change: string, page?: Partial<comments.CommentPage>): Promise<ChangeComment[]>
  updateComment(comment: string, body: string, by: string): Promise<ChangeComment>
  deleteComment(comment: string, by: string): Promise<void>
  /** What a comment said before it was edited. */
  commentEdits(comment: string): Promise<CommentEdit[]>
  /** The thread of a comment. Returns whether that is new. */
  resolve(comment: string, by: string): Promise<boolean>
  reopen(comment: string, by: string): Promise<boolean>
  /** Approve, request changes, comment or withdraw. Returns how the change stands: what it needs and what is missing. */
  review(change: string, review: reviews.NewReview & { readonly by: string }): Promise<reviews.ReviewStanding>
  standing(change: string): Promise<reviews.ReviewStanding>
  reviews(change: string): Promise<reviews.ChangeReview[]>
  dismissReview(review: string, reason: string, by: string): Promise<reviews.ReviewStanding>
  /** Asks those who may undo for the undo of a promotion. Returns the comment that says why. */
  requestUndo(change: string, reason: string, by: string): Promise<ChangeComment>
  /** Declines the open request, or withdraws one's own. */
  declineUndo(change: string, by: string, reason?: string): Promise<void>
  /** What concerns a person: what is to be done, and news. */
  inbox(person: string, filter?: Omit<inbox.InboxFilter, 'person'>): Promise<inbox.Inbox>
  /** News as `inbox` listed it; what is to be done is refused. Returns how many marks are new. */
  markRead(person: string, items: readonly inbox.SeenMatter[]): Promise<number>
  /** How many approvals a change needs, and of whom. */
  readonly policies: {
    list(workspace?: string): Promise<policies.ReviewPolicy[]>
    set(
      scope: policies.PolicyScope,
      rules: policies.ReviewRules,
      edit?: policies.PolicyEdit,
    ): Promise<policies.ReviewPolicy>
    remove(scope: policies.PolicyScope, edit?: policies.PolicyEdit): Promise<void>
    /** What the last changes would have needed under these rules. Writes nothing. */
    preview(
      scope: policies.PolicyScope,
      rules: policies.ReviewRules,
      options?: { limit?: number },
    ): Promise<policies.PolicyPreview>
  }
  /** Of members, which a policy may ask for. */
  readonly groups: {
    list(workspace: string): Promise<policies.MemberGroup[]>
    add(workspace: string, group: string, member?: string): Promise<policies.MemberGroup>
    remove(workspace: string, group: string, member?: string): Promise<void>
  }
  /** Compares every change with its subject and corrects what differs; with `checkOnly` it only says it. */
  rebuild(options?: { checkOnly?: boolean }): Promise<changes.ChangeDifference[]>
}

interface ChangesDeps {
  /** One transaction as service_role. */
  service<T>(work: (client: Client) => Promise<T>): Promise<T>
}

export function changesLibrary({ service }: ChangesDeps): Changes {
  const withChange = <T>(given: string, work: (client: Client, change: Change) => Promise<T>): Promise<T> =>
    service(async (client) => work(client, await changes.requireChange(client, given)))
  return {
    list: (filter = {}) => service((client) => changes.listChanges(client, { limit: 50, ...filter })),
    get: (given, { workspace } = {}) => service((client) => changes.requireChange(client, given, workspace)),
    edit: (given, edit) =>
      withChange(given, async (client, { change_id }) => {
        await changes.editChange(client, change_id, edit)
        return changes.requireChange(client, change_id)
      }),
    setReviewers: (given, asked) =>
      withChange(given, (client, { change_id }) => changes.setReviewers(client, change_id, asked)),
    history: (given, page = {}) =>
      withChange(given, (client, { change_id }) =>
        changes.listChangeHistory(client, change_id, { limit: 100, ...page }),
      ),
    comment: (given, comment) =>
      withChange(given, (client, { change_id }) => comments.createComment(client, change_id, comment)),
    comments: (given, page = {}) =>
      withChange(given, (client, { change_id }) =>
        comments.listComments(client, change_id, { limit: 100, ...page }),
      ),
    updateComment: (comment, body, by) =>
      service((client) => comments.updateComment(client, comment, body, by)),
    deleteComment: (comment, by) => service((client) => comments.deleteComment(client, comment, by)),
    commentEdits: (comment) => service((client) => comments.listCommentEdits(client, comment)),
    resolve: (comment, by) => service((client) => comments.resolveThread(client, comment, true, by)),
    reopen: (comment, by) => service((client) => comments.resolveThread(client, comment, false, by)),
    review: (given, review) =>
      withChange(given, (client, { change_id }) => reviews.reviewChange(client, change_id, review)),
    standing: (given) =>
      withChange(given, (client, { change_id }) => reviews.readStanding(client, change_id)),
    reviews: (given) => withChange(given, (client, { change_id }) => reviews.listReviews(client, change_id)),
    dismissReview: (review, reason, by) =>
      service((client) => reviews.dismissReview(client, review, reason, by)),
    requestUndo: (given, reason, by) =>
      withChange(given, (client, { change_id }) => requestUndo(client, change_id, reason, by)),
    declineUndo: (given, by, reason) =>
      withChange(given, (client, { change_id }) => declineUndo(client, change_id, reason, by)),
    inbox: (person, filter = {}) => service((client) => inbox.readInbox(client, { ...filter, person })),
    markRead: (person, items) => service((client) => inbox.markRead(client, items, person)),
    policies: {
      list: (workspace) => service((client) => policies.listReviewPolicies(client, workspace)),
      set: (scope, rules, edit) => service((client) => policies.setReviewPolicy(client, scope, rules, edit)),
      remove: (scope, edit) => service((client) => policies.removeReviewPolicy(client, scope, edit)),
      preview: (scope, rules, options) =>
        service((client) => policies.previewReviewPolicy(client, scope, rules, options)),
    },
    groups: {
      list: (workspace) => service((client) => policies.listGroups(client, workspace)),
      add: (workspace, group, member) =>
        service((client) => policies.addToGroup(client, workspace, group, member)),
      remove: (workspace, group, member) =>
        service((client) => policies.removeFromGroup(client, workspace, group, member)),
    },
    rebuild: ({ checkOnly = false } = {}) =>
      service((client) => changes.rebuildChanges(client, { checkOnly })),
  }
}
