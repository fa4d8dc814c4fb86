import { lazy, Suspense } from 'react'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { count } from '../parts/format.ts'
import { useNarrow } from '../parts/use-narrow.ts'
import { useParameter } from '../route.ts'
import { stepStatus } from './execution-status.ts'
import { type StepGraph, type StepNode, stepDuration } from './playbook-graph.ts'
import { waitText } from './wait-text.ts'
import './executions.css'

/** React Flow and the layout come with the first graph that somebody sees. */
const GraphCanvas = lazy(() => import('./graph-canvas.tsx'))

interface Props {
  readonly graph: StepGraph
  /** Absent: a playbook without an execution. */
  readonly execution?: { readonly over: boolean }
  readonly note?: string | undefined
}

/** The steps of a playbook as a graph or, on a narrow screen and for whoever prefers it, as a list. */
export function StepsCard({ graph, execution, note }: Props) {
  const narrow = useNarrow(720)
  const [view, setView] = useParameter('view')
  const [chosen, choose] = useParameter('step')
  const asList = narrow || view === 'list'
  const shown = graph.steps.find(({ step }) => step === chosen)
  const steps = { graph, execution, chosen }
  return (
    <Card
      id="steps"
      title="Steps"
      aside={
        !narrow && (
          <fieldset className="segments">
            <legend className="unseen">How the steps are shown</legend>
            <button type="button" aria-pressed={!asList} onClick={() => setView(undefined)}>
              Graph
            </button>
            <button type="button" aria-pressed={asList} onClick={() => setView('list')}>
              List
            </button>
          </fieldset>
        )
      }
    >
      {note && <p className="note is-stale">{note}</p>}
      {graph.steps.length === 0 && <p className="empty">No step has begun.</p>}
      {graph.steps.length > 0 &&
        (asList ? (
          <StepList {...steps} />
        ) : (
          <>
            <p className="unseen">
              The graph has {count(graph.steps.length)} steps. Choose “List” to read them.
            </p>
            <Suspense fallback={<p className="empty graph-loading">Loading the graph…</p>}>
              <GraphCanvas
                graph={graph}
                running={execution !== undefined}
                over={execution?.over ?? false}
                chosen={chosen}
                choose={(step) => choose(step === chosen ? undefined : step)}
              />
            </Suspense>
            <Legend running={execution !== undefined} />
          </>
        ))}
      {!asList && shown && (
        <div className="step-chosen">
          <StepLine node={shown} graph={graph} execution={execution} />
        </div>
      )}
    </Card>
  )
}

function Legend({ running }: { running: boolean }) {
  if (!running) return null
  const states = [
    ['ok', 'done'],
    ['work', 'running'],
    ['held', 'waiting or partly done'],
    ['bad', 'failed'],
    ['stale', 'stopped'],
    ['later', 'not reached'],
  ] as const
  return (
    <ul className="graph-legend tiny" aria-hidden="true">
      {states.map(([tone, text]) => (
        <li key={tone}>
          <i className={`glyph is-${tone}`} /> {text}
        </li>
      ))}
    </ul>
  )
}

type Listed = Pick<Props, 'graph'> & { readonly execution: Props['execution'] | undefined }

function StepList({ graph, execution }: Listed) {
  return (
    <ol className="step-list">
      {graph.steps.map((node) => (
        <li key={node.step}>
          <StepLine node={node} graph={graph} execution={execution} />
        </li>
      ))}
    </ol>
  )
}

function StepLine({ node, graph, execution }: Listed & { node: StepNode }) {
  const { step, about, mode, isStart, run } = node
  const said = execution && stepStatus(node, execution.over)
  const arcs = graph.arcs.filter(({ from }) => from === step)
  const took = run && stepDuration(run)
  return (
    <>
      <p className="step-head">
        <b>{step}</b>
        {said &&
          (said.tone === 'later' ? (
            <span className="tiny">{said.text}</span>
          ) : (
            <Chip tone={said.tone}>{said.text}</Chip>
          ))}
        <span className="tiny">
          {[
            isStart && 'starts here',
            about,
            mode && `loop, ${mode}`,
            took,
            run && run.entries > 1 && `entered ${count(run.entries)} times`,
            run && (run.attempt ?? 1) > 1 && `attempt ${run.attempt}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </p>
      {run?.loop && (
        <p>
          {count(run.loop.done)} of {count(run.loop.total)} items done
          {run.loop.failed > 0 && (
            <>
              , <span className="is-wrong">{count(run.loop.failed)} failed</span>
            </>
          )}{' '}
          ·{' '}
          <a href={`?tab=items&loop=${run.loop.loop_id}${run.loop.failed > 0 ? '&item=failed' : ''}`}>
            Show items
          </a>
        </p>
      )}
      {run?.wait && run.ended_at === null && !execution?.over && <p>{waitText(run.wait)}</p>}
      {run?.error && <p className="is-wrong step-error">{run.error}</p>}
      {arcs.length > 0 && (
        <p className="tiny">
          Then{' '}
          {arcs.map(({ to, when, taken }, index) => (
            <span key={`${to} ${when ?? ''}`}>
              {index > 0 && ', '}
              {to}
              {when !== undefined && (
                <>
                  {' '}
                  {when === 'otherwise' ? '' : 'if '}
                  <code>{when}</code>
                </>
              )}
              {taken && ' (taken)'}
            </span>
          ))}
        </p>
      )}
    </>
  )
}
