import { useState } from 'react'
import type { ExecutionDetail, ExecutionGraph, GraphNode } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { useNow } from '../live/now.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Detail } from '../parts/detail.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted, duration } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { executionStatus, hasEnded, itemsText } from './execution-status.ts'
import { shortRun } from './executions-page.tsx'
import { HistoryTab } from './history-tab.tsx'
import { ItemsTab } from './items-tab.tsx'
import { type Definition, graphOf, type StepGraph } from './playbook-graph.ts'
import { RerunDialog } from './rerun-dialog.tsx'
import { ResultTab } from './result-tab.tsx'
import { StepsCard } from './steps-card.tsx'
import { TimelineCard } from './timeline-card.tsx'
import { useMayOperate } from './use-may-operate.ts'
import { waitText } from './wait-text.ts'
import './executions.css'

type LoopNode = GraphNode & { readonly loop: NonNullable<GraphNode['loop']> }

export default function ExecutionPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id!
  const execution = useLiveQuery(['executions', id], (api) => api.executions.find(id))
  const graph = useLiveQuery(['executions', id, 'graph'], (api) => api.executions.graph(id))
  if (execution.data === undefined || graph.data === undefined) {
    const failure = execution.failure ?? graph.failure
    return failure ? <FailureNote failure={failure} /> : <p className="empty">Loading…</p>
  }
  return <Loaded execution={execution.data} run={graph.data} refresh={() => void execution.refresh()} />
}

interface LoadedProps {
  readonly execution: ExecutionDetail
  readonly run: ExecutionGraph
  refresh(): void
}

function Loaded({ execution, run, refresh }: LoadedProps) {
  const definition = run.definition as unknown as Definition | null
  const graph = graphOf(definition, run, execution.from_step)
  const over = hasEnded(execution)
  const loops = run.nodes.filter((node): node is LoopNode => node.loop !== null)
  const failed = loops.reduce((sum, { loop }) => sum + loop.failed, 0)
  const { tone } = executionStatus(execution)
  return (
    <Detail
      title={`${execution.playbook ?? 'Execution'} · run ${shortRun(execution.execution_id)}`}
      back={['Executions', '/executions']}
      chips={
        <Chip tone={tone}>
          <StatusText execution={execution} />
        </Chip>
      }
      actions={<Actions execution={execution} graph={graph} refresh={refresh} />}
      aside={<Aside execution={execution} run={run} over={over} />}
      tabs={[
        {
          id: 'steps',
          title: 'Steps',
          count: count(graph.steps.length),
          content: (
            <div className="stack">
              <StepsCard
                graph={graph}
                execution={{ over }}
                note={
                  definition === null && execution.last_seq > 0
                    ? 'The playbook is not open to you: only the steps that ran are shown.'
                    : undefined
                }
              />
              <TimelineCard id={execution.execution_id} over={over} />
            </div>
          ),
        },
        ...(loops.length === 0
          ? []
          : [
              {
                id: 'items',
                title: 'Items',
                count:
                  failed > 0
                    ? `${count(failed)} failed`
                    : count(loops.reduce((sum, { loop }) => sum + loop.total, 0)),
                content: <ItemsTab id={execution.execution_id} loops={loops} />,
              },
            ]),
        { id: 'result', title: 'Results', content: <ResultTab execution={execution} graph={graph} /> },
        {
          id: 'history',
          title: 'History',
          content: <HistoryTab id={execution.execution_id} steps={graph.steps.map(({ step }) => step)} />,
        },
      ]}
    >
      {execution.error !== null && (
        <p className="note is-bad execution-failed">
          <b>{execution.error}</b>
        </p>
      )}
    </Detail>
  )
}

/** With how long it runs, or ran. */
function StatusText({ execution }: { execution: ExecutionDetail }) {
  const now = useNow()
  const { text } = executionStatus(execution)
  const { start_time, end_time } = execution
  if (start_time === null) return text
  const ms = (end_time === null ? now : Date.parse(end_time)) - Date.parse(start_time)
  return `${text} · ${duration(end_time === null ? Math.max(0, Math.floor(ms / 1000)) * 1000 : ms)}`
}

type Asked = 'cancel' | 'pause' | 'resume' | 'rerun'

