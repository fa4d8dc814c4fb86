import { useState } from 'react'
import type { Consumer, ConsumerEvidence } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Card } from '../parts/card.tsx'
import { Command } from '../parts/command.tsx'
import { Detail } from '../parts/detail.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { shortId } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { StateChip } from './state.tsx'
import { Steps } from './steps.tsx'

const SHOWN = 100

/** One consumer: the way to its activation with the evidence on screen, and what it could not deliver. */
export function ConsumerPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? ''
  const consumer = useLiveQuery(['consumers', 'one', id], (api) => api.consumers.find(id))
  const evidence = useLiveQuery(
    ['consumers', 'evidence', id],
    async (api) => (await api.consumers.evidence(id, SHOWN)).evidence,
  )
  const undelivered = useLiveQuery(
    ['consumers', 'undelivered', id],
    async (api) => (await api.consumers.undelivered(id, SHOWN)).dispatches,
  )
  const { data } = consumer
  if (data === undefined)
    return (
      <Detail title={id} back={['Consumers', '/consumers']}>
        <FailureNote failure={consumer.failure} />
        {consumer.loading && <p className="muted">Loading…</p>}
      </Detail>
    )
  const refresh = () => Promise.all([consumer.refresh(), evidence.refresh()])
  return (
    <Detail
      title={id}
      back={['Consumers', '/consumers']}
      chips={<StateChip state={data.state} />}
      aside={<About consumer={data} />}
      tabs={[
        {
          id: 'evidence',
          title: 'Evidence of the dry run',
          count: evidence.data?.length,
          content: <Evidence evidence={evidence.data} />,
        },
        {
          id: 'undelivered',
          title: 'Not delivered',
          count: undelivered.data?.length,
          content: (
            <section className="card" aria-label="Events of which no job was made">
              <FailureNote failure={undelivered.failure} />
              {undelivered.data?.length === 0 && (
                <p className="empty">Every event that this consumer matched became a job.</p>
              )}
              {undelivered.data !== undefined && undelivered.data.length > 0 && (
                <ListTable
                  label="Events of which no job was made"
                  rows={undelivered.data}
                  keyOf={(dispatch) => dispatch.event_id}
                  columns={[
                    { title: 'When', tight: true, cell: (dispatch) => <Ago at={dispatch.dispatched_at} /> },
                    { title: 'Event', cell: (dispatch) => <EventLink id={dispatch.event_id} /> },
                    {
                      title: 'Why',
                      cell: ({ outcome, detail }) =>
                        `${outcome.replaceAll('_', ' ')}${detail?.problem ? `: ${String(detail.problem)}` : ''}`,
                    },
                  ]}
                />
              )}
            </section>
          ),
        },
      ]}
    >
      <FailureNote failure={consumer.failure ?? evidence.failure} />
      <Activation consumer={data} evidence={evidence.data ?? []} refresh={refresh} />
    </Detail>
  )
}

