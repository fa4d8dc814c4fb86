import { type DragEvent, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { PlaybookCheck } from '../api/types.ts'
import { Command } from '../parts/command.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { counted } from '../parts/format.ts'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { ProblemList } from './problem-list.tsx'

/** As the API takes it. */
const MAX_BYTES = 1_048_576

interface Props {
  /** What stands there at first: the text of the newest version. */
  readonly text?: string
  readonly openToMembers?: boolean
  close(): void
}

/** A text is pasted or dropped, checked, and registered as a new version; the check registers nothing. */
export function RegisterDialog({ text: first = '', openToMembers = false, close }: Props) {
  const { api, me } = useSession()
  const [text, setText] = useState(first)
  const [open, setOpen] = useState(openToMembers)
  const [checked, setChecked] = useState<{ of: string; check: PlaybookCheck }>()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const check = checked?.of === text ? checked.check : undefined
  const mayRegister = me.role === 'service_role'

  async function run(work: () => Promise<void>) {
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
    } catch (thrown) {
      setFailure(asFailure(thrown))
    } finally {
      setBusy(false)
    }
  }
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > MAX_BYTES) setFailure(asFailure(new Error(`${file.name} is larger than 1 MB.`)))
    else setText(await file.text())
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    void take(event.dataTransfer.files[0])
  }
  return (
    <Dialog title="Check or register a playbook" close={close}>
      <div className="dialog-form">
        <label className="choice">
          <span>YAML or JSON: write it, paste it, or drop a file here</span>
          <textarea
            className="mono playbook-text"
            rows={14}
            maxLength={MAX_BYTES}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onDrop={drop}
          />
        </label>
        <input
          type="file"
          aria-label="A file with the playbook"
          accept=".yaml,.yml,.json"
          onChange={(event) => void take(event.target.files?.[0])}
        />
        <div role="status">{check && <Checked check={check} />}</div>
        {check && <ProblemList problems={check.problems} text={text} />}
        {mayRegister && (
          <label>
            <input type="checkbox" checked={open} onChange={(event) => setOpen(event.target.checked)} />{' '}
            Members who may operate in a workspace may start it there
          </label>
        )}
        <RefusalNote failure={failure} />
        {!mayRegister && check?.ok && (
          <>
            <p className="muted">
              A playbook runs with the rights of the back end, so the back end registers it. Save the text and
              run:
            </p>
            <Command text={`stagedoor playbook register playbook.yaml${open ? ' --open-to-members' : ''}`} />
          </>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Close
          </button>
          <button
            type="button"
            className={check?.ok && mayRegister ? 'button' : 'button is-next'}
            disabled={busy || text.trim() === ''}
            onClick={() => run(async () => setChecked({ of: text, check: await api.playbooks.check(text) }))}
          >
            Check
          </button>
          {mayRegister && (
            <button
              type="button"
              className="button is-next"
              disabled={busy || !check?.ok}
              onClick={() =>
                run(async () => {
                  const { name } = await api.playbooks.register(text, open)
                  close()
                  go(`/playbooks/${name}`)
                })
              }
            >
              Register
            </button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

function Checked({ check: { ok, problems } }: { check: PlaybookCheck }) {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const warnings = problems.length - errors
  const more = warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`
  return (
    <p className={`note ${ok ? 'is-ok' : 'is-bad'}`}>
      <b>{ok ? 'It can be registered' : `It would be refused: ${counted(errors, 'error')}`}</b>
      {more}
    </p>
  )
}
