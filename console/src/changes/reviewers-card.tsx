import { useState } from 'react'
import type { Change, ReviewStanding } from '../api/changes.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'
import { nameOf, useReviews } from './use-change.ts'
import './changes.css'

const IN_REVIEW = ['open', 'changes_requested', 'approved']

/** Who was asked, who has said what about exactly this plan, what the policy asks for and what is missing. */
export function ReviewersCard({ change, changed }: { change: Change; changed(): void }) {
  const { api, me } = useSession()
  const [asking, setAsking] = useState<'reviewers' | 'changes' | 'withdraw'>()
  const name = nameOf(change)
  const reviews = useReviews(change)
  const standing = reviews.data?.standing
  const rights = me.workspaces.find(({ id }) => id === change.workspace_id)?.rights ?? []
  const isInReview = IN_REVIEW.includes(change.status)
  const mayRequest = isInReview && rights.includes('review') && change.author !== me.actor
  const isBlocking = standing?.blocked_by.some(({ reviewer }) => reviewer === me.actor) ?? false
  const again = () => {
    void reviews.refresh()
    changed()
  }
  return (
    <section className="card side-card" aria-labelledby="reviewers-title">
      <h2 id="reviewers-title">Reviewers</h2>
      <FailureNote failure={reviews.failure} />
      {standing && isInReview && <p>{standing.summary}</p>}
      {change.reviewers.length === 0 && change.status === 'draft' && (
        <p className="muted">Nobody is asked yet.</p>
      )}
      {change.reviewers.length === 0 && change.status === 'open' && standing?.reviews.length === 0 && (
        <p className="muted">
          Nobody is asked by name. Everybody who may review finds it under{' '}
          <a className="link" href="/changes">
            Changes
          </a>
          .
        </p>
      )}
      <ul>
        {change.reviewers.map(({ reviewer, group_name }) => (
          <li key={reviewer ?? `group ${group_name}`}>
            {reviewer === null ? <span>{group_name} (group)</span> : <Person id={reviewer} />}
            {standing && <StandingChip standing={standing} reviewer={reviewer} group={group_name} />}
          </li>
        ))}
        {standing?.reviews
          .filter(({ reviewer }) => !change.reviewers.some((asked) => asked.reviewer === reviewer))
          .map((review) => (
            <li key={review.review_id ?? review.reviewer}>
              <Person id={review.reviewer} />
              <StandingChip standing={standing} reviewer={review.reviewer} group={null} />
            </li>
          ))}
        {standing?.blocked_by
          .filter(({ reviewer }) => !change.reviewers.some((asked) => asked.reviewer === reviewer))
          .map(({ reviewer, review_id }) => (
            <li key={review_id}>
              <Person id={reviewer} />
              <Chip tone="bad">changes requested</Chip>
            </li>
          ))}
      </ul>
      {standing && isInReview && <PolicyText standing={standing} />}
      <div className="change-buttons">
        {isBlocking && (
          <button type="button" className="button is-small" onClick={() => setAsking('withdraw')}>
            Withdraw my request
          </button>
        )}
        {mayRequest && !isBlocking && (
          <button type="button" className="button is-small" onClick={() => setAsking('changes')}>
            Request changes…
          </button>
        )}
        {change.may.edit && (isInReview || change.status === 'draft') && (
          <button type="button" className="button is-small" onClick={() => setAsking('reviewers')}>
            {change.status === 'draft' ? 'Choose reviewers…' : 'Ask for a review…'}
          </button>
        )}
      </div>
      {asking === 'reviewers' && (
        <ReviewersDialog change={change} close={() => setAsking(undefined)} changed={again} />
      )}
      {asking === 'changes' && (
        <ActionDialog
          title="Request changes"
          verb="Request changes"
          reason="required"
          reasonLabel="What should change?"
          act={async (body) => {
            await api.changes.review(name, {
              verdict: 'request_changes',
              body,
              ...(change.digest !== null && { digest: change.digest }),
            })
            again()
          }}
          close={() => setAsking(undefined)}
        >
          The change cannot be promoted until you approve it or withdraw your request. Its author is told.
        </ActionDialog>
      )}
      {asking === 'withdraw' && (
        <ActionDialog
          title="Withdraw my request for changes"
          verb="Withdraw"
          act={async () => {
            await api.changes.review(name, { verdict: 'withdraw' })
            again()
          }}
          close={() => setAsking(undefined)}
        >
          Your request no longer blocks the change. You have not approved it by that.
        </ActionDialog>
      )}
    </section>
  )
}

