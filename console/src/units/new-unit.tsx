import { useState } from 'react'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { AddressField } from './unit-fields.tsx'

export function CreateUnitDialog({ close }: { close(): void }) {
  const { api } = useSession()
  const { id: workspace } = useWorkspace()
  const [address, setAddress] = useState('')
  const [body, setBody] = useState('')
  return (
    <ActionDialog
      title="Write a unit"
      verb="Create the draft"
      close={close}
      act={async () => {
        const unit = {
          canonical_address: address.trim(),
          body,
          ...(workspace && { workspace_id: workspace }),
        }
        const { unit_id } = await api.units.create(unit)
        go(`/units/${unit_id}`)
      }}
    >
      <p>
        It becomes a draft in version 1. Search finds it at once; nothing is in force until it is enacted.
      </p>
      <WorkspaceChoice />
      <AddressField value={address} set={setAddress} />
      <label className="choice">
        <span>Text (Markdown); its first heading or line is the title</span>
        <textarea
          required
          rows={10}
          value={body}
          placeholder={'# Leave\n\n28 days a year.'}
          onChange={(event) => setBody(event.target.value)}
        />
      </label>
    </ActionDialog>
  )
}

/** Browsers would read a file of any size; the server takes 10 MiB of text. */
const MAX_FILE_BYTES = 10 * 1024 ** 2

export function MarkDocumentDialog({ close }: { close(): void }) {
  const { api } = useSession()
  const { id: workspace } = useWorkspace()
  const [source, setSource] = useState('')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()

  async function take(file: File | undefined) {
    if (file === undefined) return
    if (file.size > MAX_FILE_BYTES) return setProblem('The file is larger than 10 MiB.')
    setProblem(undefined)
    setText(await file.text())
    if (source === '') setSource(file.name)
  }

  return (
    <ActionDialog
      title="Cut a document into units"
      verb="Propose the cut"
      close={close}
      act={async () => {
        const document = { text, source_ref: source.trim(), ...(workspace && { workspace_id: workspace }) }
        const { staging_record_id } = await api.units.mark(document)
        go(`/marks/${staging_record_id}`)
      }}
    >
      <p>
        Its headings, lists and tables become pieces. The proposal waits for the approval of another person;
        until it is cut, no unit changes.
      </p>
      <WorkspaceChoice />
      <label className="choice">
        <span>Markdown file</span>
        <input type="file" accept=".md,.markdown,.txt" onChange={(event) => take(event.target.files?.[0])} />
      </label>
      {problem && (
        <p className="note is-bad" role="alert">
          {problem}
        </p>
      )}
      <label className="choice">
        <span>Or its text</span>
        <textarea required rows={8} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <label className="choice">
        <span>Where it comes from: under the same name it is the same document</span>
        <input
          required
          maxLength={2000}
          placeholder="handbook.md"
          value={source}
          onChange={(event) => setSource(event.target.value)}
        />
      </label>
    </ActionDialog>
  )
}
