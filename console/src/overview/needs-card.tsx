import type { Upload } from '../api/upload-types.ts'
import type { PendingWork } from '../live/pending-work.tsx'
import type { Polled } from '../live/use-polled.ts'
import { type DeadKind, deadKinds, type Work } from '../live/work.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { RecordLine } from '../records/record-line.tsx'
import { useSession } from '../session/session.tsx'
import { planText, sinceOf } from '../upload/state.ts'

const SHOWN = 6

interface Need {
  readonly upload: Upload
  readonly tone: Tone
  readonly action: string
  readonly about: string
}

/** Everything that waits for a person to act. */
export function NeedsCard({
  pendingWork,
  work,
}: {
  pendingWork: Polled<PendingWork>
  work: Work | undefined
}) {
  const { me } = useSession()
  const needs = pendingWork.data === undefined ? [] : needsIn(pendingWork.data, me.actor)
  const records = (pendingWork.data?.records ?? []).filter(
    ({ owner_actor, four_eyes }) => !(four_eyes && owner_actor === me.actor),
  )
  const ownInReview = pendingWork.data === undefined ? 0 : inReviewOf(pendingWork.data, me.actor)
  const dead = work === undefined ? [] : deadKinds(work.dead)
  const all = needs.length + records.length + dead.length
  const lines = [
    ...needs.map((need) => <Line key={need.upload.upload_id} {...need} />),
    ...records.map((record) => <RecordLine key={record.staging_record_id} record={record} />),
    ...dead.map((kind) => <DeadLine key={kind.kind} {...kind} />),
  ]
  return (
    <Card
      id="needs"
      title="Needs your attention"
      aside={
        pendingWork.data && (
          <span className="tiny">
            {all}
            {(pendingWork.data.moreUploads || pendingWork.data.moreWaiting || pendingWork.data.moreRecords) &&
              '+'}
          </span>
        )
      }
    >
      <FailureNote failure={pendingWork.failure} />
      {all === 0 && (
        <p className="empty">
          {pendingWork.data === undefined ? 'Loading…' : 'Nothing needs your attention.'}
        </p>
      )}
      <ul className="lines">{lines.slice(0, SHOWN)}</ul>
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
      {all > SHOWN && (
        <div className="card-foot">
          <p className="tiny">
            {SHOWN} of {all}.{' '}
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
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{action}</Chip>
      </span>
      <span className="line-text">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{upload.file_name}</b>
        </a>
        <span className="muted">{about}</span>
      </span>
      <span className="line-when">
        <Ago at={sinceOf(upload)} /> · <Person id={upload.uploaded_by} />
      </span>
    </li>
  )
}

function DeadLine({ kind, jobs, newest }: DeadKind) {
  return (
    <li>
      <span className="line-state">
        <Chip tone="bad">failed job</Chip>
      </span>
      <span className="line-text">
        <a href="#jobs">
          <b>
            {kind}
            {jobs.length > 1 && ` × ${jobs.length}`}
          </b>
        </a>
        <span className="muted">{newest.last_error ?? 'failed every attempt'}</span>
      </span>
      {newest.finished_at && (
        <span className="line-when">
          <Ago at={newest.finished_at} />
        </span>
      )}
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

/** Whoever uploaded a file does not decide on it: it waits for somebody else. */
function isOwnInReview({ status, review_status, uploaded_by }: Upload, me: string): boolean {
  return status === 'planned' && review_status === 'pending' && uploaded_by === me
}

function inReviewOf({ waiting, records }: PendingWork, me: string): number {
  const own = records.filter(({ four_eyes, owner_actor }) => four_eyes && owner_actor === me)
  return waiting.filter((upload) => isOwnInReview(upload, me)).length + own.length
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
