import { useState } from 'react'
import type { ExecutionDetail } from '../api/types.ts'
import { TraceTree } from '../events/trace-tree.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/choice.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { useParameter } from '../route.ts'
import type { StepGraph } from './playbook-graph.ts'

/** A larger one is loaded when somebody asks for it. */
const MAX_UNASKED_BYTES = 500_000

/** What went in, what came out, and what each step gave. */
export function ResultTab({ execution, graph }: { execution: ExecutionDetail; graph: StepGraph }) {
  const [step, setStep] = useParameter('of')
  const ended = graph.steps.filter(({ run }) => run?.ended_at != null)
  const isDone = execution.status === 'COMPLETED'
  const chosen = step ?? (isDone ? '' : ended.at(-1)?.step)
  const options: [string, string][] = [
    ...(isDone ? [['', 'the whole execution'] as [string, string]] : []),
    ...ended.map((node): [string, string] => [node.step, node.step]),
  ]
  return (
    <div className="stack">
      <Card id="args" title="Arguments">
        <JsonTree label="Arguments as JSON" value={execution.args} />
      </Card>
      <Card
        id="result"
        title="Result"
        aside={
          options.length > 1 && (
            <Choice label="Of" value={chosen ?? ''} options={options} choose={(of) => setStep(of)} />
          )
        }
      >
        {chosen === undefined ? (
          <p className="empty">No step has ended yet.</p>
        ) : (
          <Result key={chosen} execution={execution} step={chosen} />
        )}
      </Card>
      <Lineage id={execution.execution_id} />
    </div>
  )
}

/** What it follows from and what followed from it: events, jobs, executions. */
function Lineage({ id }: { id: string }) {
  const { data, failure, loading } = useLiveQuery(['executions', id, 'trace'], (api) => api.trace(id))
  return (
    <Card id="lineage" title="Lineage">
      <FailureNote failure={failure} />
      {loading && <p className="empty">Loading…</p>}
      {data && <TraceTree trace={data} marked={id} />}
    </Card>
  )
}

function Result({ execution, step }: { execution: ExecutionDetail; step: string }) {
  const kept = (
    step === '' ? execution.result : execution.steps.findLast((one) => one.step === step)?.result
  ) as { bytes?: number } | null | undefined
  const size = kept?.bytes ?? 0
  const [asked, setAsked] = useState(size <= MAX_UNASKED_BYTES)
  const { execution_id: id, status } = execution
  const { data, failure, loading } = useLiveQuery(
    ['executions', id, 'result', step, status],
    (api) => api.executions.result(id, step === '' ? undefined : step),
    { enabled: asked },
  )
  if (!asked)
    return (
      <p className="empty">
        The result has {bytes(size)}.{' '}
        <button type="button" className="button is-small" onClick={() => setAsked(true)}>
          Load it
        </button>
      </p>
    )
  return (
    <>
      <FailureNote failure={failure} />
      {loading && <p className="empty">Loading…</p>}
      {data && <JsonTree label="Result as JSON" value={data.value} />}
    </>
  )
}
