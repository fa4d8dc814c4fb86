import { useState } from 'react'
import type { EventRoute, RouteEvidence } from '../api/types.ts'
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
import { JsonTree } from '../parts/json-tree.tsx'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'
import { sourceOf } from './consumers-page.tsx'
import { StateChip } from './state.tsx'
import { Steps } from './steps.tsx'

const SHOWN = 50

type Asked = 'review' | 'activate' | 'disable'

/** One route: what its dry run would have sent, and its activation in two steps. */
export function RoutePage({ params }: { params: Readonly<Record<string, string>> }) {
  const code = params.code ?? ''
  const route = useLiveQuery(['consumers', 'route', code], (api) => api.consumers.route(code))
  const evidence = useLiveQuery(
    ['consumers', 'route-evidence', code],
    async (api) => (await api.consumers.routeEvidence(code, SHOWN)).evidence,
  )
  const { data } = route
  return (
    <Detail
      title={code}
      back={['Routes', '/routes']}
      chips={data && <StateChip state={data.state} />}
      aside={data && <About route={data} />}
    >
      <FailureNote failure={route.failure ?? evidence.failure} />
      {route.loading && <p className="muted">Loading…</p>}
      {data && (
        <>
          <Activation
            route={data}
            evidence={evidence.data ?? []}
            refresh={() => Promise.all([route.refresh(), evidence.refresh()])}
          />
          <Evidence evidence={evidence.data} />
        </>
      )}
    </Detail>
  )
}

function Activation({
  route,
  evidence,
  refresh,
}: {
  route: EventRoute
  evidence: readonly RouteEvidence[]
  refresh(): Promise<unknown>
}) {
  const { api, me } = useSession()
  const [asked, setAsked] = useState<Asked>()
  const { route_code: code, state, revision } = route
  const current = evidence.filter((line) => line.revision === revision)
  const sent = sum(current, 'events')
  const refused = sum(current, 'refused')
  const isMine = route.registered_by === me.actor
  const mayDecide = me.workspaces.some(({ rights }) => rights.includes('review'))
  const isReviewed = route.reviewed_by !== null
  const close = () => setAsked(undefined)
  const done = (work: Promise<unknown>) => work.then(refresh)
  return (
    <Card id="activation" title="Activation">
      <Steps
        steps={[
          {
            title: 'Registered, and in dry run',
            state: state === 'disabled' && !isReviewed ? 'now' : 'done',
            children:
              state === 'disabled' && !isReviewed ? (
                <>
                  <span className="muted">
                    {route.disabled_reason ?? 'An administrator of the database starts the dry run.'}
                  </span>
                  <Command text={`npm run -s stagedoor -- route dry-run ${code}`} />
                </>
              ) : (
                <span className="muted">
                  {current.length === 0
                    ? 'No statement touched the table yet. Evidence comes with the first one.'
                    : `${counted(current.length, 'statement')}: ${counted(sent, 'event')} would have been sent, ${refused} refused.`}
                </span>
              ),
          },
          {
            title: 'Reviewed by a second person',
            state: isReviewed ? 'done' : state === 'dry_run' && current.length > 0 ? 'now' : 'later',
            children: isReviewed ? (
              <span className="muted">
                <Person id={route.reviewed_by!} /> saw {counted(route.evidence_seen ?? 0, 'statement')}{' '}
                {route.reviewed_at && <Ago at={route.reviewed_at} />}.
              </span>
            ) : (
              <>
                <span className="muted">
                  {isMine
                    ? 'You registered it, so another person reviews it.'
                    : mayDecide
                      ? 'Look at the evidence below: these events would have been sent.'
                      : 'A person with the role reviewer looks at the evidence.'}
                </span>
                {!isMine && mayDecide && (
                  <button
                    type="button"
                    className="button is-next"
                    disabled={state !== 'dry_run' || current.length === 0}
                    onClick={() => setAsked('review')}
                  >
                    Review…
                  </button>
                )}
              </>
            ),
          },
          {
            title: 'Active: changes become events',
            state: state === 'active' ? 'done' : isReviewed ? 'now' : 'later',
            children:
              state === 'active' ? (
                <>
                  <span className="muted">
                    {route.activated_by && (
                      <>
                        <Person id={route.activated_by} /> activated it{' '}
                        {route.activated_at && <Ago at={route.activated_at} />}.
                      </>
                    )}
                  </span>
                  {mayDecide && (
                    <button type="button" className="button" onClick={() => setAsked('disable')}>
                      Disable…
                    </button>
                  )}
                </>
              ) : (
                mayDecide && (
                  <button
                    type="button"
                    className={isReviewed ? 'button is-next' : 'button'}
                    disabled={!isReviewed}
                    onClick={() => setAsked('activate')}
                  >
                    Activate…
                  </button>
                )
              ),
          },
        ]}
      />
      {asked === 'review' && (
        <ActionDialog
          title={`Review ${code}`}
          verb="I looked at it and agree"
          close={close}
          act={() => done(api.consumers.reviewRoute(code, { evidence: current.length, revision }))}
        >
          <p>
            You say that you saw the evidence of {counted(current.length, 'statement')} of revision {revision}
            : {counted(sent, 'event')} would have been sent. Nothing is sent yet.
          </p>
        </ActionDialog>
      )}
      {asked === 'activate' && (
        <ActionDialog
          title={`Activate ${code}`}
          verb="Activate"
          close={close}
          act={() => done(api.consumers.activateRoute(code))}
        >
          <p>
            From now on every {sourceOf(route)} sends{' '}
            <b>
              {route.target_event_domain}.{route.target_event_type}
            </b>{' '}
            in the same transaction.{' '}
            {route.fail_closed
              ? 'If the event cannot be sent, the change of the table is refused.'
              : 'If an event cannot be sent, the change of the table goes on and the failure is counted.'}
          </p>
        </ActionDialog>
      )}
      {asked === 'disable' && (
        <ActionDialog
          title={`Disable ${code}`}
          verb="Disable"
          close={close}
          act={() => done(api.consumers.disableRoute(code))}
        >
          <p>It sends nothing from now on. Its review stays, so it can be activated again as it is.</p>
        </ActionDialog>
      )}
    </Card>
  )
}