function Actions({
  execution,
  graph,
  refresh,
}: {
  execution: ExecutionDetail
  graph: StepGraph
  refresh(): void
}) {
  const { api } = useSession()
  const [asked, setAsked] = useState<Asked>()
  const [step] = useParameter('step')
  const mayOperate = useMayOperate(execution.workspace_id)
  const { execution_id: id, status, playbook, version } = execution
  const newest = useLiveQuery(
    ['playbooks', playbook, 'newest'],
    (use) => use.playbooks.find(playbook!).catch(() => null),
    { enabled: playbook !== null && asked === 'rerun' },
  )
  const over = hasEnded(execution)
  const close = () => {
    setAsked(undefined)
    refresh()
  }
  const dialog = { close, act: async () => {} }
  const entered = graph.steps.some(({ run }) => run !== undefined)
  if (!mayOperate) return <span className="tiny">Operators and admins control executions.</span>
  return (
    <>
      {(status === 'RUNNING' || status === 'PENDING') && (
        <button type="button" className="button" onClick={() => setAsked('pause')}>
          Pause…
        </button>
      )}
      {status === 'PAUSED' && (
        <button type="button" className="button is-next" onClick={() => setAsked('resume')}>
          Resume…
        </button>
      )}
      {!over && (
        <button type="button" className="button" onClick={() => setAsked('cancel')}>
          Cancel…
        </button>
      )}
      <button type="button" className="button" disabled={!entered} onClick={() => setAsked('rerun')}>
        Run again from a step…
      </button>
      {asked === 'pause' && (
        <ActionDialog
          {...dialog}
          title="Pause this execution"
          verb="Pause"
          act={() => api.executions.pause(id)}
        >
          Steps and items that run now end, and their results are kept. Nothing else begins until it is
          resumed. Executions that it started go on.
        </ActionDialog>
      )}
      {asked === 'resume' && (
        <ActionDialog
          {...dialog}
          title="Resume this execution"
          verb="Resume"
          act={() => api.executions.resume(id)}
        >
          It goes on where it was paused. What has ended does not run again.
        </ActionDialog>
      )}
      {asked === 'cancel' && (
        <ActionDialog
          {...dialog}
          title="Cancel this execution"
          verb="Cancel the execution"
          reason="optional"
          act={(reason) => api.executions.cancel(id, reason)}
        >
          {openText(execution)} What has ended stays as it is, nothing is undone. Executions that it started
          are cancelled, too. It cannot be resumed; it can be run again from a step.
        </ActionDialog>
      )}
      {asked === 'rerun' && (
        <RerunDialog
          id={id}
          graph={graph}
          version={version}
          newest={newest.data?.version}
          from={graph.steps.some((node) => node.step === step && node.run) ? step : undefined}
          close={close}
        />
      )}
    </>
  )
}

function openText({ items, items_done, items_failed }: ExecutionDetail): string {
  const open = (items ?? 0) - (items_done ?? 0) - (items_failed ?? 0)
  if (open === 0) return 'Its open steps are dropped.'
  return `Its open steps and ${counted(open, 'open item')} are dropped.`
}

function Aside({ execution, run, over }: { execution: ExecutionDetail; run: ExecutionGraph; over: boolean }) {
  const waits = over ? [] : run.nodes.filter(({ wait, ended_at }) => wait !== null && ended_at === null)
  const { playbook, version, started_by, parent_execution_id, rerun_of, from_step, cause } = execution
  return (
    <>
      {waits.length > 0 && (
        <Card id="waits" title="Waits">
          <ul className="lines">
            {waits.map(({ node_id, step, wait }) => (
              <li key={node_id} className="wait-line">
                <b>{step}</b> {waitText(wait!)}{' '}
                {wait!.staging_record_id !== null && (
                  <a className="link" href={`/records/${wait!.staging_record_id}`}>
                    Open the record
                  </a>
                )}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card id="origin" title="Came from">
        <Facts
          facts={[
            [
              'Playbook',
              playbook === null ? (
                'not open to you'
              ) : (
                <span key="playbook">
                  <a className="link" href={`/playbooks/${playbook}`}>
                    {playbook}
                  </a>{' '}
                  version {version}
                </span>
              ),
            ],
            ['Started by', started_by === null ? undefined : <Person key="by" id={started_by} />],
            ['Started', <Ago key="at" at={execution.created_at} />],
            [
              'Event',
              cause === null ? undefined : <LinkTo key="event" href={`/events/${cause}`} text="its cause" />,
            ],
            [
              'Parent',
              parent_execution_id === null ? undefined : (
                <LinkTo
                  key="parent"
                  href={`/executions/${parent_execution_id}`}
                  text={shortRun(parent_execution_id)}
                />
              ),
            ],
            [
              'Run again of',
              rerun_of === null ? undefined : (
                <span key="rerun">
                  <LinkTo href={`/executions/${rerun_of}`} text={shortRun(rerun_of)} /> from {from_step}
                </span>
              ),
            ],
            ['Items', itemsText(execution) || undefined],
            ['Log', `${count(execution.last_seq)} events`],
            ['Shown as of', <Ago key="as-of" at={execution.updated_at} />],
            ['Id', <code key="id">{execution.execution_id}</code>],
          ]}
        />
      </Card>
      <Children id={execution.execution_id} />
    </>
  )
}

function LinkTo({ href, text }: { href: string; text: string }) {
  return (
    <a className="link" href={href}>
      {text}
    </a>
  )
}

const MAX_CHILDREN = 20

/** Executions that its steps started. */
function Children({ id }: { id: string }) {
  const { data } = useLiveQuery(['executions', id, 'children'], (api) =>
    api.executions.list({ parent: id, limit: MAX_CHILDREN }),
  )
  if (data === undefined || data.executions.length === 0) return null
  return (
    <Card id="children" title="Started by its steps">
      <ul className="lines">
        {data.executions.map((child) => {
          const { tone, text } = executionStatus(child)
          return (
            <li key={child.execution_id}>
              <Chip tone={tone}>{text}</Chip>{' '}
              <LinkTo
                href={`/executions/${child.execution_id}`}
                text={`${child.playbook ?? 'execution'} ${shortRun(child.execution_id)}`}
              />
            </li>
          )
        })}
        {data.next !== null && <li className="tiny">and more</li>}
      </ul>
    </Card>
  )
}
