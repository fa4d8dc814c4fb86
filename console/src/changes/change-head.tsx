import { type FormEvent, type ReactNode, useState } from 'react'
import type { Change } from '../api/changes.ts'
import { Lost } from '../frame/page-head.tsx'
import { useSystem } from '../live/system.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { nameOf } from './use-change.ts'
import './changes.css'

interface Props {
  /** Undefined: what is shown is not reviewed, such as a dry run, or the change could not be read. */
  readonly change: Change | undefined
  /** Without a change: what it is called by. */
  readonly name: string
  readonly chips: ReactNode
  /** What it is, how large, by whom and when, in one line. */
  readonly facts: ReactNode
  changed(): void
}

/** The head of a page about a change: what it is called, how it stands, and why it is proposed. Author and reviewers edit it here. */
export function ChangeHead({ change, name, chips, facts, changed }: Props) {
  const { lost, at } = useSystem()
  const [isEditing, setEditing] = useState(false)
  return (
    <div className="page-head upload-head change-head">
      <div className="change-title">
        <h1>
          {change?.title ?? name} {change && <span className="change-number">#{change.number}</span>} {chips}
        </h1>
        {change?.may.edit && !isEditing && (
          <button type="button" className="button is-small" onClick={() => setEditing(true)}>
            Edit<span className="unseen"> title, description and labels</span>
          </button>
        )}
      </div>
      <div role="status">{lost && <Lost at={at} />}</div>
      {!lost && <p>{facts}</p>}
      {change && !isEditing && <Why change={change} edit={() => setEditing(true)} />}
      {change && isEditing && (
        <EditForm
          change={change}
          close={() => setEditing(false)}
          changed={() => {
            setEditing(false)
            changed()
          }}
        />
      )}
    </div>
  )
}

function Why({ change: { description, labels, may }, edit }: { change: Change; edit(): void }) {
  return (
    <section className="change-why" aria-label="Why">
      {description !== '' && <Markdown text={description} />}
      {description === '' && (
        <p className="muted">
          Nobody has said why yet.{' '}
          {may.edit && (
            <button type="button" className="link" onClick={edit}>
              Tell the reviewers why
            </button>
          )}
        </p>
      )}
      {labels.length > 0 && (
        <ul className="labels" aria-label="Labels">
          {labels.map((label) => (
            <li key={label} className="label">
              {label}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function EditForm({ change, close, changed }: { change: Change; close(): void; changed(): void }) {
  const { api } = useSession()
  const [title, setTitle] = useState(change.title)
  const [description, setDescription] = useState(change.description)
  const [labels, setLabels] = useState(change.labels.join(', '))
  const { busy, failure, run } = useAction<Change>(changed)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const names = labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== '')
    void run('Saving', () =>
      api.changes.edit(nameOf(change), { title: title.trim(), description, labels: names }),
    )
  }
  return (
    <form className="card change-form" onSubmit={submit} aria-label="Edit the change">
      <label className="choice">
        <span>Title</span>
        <input required maxLength={200} value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="choice">
        <span>Why? Markdown.</span>
        <textarea
          rows={5}
          maxLength={20_000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      <label className="choice">
        <span>Labels, with commas between them</span>
        <input value={labels} maxLength={1_000} onChange={(event) => setLabels(event.target.value)} />
      </label>
      <RefusalNote failure={failure} />
      <div className="change-buttons">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="button is-next" disabled={busy !== undefined || title.trim() === ''}>
          Save
        </button>
      </div>
    </form>
  )
}