function sum(evidence: readonly RouteEvidence[], field: 'events' | 'refused'): number {
  return evidence.reduce((total, line) => total + Number(line[field]), 0)
}

function Evidence({ evidence }: { evidence: readonly RouteEvidence[] | undefined }) {
  return (
    <Card id="evidence" title="Evidence of the dry run">
      {evidence === undefined && <p className="empty">Loading…</p>}
      {evidence?.length === 0 && (
        <p className="empty">
          There is none. During its dry run every statement on the table leaves a line here: the events that
          it would have sent.
        </p>
      )}
      {evidence !== undefined && evidence.length > 0 && (
        <ListTable
          label="Statements and what they would have sent"
          rows={evidence}
          keyOf={(line) => line.evidence_id}
          columns={EVIDENCE}
        />
      )}
    </Card>
  )
}

const EVIDENCE: readonly Column<RouteEvidence>[] = [
  { title: 'When', tight: true, cell: (line) => <Ago at={line.recorded_at} /> },
  { title: 'Events', figures: true, cell: (line) => line.events },
  {
    title: 'Refused',
    figures: true,
    wideOnly: true,
    cell: (line) => (line.refused === '0' ? '0' : <span className="is-wrong">{line.refused}</span>),
  },
  {
    title: 'Sample',
    cell: (line) => <JsonTree value={line.sample} label={`Sample of statement ${line.evidence_id}`} />,
  },
  { title: 'Who', tight: true, wideOnly: true, cell: (line) => <Person id={line.actor} /> },
]

function About({ route }: { route: EventRoute }) {
  return (
    <Card id="about" title="About">
      <Facts
        facts={[
          ['Source', sourceOf(route)],
          ['Sends', <Breakable key="s" name={`${route.target_event_domain}.${route.target_event_type}`} />],
          ['Carries', route.payload_contract.keep_refs?.join(', ') ?? 'nothing but the subject'],
          ['Revision', route.revision],
          ['If it fails', route.fail_closed ? 'the change is refused' : 'the change goes on'],
          ['Attached to', counted(route.attached, 'table')],
          [
            'Failures',
            route.failures === '0' ? 'none' : `${route.failures}, the last: ${route.last_failure}`,
          ],
          ['Registered by', <Person key="r" id={route.registered_by} />],
          ['Registered', <Ago key="a" at={route.registered_at} />],
        ]}
      />
    </Card>
  )
}
