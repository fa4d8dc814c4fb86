import { type FormEvent, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Playbook } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Choice } from '../parts/choice.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { type ArgField, fieldsOf, readFields } from './args-form.ts'
import type { Definition } from './playbook-graph.ts'

interface Props {
  /** Chosen at first. */
  readonly playbook?: string | undefined
  close(): void
}

/** Starts a playbook, with a form that is made from its arguments. */
export function StartDialog({ playbook, close }: Props) {
  const [name, setName] = useState(playbook)
  const list = useLiveQuery(['playbooks', 'startable'], (api) => api.playbooks.list({ limit: 200 }))
  const startable = (list.data?.playbooks ?? []).filter(({ disabled_at }) => disabled_at === null)
  const known = name !== undefined && startable.some((one) => one.name === name) ? name : undefined
  return (
    <Dialog title="Start a playbook" close={close}>
      <FailureNote failure={list.failure} />
      {list.data && startable.length === 0 && (
        <>
          <EmptyState
            title="There is no playbook that you may start."
            command="stagedoor playbook register playbook.yaml --open-to-members"
          >
            Members start playbooks that are registered as open to them.
          </EmptyState>
          <div className="dialog-foot">
            <button type="button" className="button" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
      {startable.length > 0 && (
        <div className="dialog-form">
          <Choice
            label="Playbook"
            value={known ?? ''}
            options={[['', 'Choose…'], ...startable.map((one): [string, string] => [one.name, titleOf(one)])]}
            choose={(chosen) => setName(chosen === '' ? undefined : chosen)}
          />
          {known === undefined ? (
            <div className="dialog-foot">
              <button type="button" className="button" onClick={close}>
                Cancel
              </button>
            </div>
          ) : (
            <ArgsForm key={known} name={known} close={close} />
          )}
        </div>
      )}
    </Dialog>
  )
}

function titleOf({ name, description }: Playbook): string {
  if (description === null) return name
  return `${name}: ${description.length > 60 ? `${description.slice(0, 59)}…` : description}`
}

function ArgsForm({ name, close }: { name: string; close(): void }) {
  const { api, me } = useSession()
  const { data, failure } = useLiveQuery(['playbooks', name, 'newest'], (use) => use.playbooks.find(name))
  const workspaces = me.workspaces.filter(({ rights }) => rights.includes('operate'))
  const [workspace, setWorkspace] = useState(workspaces[0]?.id)
  const [texts, setTexts] = useState<Record<string, string>>({})
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<Failure>()
  if (data === undefined)
    return failure ? <FailureNote failure={failure} /> : <p className="empty">Loading…</p>
  const fields = fieldsOf((data.playbook as unknown as Definition).args)

  async function submit(event: FormEvent) {
    event.preventDefault()
    const read = readFields(fields, texts)
    setErrors(read.errors)
    const [wrong] = Object.keys(read.errors)
    if (wrong !== undefined) return document.getElementById(idOf(wrong))?.focus()
    setBusy(true)
    setRefused(undefined)
    try {
      const { execution_id } = await api.executions.start({
        playbook: name,
        args: read.args,
        workspace_id: workspace,
        version: data!.version,
      })
      close()
      go(`/executions/${execution_id}`)
    } catch (thrown) {
      setBusy(false)
      setRefused(asFailure(thrown))
    }
  }

  return (
    // Numbers are checked here, not by the browser, so that the error stands at the field in the console's words.
    <form className="dialog-form" onSubmit={submit} noValidate>
      {workspaces.length > 1 && (
        <Choice
          label="Workspace"
          value={workspace ?? ''}
          options={workspaces.map(({ id, name: title }): [string, string] => [id, title ?? id])}
          choose={setWorkspace}
        />
      )}
      {fields.length === 0 && <p>This playbook takes no arguments.</p>}
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={texts[field.name] ?? field.initial}
          error={errors[field.name]}
          change={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <p className="muted">
        Starts version {data.version} of {name} as a new execution. It can be paused and cancelled while it
        runs.
      </p>
      <RefusalNote failure={refused} />
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="button is-next" disabled={busy}>
          Start {name}
        </button>
      </div>
    </form>
  )
}

const idOf = (name: string) => `arg-${name}`

interface FieldProps {
  readonly field: ArgField
  readonly text: string
  readonly error: string | undefined
  change(text: string): void
}

function Field({ field: { name, kind, initial, hint }, text, error, change }: FieldProps) {
  const id = idOf(name)
  const shared = {
    id,
    value: text,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-hint`,
    onChange: (event: { target: { value: string } }) => change(event.target.value),
  }
  const isLong = kind === 'json' || initial.length > 60
  return (
    <div className="choice">
      <label className="arg-name" htmlFor={id}>
        {name}
      </label>
      {kind === 'flag' ? (
        <select {...shared}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      ) : isLong ? (
        <textarea {...shared} rows={Math.min(10, Math.max(3, text.split('\n').length))} spellCheck={false} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          autoComplete="off"
        />
      )}
      <p id={`${id}-hint`} className={error === undefined ? 'tiny' : 'is-wrong arg-error'}>
        {error ?? (text === initial ? `${hint} · default` : hint)}
      </p>
    </div>
  )
}
