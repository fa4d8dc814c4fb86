import { useState } from 'react'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Choice } from '../parts/choice.tsx'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { type StepGraph, stepsFrom } from './playbook-graph.ts'

interface Props {
  readonly id: string
  readonly graph: StepGraph
  /** The version that it ran, and the newest where that is another. */
  readonly version: number | null
  readonly newest: number | undefined
  readonly from: string | undefined
  close(): void
}

/** Begins a new execution at a step of this one; says what runs again and what is taken over. */
export function RerunDialog({ id, graph, version, newest, from, close }: Props) {
  const { api } = useSession()
  const entered = graph.steps.filter(({ run }) => run !== undefined)
  const failed = entered.find(({ run }) => run?.status === 'failed' || run?.status === 'partial')
  const [step, setStep] = useState(from ?? failed?.step ?? entered[0]?.step ?? '')
  const [chosen, setChosen] = useState('same')
  const again = stepsFrom(graph, step)
  const kept = entered.map((node) => node.step).filter((name) => !again.includes(name))
  return (
    <ActionDialog
      title="Run again from a step"
      verb={`Run again from ${step}`}
      act={async () => {
        const { execution_id } = await api.executions.rerun(id, {
          from_step: step,
          ...(chosen === 'newest' && newest !== undefined && { version: newest }),
        })
        go(`/executions/${execution_id}`)
      }}
      close={close}
    >
      <div className="dialog-form">
        <Choice
          label="From the step"
          value={step}
          options={entered.map((node): [string, string] => [node.step, node.step])}
          choose={setStep}
        />
        {newest !== undefined && version !== null && newest !== version && (
          <Choice
            label="Version of the playbook"
            value={chosen}
            options={[
              ['same', `${version}, as this execution`],
              ['newest', `${newest}, the newest`],
            ]}
            choose={setChosen}
          />
        )}
        <p>
          A new execution begins at <b>{step}</b> with the same arguments. This one stays as it is.
        </p>
        <p>
          <b>May run again:</b> {again.join(', ')}. A loop runs again with all its items.
        </p>
        <p>
          <b>Taken over from this execution:</b>{' '}
          {kept.length === 0 ? 'nothing' : `the results of ${kept.join(', ')}`}.
        </p>
      </div>
    </ActionDialog>
  )
}
