import { useEffect, useState } from 'react'
import type { Change } from '../api/changes.ts'
import { ApiProblem, type Failure } from '../api/failure.ts'
import type { UploadDetail } from '../api/upload-types.ts'
import { ChangeHead } from '../changes/change-head.tsx'
import { CHANGE_STATES } from '../changes/change-status.ts'
import { ReviewersCard } from '../changes/reviewers-card.tsx'
import { RiskCard } from '../changes/risk-card.tsx'
import { UndoRequest } from '../changes/undo-request.tsx'
import { useChange } from '../changes/use-change.ts'
import type { LiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, counted, shortHash } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { viaText } from '../people.ts'
import { useParameter } from '../route.ts'
import { ChecksCard } from './checks-card.tsx'
import { DecisionCard } from './decision/decision-card.tsx'
import { HowRead } from './how-read.tsx'
import { sourceText } from './labels.ts'
import { PlanChecked } from './plan-checked.tsx'
import { PromotionFailed } from './promotion-failed.tsx'
import { ReadingCard } from './reading-card.tsx'
import { StaleCard } from './stale-card.tsx'
import { type State, stateOf } from './state.ts'
import { StatementCard } from './statement-card.tsx'
import { Steps } from './steps.tsx'
import { Tabs } from './tabs.tsx'
import { useDataset } from './use-dataset.ts'
import { useStale } from './use-stale.ts'
import { type LiveUpload, useUpload } from './use-upload.ts'
import './upload.css'

export function UploadPage({ params }: { params: Readonly<Record<string, string>> }) {
  const live = useUpload(params.id ?? '')
  const { upload, failure } = live
  const change = useChange(upload?.workspace_id ?? null, upload?.change ?? null)
  // Not before both are there: the heading would be another one a moment later.
  const [begun, setBegun] = useState(false)
  if (!begun && upload && (upload.change === null || change.data || change.failure)) setBegun(true)
  const title = change.data ? `${change.data.title} #${change.data.number}` : upload?.file_name
  useEffect(() => {
    if (title) document.title = `${title} · Stagedoor`
  }, [title])

  if (upload !== undefined && begun) return <Loaded live={live} upload={upload} change={change} />
  return (
    <>
      <div className="page-head">
        <h1>{isMissing(failure) ? 'There is no such upload' : 'Upload'}</h1>
      </div>
      {failure === undefined ? <p className="muted">Loading…</p> : <NotLoaded failure={failure} />}
    </>
  )
}

function isMissing(failure: Failure | undefined): boolean {
  return failure instanceof ApiProblem && (failure.status === 404 || failure.status === 400)
}

function NotLoaded({ failure }: { failure: Failure }) {
  return (
    <section className="card" aria-label="What went wrong">
      {!isMissing(failure) && <FailureNote failure={failure} />}
      <div className="empty">
        {isMissing(failure) && (
          <p>It was deleted, it is in a workspace that you are not in, or the address is incomplete.</p>
        )}
        <p>
          <a className="link" href="/uploads">
            Go to all uploads
          </a>
        </p>
      </div>
    </section>
  )
}

interface LoadedProps {
  readonly live: LiveUpload
  readonly upload: UploadDetail
  readonly change: LiveQuery<Change>
}

function Loaded({ live, upload, change }: LoadedProps) {
  const { dataset, loaded } = useDataset(upload)
  const stale = useStale(upload)
  const [toFirst, setToFirst] = useState(0)
  const [toSave, setToSave] = useState(false)
  const [, setTab] = useParameter('tab')
  const readable = upload.line_count !== null && upload.status !== 'reading'
  const isSentBack = change.data?.status === 'changes_requested'
  const state: State =
    stale.plan !== undefined
      ? { tone: 'stale', word: 'plan is outdated' }
      : isSentBack
        ? CHANGE_STATES.changes_requested
        : stateOf(upload)
  const again = () => void change.refresh()
  return (
    <>
      <ChangeHead
        change={change.data}
        name={upload.file_name}
        chips={<Chip tone={state.tone}>{standingWord(state, upload)}</Chip>}
        facts={
          <Facts
            upload={upload}
            isTitle={change.data === undefined || change.data.title === upload.file_name}
          />
        }
        changed={again}
      />
      <FailureNote failure={change.failure} />
      <Steps upload={upload} progress={live.progress} stale={stale.plan !== undefined} />
      <div className="upload-columns">
        <div className="stack">
          <PromotionFailed upload={upload} />
          {upload.proposal !== null && <StatementCard proposal={upload.proposal} />}
          {readable && upload.proposal === null && <HowRead upload={upload.upload_id} />}
          {stale.plan && <StaleCard plan={stale.plan} />}
          <PlanChecked stale={stale} />
          <section className="card upload-work" aria-label="What is in it">
            <FailureNote failure={live.failure} />
            {readable ? (
              <Tabs
                upload={upload}
                change={change.data}
                changed={again}
                take={live.take}
                dataset={dataset}
                stale={stale.plan}
                toFirst={toFirst}
                toSave={toSave}
                saved={() => setToSave(false)}
              />
            ) : (
              <ReadingCard upload={upload} progress={live.progress} />
            )}
          </section>
        </div>
        <div className="stack">
          {change.data && <UndoRequest change={change.data} changed={again} />}
          <DecisionCard
            upload={upload}
            take={live.take}
            dataset={dataset}
            loaded={loaded && stale.known}
            stale={stale}
            isSentBack={isSentBack}
            answer={() => setTab('conversation')}
            correct={() => {
              setTab('problems')
              setToFirst(toFirst + 1)
            }}
            saving={toSave}
            save={() => {
              setTab('problems')
              setToSave(true)
            }}
          />
          {change.data && upload.approval_required && <ReviewersCard change={change.data} changed={again} />}
          {readable && <ChecksCard upload={upload} />}
          {upload.status === 'planned' && upload.plan_digest !== null && (
            <RiskCard upload={upload.upload_id} digest={upload.plan_digest} />
          )}
        </div>
      </div>
    </>
  )
}

/** While several approvals are needed: how many there are. */
function standingWord({ word }: State, { status, review_status, review }: UploadDetail): string {
  const isCounted =
    status === 'planned' && review_status === 'pending' && review !== null && review.approvals > 1
  return isCounted ? `${word} · ${review.counted} of ${review.approvals}` : word
}

/** `isTitle`: the page is called by the name of the file already. */
function Facts({ upload, isTitle }: { upload: UploadDetail; isTitle: boolean }) {
  if (upload.proposal !== null)
    return (
      <>
        {sourceText(upload.dataset_title, upload.platform)} · {counted(upload.line_count ?? 0, 'row')} ·
        proposed by <Person id={upload.uploaded_by} />
        {viaText(upload.uploaded_via)} <Ago at={upload.created_at} />
      </>
    )
  return (
    <>
      {!isTitle && `${upload.file_name} → `}
      {sourceText(upload.dataset_title, upload.platform)}
      {upload.client_name !== null && ` · client ${upload.client_name}`}
      {upload.line_count !== null && ` · ${counted(upload.line_count, 'line')}`}
      {upload.line_count === null ? ' · ' : ', '}
      {bytes(Number(upload.byte_len))} · uploaded by <Person id={upload.uploaded_by} />
      {viaText(upload.uploaded_via)} <Ago at={upload.created_at} /> ·{' '}
      <code title={upload.file_hash}>sha256 {shortHash(upload.file_hash)} …</code>
    </>
  )
}
