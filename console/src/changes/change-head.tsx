import { type FormEvent, useState } from 'react'
import type { Change } from '../api/changes.ts'
import { Markdown } from '../parts/markdown.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { nameOf } from './use-change.ts'
import './changes.css'

/** Why the change is proposed: its title, description and labels, which its author and reviewers can edit. */
export function ChangeHead({ change, changed }: { change: Change; changed(): void }) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing)
    return (
      <EditForm
        change={change}
        close={() => setEditing(false)}
        changed={() => {
          setEditing(false)
          changed()
        }}
      />
    )
  return (
    <section className="card change-why" aria-label="Why">
      <div className="change-why-head">
        <h2>
          {change.title} <span className="muted">#{change.number}</span>
        </h2>
        {change.labels.map((label) => (
          <span key={label} className="label">
            {label}
          </span>
        ))}
        {change.may.edit && (
          <button type="button" className="button is-small" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
      </div>
      {change.description === '' ? (
        <p className="muted">
          {change.may.edit
            ? 'Nobody has said why yet. Edit, and tell the reviewers.'
            : 'Nobody has said why yet.'}
        </p>
      ) : (
        <Markdown text={change.description} />
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
    <form className="card change-why change-form" onSubmit={submit} aria-label="Edit the change">
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
