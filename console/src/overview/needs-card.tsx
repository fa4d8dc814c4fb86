import type { ReactNode } from 'react'
import type { Overview } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { useInbox } from '../inbox/use-inbox.ts'
import type { PendingWork } from '../live/pending-work.tsx'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { RecordLine } from '../records/record-line.tsx'
import { useSession } from '../session/session.tsx'
import { planText, sinceOf } from '../upload/state.ts'
import { troubleText } from './rooms.ts'

const SHOWN = 6

interface Need {
  readonly upload: Upload
  readonly tone: Tone
  readonly action: string
  readonly about: string
}

/** What waits for anybody who may act on it. What is asked of this person by name is in the card For you, and not here again. */
export function NeedsCard({
  pendingWork,
  overview,
}: {
  pendingWork: Polled<PendingWork>
  overview: Overview | undefined
}) {
  const { me } = useSession()
  const inbox = useInbox().data?.matters.filter(({ to_do }) => to_do) ?? []
  const asked = new Set<number | null>(inbox.map(({ number }) => number))
  const all = pendingWork.data === undefined ? [] : needsIn(pendingWork.data, me.actor)
  const needs = all.filter(({ upload }) => !asked.has(upload.change))
  const records = (pendingWork.data?.records ?? []).filter(
    ({ owner_actor, four_eyes }) => !(four_eyes && owner_actor === me.actor),
  )
  const ownInReview = pendingWork.data === undefined ? 0 : inReviewOf(pendingWork.data, me.actor, asked)
  const lines = [
    ...needs.map((need) => <Line key={need.upload.upload_id} {...need} />),
    ...records.map((record) => <RecordLine key={record.staging_record_id} record={record} />),
    ...(overview === undefined ? [] : operations(overview, all)),
  ]
  return (
    <Card
      id="needs"
      title="Open work"
      aside={
        pendingWork.data && (
          <span className="tiny">
            {lines.length}
            {(pendingWork.data.moreUploads || pendingWork.data.moreWaiting || pendingWork.data.moreRecords) &&
              '+'}
          </span>
        )
      }
    >
      <FailureNote failure={pendingWork.failure} />
      {lines.length === 0 && (
        <p className="empty">
          {pendingWork.data === undefined
            ? 'Loading…'
            : 'Nothing else is open. What anybody can take on is listed here: plans to decide on, what failed, gates that are closed.'}
        </p>
      )}
      <ul className="lines acts">{lines.slice(0, SHOWN)}</ul>
      {ownInReview > 0 && (
        <div className="card-foot">
          <p className="tiny">
            {counted(ownInReview, 'change')} of yours {ownInReview === 1 ? 'waits' : 'wait'} for another
            person.{' '}
            <a className="link" href="/changes">
              Show
            </a>
          </p>
        </div>
      )}
      {lines.length > SHOWN && (
        <div className="card-foot">
          <p className="tiny">
            {SHOWN} of {lines.length}.{' '}
            <a className="link" href="/uploads">
              All uploads
            </a>
            {' · '}
            <a className="link" href="/changes">
              All changes
            </a>
          </p>
        </div>
      )}
    </Card>
  )
}

function Line({ upload, tone, action, about }: Need) {
  const title = upload.title ?? upload.file_name
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{action}</Chip>
      </span>
      <span className="line-text">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{title}</b>
          {upload.change !== null && <span className="muted"> #{upload.change}</span>}
        </a>
        <span className="muted">
          {title !== upload.file_name && `${upload.file_name} · `}
          {about}
        </span>
      </span>
      <span className="line-when">
        <Ago at={sinceOf(upload)} /> · <Person id={upload.uploaded_by} />
      </span>
    </li>
  )
}

/** What no upload and no record shows: closed gates, open issues, dead letters and everything else that failed. */
function operations({ gates, open_issues, rooms }: Overview, needs: readonly Need[]): ReactNode[] {
  const outdated = needs.filter(({ upload }) => upload.outdated === 'outdated').length
  const closed = gates.filter(({ open }) => !open)
  return [
    ...closed.map(({ gate, title, when_closed }) => (
      <Act
        key={gate}
        href="/health#gates"
        tone="held"
        action="gate closed"
        title={title}
        about={when_closed}
      />
    )),
    ...(open_issues === 0
      ? []
      : [
          <Act
            key="issues"
            href="/health#issues"
            tone="bad"
            action="issue"
            title={counted(open_issues, 'open issue')}
            about="Stagedoor says what is wrong and what to do about it."
          />,
        ]),
    ...rooms.flatMap(({ room, trouble }) =>
      trouble
        .filter(({ what }) => !SHOWN_BY_ITSELF.has(what))
        .filter(({ what, count }) => what !== 'stale_plans' || count > outdated)
        .map((one) => {
          const { tone, text, href } = troubleText(one)
          return (
            <Act key={one.what} href={href} tone={tone} action={room} title={text} about={ADVICE[one.what]} />
          )
        }),
    ),
  ]
}