function StandingChip({
  standing,
  reviewer,
  group,
}: {
  standing: ReviewStanding
  reviewer: string | null
  group: string | null
}) {
  const { tone, word, title } = stateOf(standing, reviewer, group)
  return (
    <span title={title}>
      <Chip tone={tone}>{word}</Chip>
    </span>
  )
}

function stateOf(
  { reviews, blocked_by, missing }: ReviewStanding,
  reviewer: string | null,
  group: string | null,
): { tone: Tone; word: string; title?: string } {
  if (reviewer === null) {
    const has = reviews.some(({ counts, groups }) => counts && groups.includes(group ?? ''))
    if (has) return { tone: 'ok', word: 'approved' }
    return { tone: 'held', word: missing.groups.includes(group ?? '') ? 'needed' : 'asked' }
  }
  if (blocked_by.some((one) => one.reviewer === reviewer)) return { tone: 'bad', word: 'changes requested' }
  const own = reviews.find((one) => one.reviewer === reviewer)
  if (own === undefined) return { tone: 'held', word: 'asked' }
  if (own.counts) return { tone: 'ok', word: 'approved' }
  return { tone: 'stale', word: 'does not count', title: own.reason ?? '' }
}

/** What the policy asks for, and which of its rules raised that. */
function PolicyText({ standing }: { standing: ReviewStanding }) {
  const { approvals, roles, groups, rules, policy } = standing
  return (
    <div className="tiny">
      {policy === null
        ? `No review policy applies: ${approvals} ${approvals === 1 ? 'approval' : 'approvals'}.`
        : `The policy${policy.dataset ? ` of ${policy.dataset}` : ''} asks for ${approvals} ${approvals === 1 ? 'approval' : 'approvals'}${roles.length > 0 ? ` of ${roles.join(' or ')}` : ''}${groups.length > 0 ? `, among them ${groups.join(' and ')}` : ''}.`}
      {rules.map(({ name, why }) => (
        <div key={`${name} ${why}`}>
          {name !== null && <b>{name}: </b>}
          {why}
        </div>
      ))}
    </div>
  )
}

function ReviewersDialog({ change, close, changed }: { change: Change; close(): void; changed(): void }) {
  const { api, me } = useSession()
  const members = useLiveQuery(['settings', 'members', change.workspace_id], (from) =>
    from.access.members(change.workspace_id),
  )
  const groups = useLiveQuery(['settings', 'groups', change.workspace_id], (from) =>
    from.changes.groups(change.workspace_id),
  )
  const [people, setPeople] = useState(() => change.reviewers.flatMap(({ reviewer }) => reviewer ?? []))
  const [teams, setTeams] = useState(() => change.reviewers.flatMap(({ group_name }) => group_name ?? []))
  const choices = (members.data?.members ?? []).filter(
    ({ role, user_id }) =>
      ['reviewer', 'admin'].includes(role) && user_id !== change.author && user_id !== me.actor,
  )
  return (
    <ActionDialog
      title="Ask for a review"
      verb="Ask"
      act={async () => {
        await api.changes.setReviewers(nameOf(change), people, teams)
        changed()
      }}
      close={close}
    >
      <FailureNote failure={members.failure ?? groups.failure} />
      <p>They are told that this change waits for them. Exactly those who are marked are asked.</p>
      {choices.length === 0 && members.data && (
        <p className="muted">Nobody else in this workspace can review.</p>
      )}
      {choices.map(({ user_id, display_name }) => (
        <Mark
          key={user_id}
          text={display_name ?? user_id}
          isOn={people.includes(user_id)}
          set={(isOn) => setPeople(toggled(people, user_id, isOn))}
        />
      ))}
      {(groups.data?.groups ?? []).map(({ group_name }) => (
        <Mark
          key={group_name}
          text={`${group_name} (group)`}
          isOn={teams.includes(group_name)}
          set={(isOn) => setTeams(toggled(teams, group_name, isOn))}
        />
      ))}
    </ActionDialog>
  )
}

function toggled(list: readonly string[], item: string, isOn: boolean): string[] {
  return isOn ? [...list, item] : list.filter((one) => one !== item)
}

function Mark({ text, isOn, set }: { text: string; isOn: boolean; set(isOn: boolean): void }) {
  return (
    <label className="mark">
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.target.checked)} /> {text}
    </label>
  )
}