function Activation({
  consumer,
  evidence,
  refresh,
}: {
  consumer: Consumer
  evidence: readonly ConsumerEvidence[]
  refresh(): Promise<unknown>
}) {
  const { api, me } = useSession()
  const [reviewing, setReviewing] = useState(false)
  const { consumer_id: id, state } = consumer
  const isReviewed = consumer.reviewed_by !== null
  const problems = evidence.filter(({ problem }) => problem !== null).length
  const command = (verb: string) => `npm run -s stagedoor -- consumer ${verb} ${id}`
  const isMine = consumer.registered_by === me.actor
  const mayReview = me.workspaces.some(({ rights }) => rights.includes('review'))
  return (
    <Card id="activation" title="Activation">
      <Steps
        steps={[
          {
            title: 'Registered, and in dry run',
            state: state === 'disabled' ? 'now' : 'done',
            children:
              state === 'disabled' ? (
                <>
                  <span className="muted">An administrator of the database starts the dry run.</span>
                  <Command text={command('dry-run')} />
                </>
              ) : (
                <span className="muted">
                  {evidence.length === 0
                    ? 'No event matched yet. Evidence comes with the first one.'
                    : `${counted(evidence.length, 'job')} would have been made${evidence.length === SHOWN ? ', or more' : ''}${problems > 0 ? `, ${problems} of them not` : ''}.`}
                </span>
              ),
          },
          {
            title: 'Reviewed by a second person',
            state: isReviewed ? 'done' : state === 'dry_run' && evidence.length > 0 ? 'now' : 'later',
            children: isReviewed ? (
              <span className="muted">
                <Person id={consumer.reviewed_by!} /> agreed{' '}
                {consumer.reviewed_at && <Ago at={consumer.reviewed_at} />}.
              </span>
            ) : (
              <>
                <span className="muted">
                  {isMine
                    ? 'You registered it, so another person reviews it.'
                    : mayReview
                      ? 'Look at the evidence below. Your review says that these are the jobs that should be made.'
                      : 'A person with the role reviewer looks at the evidence.'}
                </span>
                {!isMine && mayReview && (
                  <button
                    type="button"
                    className="button is-next"
                    disabled={state !== 'dry_run' || evidence.length === 0}
                    onClick={() => setReviewing(true)}
                  >
                    Review…
                  </button>
                )}
              </>
            ),
          },
          {
            title: 'Active: events become jobs',
            state: state === 'active' ? 'done' : isReviewed ? 'now' : 'later',
            children:
              state === 'active' ? (
                <span className="muted">
                  Since {consumer.activated_at && <Ago at={consumer.activated_at} />}. An administrator stops
                  it with the command below.
                </span>
              ) : (
                <span className="muted">Only an administrator of the database can activate it.</span>
              ),
          },
        ]}
      />
      {(isReviewed || state === 'active') && (
        <div className="card-foot">
          <Command text={command(state === 'active' ? 'disable' : 'activate')} />
        </div>
      )}
      {reviewing && (
        <ActionDialog
          title={`Review ${id}`}
          verb="I looked at it and agree"
          close={() => setReviewing(false)}
          act={async () => {
            await api.consumers.review(id, evidence.length)
            await refresh()
          }}
        >
          <p>
            You say that you saw {counted(evidence.length, 'line')} of evidence, and that every matching event
            shall make a job of kind <b>{consumer.job_kind}</b>. Nothing runs yet: an administrator activates
            it.
          </p>
        </ActionDialog>
      )}
    </Card>
  )
}

function Evidence({ evidence }: { evidence: readonly ConsumerEvidence[] | undefined }) {
  return (
    <section className="card" aria-label="Evidence of the dry run">
      {evidence === undefined && <p className="empty">Loading…</p>}
      {evidence?.length === 0 && (
        <p className="empty">
          There is none. During its dry run every matching event leaves a line here: the job that it would
          have made.
        </p>
      )}
      {evidence !== undefined && evidence.length > 0 && (
        <ListTable
          label="Jobs that would have been made"
          rows={evidence}
          keyOf={(line) => line.event_id}
          columns={EVIDENCE}
        />
      )}
    </section>
  )
}

const EVIDENCE: readonly Column<ConsumerEvidence>[] = [
  { title: 'When', tight: true, cell: (line) => <Ago at={line.dispatched_at} /> },
  { title: 'Event', cell: (line) => <EventLink id={line.event_id} /> },
  { title: 'Key of the job', wideOnly: true, cell: (line) => <code>{line.idempotency_key ?? '–'}</code> },
  {
    title: 'Problem',
    cell: (line) => (line.problem === null ? 'none' : <span className="is-wrong">{line.problem}</span>),
  },
]

function EventLink({ id }: { id: string }) {
  return (
    <a href={`/events/${id}`} title={id}>
      event {shortId(id)}
    </a>
  )
}

function About({ consumer }: { consumer: Consumer }) {
  return (
    <Card id="about" title="About">
      <Facts
        facts={[
          ['Matches', <Breakable key="m" name={`${consumer.event_domain}.${consumer.event_type}`} />],
          ['Stream', consumer.event_stream ?? undefined],
          ['Makes', <code key="j">{consumer.job_kind}</code>],
          ['Executor', consumer.executor],
          ['Key', <code key="k">{consumer.idempotency_key_template}</code>],
          ['Rate', consumer.rate === null ? undefined : `${consumer.rate} per ${consumer.rate_period}`],
          ['Depth', `at most ${consumer.max_depth}`],
          ['Registered by', <Person key="r" id={consumer.registered_by} />],
          ['Notes', consumer.notes ?? undefined],
        ]}
      />
    </Card>
  )
}
