import { learnNames } from '../people.ts'
import { query } from './query.ts'
import type { Request } from './request.ts'
import type { components } from './types.generated.ts'
import type { Answer } from './types.ts'

export type ChangeSummary = components['schemas']['ChangeSummary']
export type Change = components['schemas']['ChangeDetail']
export type ChangeComment = components['schemas']['ChangeComment']
export type ChangeEntry = components['schemas']['ChangeHistoryEntry']
export type ReviewStanding = components['schemas']['ReviewStanding']
export type UploadRisk = Answer<'getUploadRisk'>
export type ChangeReviews = Answer<'listChangeReviews'>
type ReviewPolicies = Answer<'listReviewPolicies'>
export type PolicyPreview = Answer<'previewReviewPolicy'>
export type Inbox = Answer<'getInbox'>
export type InboxMatter = Inbox['matters'][number]

export type ReviewPolicy = ReviewPolicies['policies'][number]
export type ReviewRules = ReviewPolicy['rules']

/** What a policy is for; what is left out: for all. */
export interface PolicyScope {
  readonly dataset?: string | undefined
  readonly kind?: ReviewPolicy['kind'] | undefined
}

export interface PolicyEdit {
  readonly reason: string
  /** That was read; 0: there is none. */
  readonly revision: number
}

/** A change is named by its number in a workspace. */
export interface ChangeName {
  readonly workspace: string
  readonly number: number
}

export interface NewComment {
  readonly body: string
  readonly reply_to?: string
  readonly row_type?: string
  readonly line?: number
  readonly column?: string
}

export interface ChangesApi {
  list(asked: object): Promise<{ changes: ChangeSummary[]; next: string | null }>
  /** Without a workspace: one's own change with this number; refused where several workspaces have it. */
  find(number: string, workspace?: string): Promise<Change>
  edit(name: ChangeName, edit: { title?: string; description?: string; labels?: string[] }): Promise<Change>
  setReviewers(name: ChangeName, reviewers: readonly string[], groups: readonly string[]): Promise<Change>
  history(name: ChangeName): Promise<{ history: ChangeEntry[]; next: string | null }>
  comments(name: ChangeName): Promise<{ comments: ChangeComment[] }>
  comment(name: ChangeName, comment: NewComment): Promise<unknown>
  editComment(name: ChangeName, id: string, body: string): Promise<unknown>
  deleteComment(name: ChangeName, id: string): Promise<unknown>
  setResolved(name: ChangeName, id: string, isResolved: boolean): Promise<unknown>
  reviews(name: ChangeName): Promise<ChangeReviews>
  review(
    name: ChangeName,
    review: {
      verdict: 'approve' | 'request_changes' | 'comment' | 'withdraw'
      digest?: string
      body?: string
    },
  ): Promise<ReviewStanding>
  /** What concerns the signed-in person; `all`: with news that was read. */
  inbox(all: boolean): Promise<Inbox>
  /** News as it was listed; what came later stays unread. */
  markRead(matters: readonly InboxMatter[]): Promise<unknown>
  requestUndo(name: ChangeName, reason: string): Promise<unknown>
  /** Or withdraws one's own request. */
  declineUndo(name: ChangeName): Promise<unknown>
  groups(workspace: string): Promise<Answer<'listGroups'>>
  /** Adds the group where it is missing. */
  addToGroup(workspace: string, group: string, member?: string): Promise<unknown>
  removeFromGroup(workspace: string, group: string, member?: string): Promise<unknown>
  policies(workspace: string): Promise<ReviewPolicies>
  setPolicy(workspace: string, scope: PolicyScope, rules: ReviewRules, edit: PolicyEdit): Promise<unknown>
  previewPolicy(workspace: string, scope: PolicyScope, rules: ReviewRules): Promise<PolicyPreview>
  removePolicy(workspace: string, scope: PolicyScope, edit: PolicyEdit): Promise<unknown>
  risk(upload: string): Promise<UploadRisk>
}

function groupPath(workspace: string, group: string, member?: string): string {
  const rest = member === undefined ? '' : `/members/${encodeURIComponent(member)}`
  return `/groups/${encodeURIComponent(group)}${rest}?${query({ workspace_id: workspace })}`
}