type What = Overview['rooms'][number]['trouble'][number]['what']

/** These uploads and records have a line of their own. */
const SHOWN_BY_ITSELF: ReadonlySet<What> = new Set([
  'invalid_uploads',
  'expiring_records',
  'changes_requested',
])

const ADVICE: Partial<Record<What, string>> = {
  failed_uploads: 'The page of each says why. Upload the file again once it is corrected.',
  stale_plans:
    'Production changed since the plan. Plan again: it asks whose values count, then the review begins again.',
  failed_promotions: 'The page of each says why. Nothing was written.',
  deviating_units: 'The checker says what each lacks.',
  drifted_units: 'Look whether the text still holds, and edit it.',
  failed_dispatches: 'The page of each consumer lists its failures.',
  failing_routes: 'The page of each route has the reason.',
  dry_routes: 'Look at the evidence and activate them, or disable them.',
  dead_letters: 'Fix the cause, then replay them.',
  paused_kinds: 'Their jobs wait until somebody resumes them.',
  failed_executions: 'Look at the failed step; an execution can be run again from there.',
  late_texts: 'Is a worker of search running?',
  failed_texts: 'The page of search has the reason; there they are tried again.',
}

interface ActProps {
  readonly href: string
  readonly tone: Tone
  readonly action: string
  readonly title: string
  readonly about: string | undefined
}

function Act({ href, tone, action, title, about }: ActProps) {
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{action}</Chip>
      </span>
      <span className="line-text">
        <a href={href}>
          <b>{title}</b>
        </a>
        {about && <span className="muted">{about}</span>}
      </span>
    </li>
  )
}

/** An upload that awaits review may be older than all the uploads that were read. */
function needsIn({ uploads, waiting }: PendingWork, me: string): Need[] {
  const newest = new Set(uploads.map(({ upload_id }) => upload_id))
  return [...uploads, ...waiting.filter(({ upload_id }) => !newest.has(upload_id))]
    .filter((upload) => !isOwnInReview(upload, me))
    .map(needOf)
    .filter((need) => need !== undefined)
}

/** Whoever uploaded a file does not decide on it: it waits for somebody else. An outdated plan waits for them. */
function isOwnInReview({ status, review_status, uploaded_by, outdated }: Upload, me: string): boolean {
  return status === 'planned' && review_status === 'pending' && uploaded_by === me && outdated !== 'outdated'
}

/** Without those that are asked of this person, such as one with requested changes: they wait for nobody else. */
function inReviewOf(
  { waiting, records }: PendingWork,
  me: string,
  asked: ReadonlySet<number | null>,
): number {
  const own = records.filter(({ four_eyes, owner_actor }) => four_eyes && owner_actor === me)
  const uploads = waiting.filter((upload) => isOwnInReview(upload, me) && !asked.has(upload.change))
  return uploads.length + own.length
}

function needOf(upload: Upload): Need | undefined {
  if (upload.status === 'reading' || upload.run_mode === 'FULL_DRY_RUN') return undefined
  if (upload.status === 'staged') {
    return { upload, tone: 'held', action: 'plan', about: counted(upload.line_count ?? 0, 'line') }
  }
  if (upload.plan_refusal !== null) {
    return {
      upload,
      tone: 'bad',
      action: 'repair',
      about: counted(upload.invalid_count ?? 0, 'invalid line'),
    }
  }
  if (upload.outdated === 'outdated') {
    return {
      upload,
      tone: 'bad',
      action: 'plan again',
      about: 'Production changed since the plan. Planning again asks whose values count.',
    }
  }
  const about = planText(upload)
  switch (upload.review_status) {
    case 'pending':
      return { upload, tone: 'held', action: 'review', about }
    case 'rejected':
      return { upload, tone: 'bad', action: 'rejected', about: upload.review_reason ?? about }
    case 'approved':
    case null:
      return { upload, tone: 'held', action: 'promote', about }
    default:
      return { upload, tone: 'held', action: 'submit', about }
  }
}