export function createChangesApi(request: Request): ChangesApi {
  const at = ({ workspace, number }: ChangeName, rest = '', more: object = {}) =>
    `/changes/${number}${rest}?${query({ workspace_id: workspace, ...more })}`
  const named = async <T extends { people: Record<string, string> }>(answer: Promise<T>): Promise<T> => {
    const got = await answer
    learnNames(got.people)
    return got
  }
  return {
    list: (asked) =>
      named(
        request<{ changes: ChangeSummary[]; next: string | null; people: Record<string, string> }>(
          `/changes?${query(asked)}`,
        ),
      ),
    find: (number, workspace) =>
      named(request<Change>(`/changes/${encodeURIComponent(number)}?${query({ workspace_id: workspace })}`)),
    edit: (name, edit) => named(request<Change>(at(name), { method: 'PATCH', body: edit })),
    setReviewers: (name, reviewers, groups) =>
      named(request<Change>(at(name, '/reviewers'), { method: 'PUT', body: { reviewers, groups } })),
    history: (name) =>
      named(
        request<{ history: ChangeEntry[]; next: string | null; people: Record<string, string> }>(
          at(name, '/history', { limit: 500 }),
        ),
      ),
    // All of them: a count on a row must not leave any out. There are at most 5,000.
    comments: async (name) => {
      const comments: ChangeComment[] = []
      let after: string | undefined
      do {
        const page: { comments: ChangeComment[]; next: string | null; people: Record<string, string> } =
          await named(request(at(name, '/comments', { limit: 500, after })))
        comments.push(...page.comments)
        after = page.next ?? undefined
      } while (after !== undefined)
      return { comments }
    },
    comment: (name, body) => request(at(name, '/comments'), { method: 'POST', body }),
    editComment: (name, id, body) =>
      request(at(name, `/comments/${id}`), { method: 'PATCH', body: { body } }),
    deleteComment: (name, id) => request(at(name, `/comments/${id}`), { method: 'DELETE' }),
    setResolved: (name, id, isResolved) =>
      request(at(name, `/comments/${id}/${isResolved ? 'resolve' : 'reopen'}`), { method: 'POST' }),
    reviews: (name) => named(request<ChangeReviews>(at(name, '/reviews'))),
    review: (name, review) => request(at(name, '/review'), { method: 'POST', body: review }),
    inbox: (all) => named(request<Inbox>(`/inbox?${query({ limit: 200, ...(all && { all }) })}`)),
    markRead: (matters) =>
      request('/inbox/read', {
        method: 'POST',
        body: { matters: matters.map(({ change_id, matter, seen }) => ({ change_id, matter, seen })) },
      }),
    requestUndo: (name, reason) => request(at(name, '/undo-request'), { method: 'POST', body: { reason } }),
    declineUndo: (name) => request(at(name, '/undo-request/decline'), { method: 'POST', body: {} }),
    groups: (workspace) =>
      named(request<Answer<'listGroups'>>(`/groups?${query({ workspace_id: workspace })}`)),
    addToGroup: (workspace, group, member) => request(groupPath(workspace, group, member), { method: 'PUT' }),
    removeFromGroup: (workspace, group, member) =>
      request(groupPath(workspace, group, member), { method: 'DELETE' }),
    policies: (workspace) =>
      named(request<ReviewPolicies>(`/review-policies?${query({ workspace_id: workspace })}`)),
    setPolicy: (workspace_id, scope, rules, { reason, revision }) =>
      request('/review-policies', {
        method: 'PUT',
        body: { workspace_id, ...scope, rules, revision, ...(reason && { reason }) },
      }),
    previewPolicy: (workspace_id, scope, rules) =>
      request('/review-policies/preview', { method: 'POST', body: { workspace_id, ...scope, rules } }),
    removePolicy: (workspace_id, scope, { reason, revision }) =>
      request(`/review-policies?${query({ workspace_id, ...scope, revision, ...(reason && { reason }) })}`, {
        method: 'DELETE',
      }),
    risk: (upload) => request(`/uploads/${upload}/risk`),
  }
}
