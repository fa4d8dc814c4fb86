import { useState } from 'react'
import type { UnitContext, UnitDetail } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionButton } from '../parts/action-button.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { counted } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'
import { ApprovalField, UnitChoice } from './unit-fields.tsx'
import { MergeDialog, MoveDialog, SplitDialog } from './unit-structure.tsx'

interface Props {
  readonly unit: UnitDetail
  readonly context: UnitContext
  /** Called after each change. */
  changed(): Promise<unknown>
}

type ActionName = keyof UnitContext['may']

/** In the order of a unit's life. Those that are no option in its state are left out; the others say why not. */
const ACTIONS: readonly (readonly [ActionName, string])[] = [
  ['edit', 'Edit the text…'],
  ['enact', 'Enact…'],
  ['supersede', 'Supersede…'],
  ['profile', 'Topics…'],
  ['move', 'Move…'],
  ['split', 'Split…'],
  ['merge', 'Merge…'],
  ['change_kind', 'Change the kind…'],
  ['retire', 'Retire…'],
  ['delete', 'Delete…'],
  ['restore', 'Restore…'],
]

/** Whether it makes sense at all now, whoever asks. */
function isOption(name: ActionName, { lifecycle_status: status, deleted_at }: UnitDetail): boolean {
  if (deleted_at !== null) return name === 'restore'
  switch (name) {
    case 'restore':
      return false
    case 'edit':
    case 'enact':
      return status === 'draft'
    case 'supersede':
      return status === 'enacted'
    case 'delete':
      return true
    default:
      return status === 'draft' || status === 'enacted'
  }
}

export function UnitActions({ unit, context, changed }: Props) {
  const [asked, ask] = useState<ActionName>()
  const options = ACTIONS.filter(([name]) => isOption(name, unit))
  const allowed = options.filter(([name]) => context.may[name].allowed)
  const refused = options.filter(([name]) => !context.may[name].allowed)
  const reasons = [...new Set(refused.map(([name]) => context.may[name].reason))]
  return (
    <>
      <div className="unit-actions">
        {allowed.map(([name, text], index) => (
          <ActionButton
            key={name}
            text={text}
            allowed
            busy={false}
            next={index === 0 && unit.lifecycle_status === 'draft'}
            act={() => ask(name)}
          />
        ))}
        {reasons.map((reason) => (
          <p key={reason} className="tiny">
            {refused
              .filter(([name]) => context.may[name].reason === reason)
              .map(([, text]) => text.replace('…', ''))
              .join(', ')}
            : {reason}
          </p>
        ))}
        {options.length === 0 && (
          <p className="tiny">Nothing more happens to it: it is {unit.lifecycle_status}.</p>
        )}
      </div>
      {asked && (
        <Asked name={asked} unit={unit} context={context} changed={changed} close={() => ask(undefined)} />
      )}
    </>
  )
}

function Asked({ name, ...props }: Props & { name: ActionName; close(): void }) {
  switch (name) {
    case 'edit':
      return <EditDialog {...props} />
    case 'enact':
      return <EnactDialog {...props} />
    case 'supersede':
      return <SupersedeDialog {...props} />
    case 'profile':
      return <TopicsDialog {...props} />
    case 'move':
      return <MoveDialog {...props} />
    case 'split':
      return <SplitDialog {...props} />
    case 'merge':
      return <MergeDialog {...props} />
    case 'change_kind':
      return <KindDialog {...props} />
    default:
      return <EndDialog name={name} {...props} />
  }
}

export type DialogProps = Props & { close(): void }

function EditDialog({ unit, changed, close }: DialogProps) {
  const { api } = useSession()
  // What was read when the dialog opened: an edit of somebody else meanwhile is refused, not overwritten.
  const [based] = useState(unit)
  const [title, setTitle] = useState(unit.version.title)
  const [body, setBody] = useState(unit.version.body)
  return (
    <ActionDialog
      title={`Edit ${based.title}`}
      verb={`Save as version ${based.version_no + 1}`}
      reason="optional"
      reasonLabel="Why (optional; stored with the version)"
      close={close}
      act={async (note) => {
        const edit = { expected_version: based.version_no, body, title, ...(note !== '' && { note }) }
        await api.units.edit(based.unit_id, edit)
        await changed()
      }}
    >
      <p>
        Version {based.version_no} stays as it is. Search has the new text about two minutes after the last
        edit and finds it meanwhile by its words.
        {unit.version_no !== based.version_no && (
          <b>
            {' '}
            Somebody saved version {unit.version_no} while you wrote: your text will be refused. Copy it.
          </b>
        )}
      </p>
      <label className="choice">
        <span>Title</span>
        <input required maxLength={500} value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="choice">
        <span>Text (Markdown)</span>
        <textarea
          required
          className="unit-editor"
          rows={16}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
      </label>
    </ActionDialog>
  )
}

function EnactDialog({ unit, changed, close }: DialogProps) {
  const { api } = useSession()
  const [version] = useState(unit.version_no)
  const [approval, setApproval] = useState('')
  return (
    <ActionDialog
      title={`Enact ${unit.title}`}
      verb={`Enact version ${version}`}
      close={close}
      act={async () => {
        await api.units.enact(unit.unit_id, { expected_version: version, apr_ref: approval.trim() })
        await changed()
      }}
    >
      <p>
        Exactly version {version} comes into force, and nobody changes its text from then on. A new text needs
        another unit that supersedes it. If somebody edits it first, nothing happens.
      </p>
      <ApprovalField value={approval} set={setApproval} />
    </ActionDialog>
  )
}

function SupersedeDialog({ unit, context, changed, close }: DialogProps) {
  const { api } = useSession()
  const [successor, setSuccessor] = useState('')
  const [approval, setApproval] = useState('')
  return (
    <ActionDialog
      title={`Supersede ${unit.title}`}
      verb="Supersede"
      close={close}
      act={async () => {
        await api.units.supersede(unit.unit_id, { successor, apr_ref: approval.trim() })
        await changed()
      }}
    >
      <p>
        Another unit in force takes its place. This one keeps its text and its history and leaves the ordinary
        search. {context.successor && `Its successor ${context.successor.title} is a draft: enact it first.`}
      </p>
      <UnitChoice
        what="the successor"
        label="Successor"
        placeholder="choose…"
        none="no other unit is in force"
        status="enacted"
        workspace={unit.workspace_id}
        without={[unit.unit_id]}
        value={successor}
        choose={setSuccessor}
      />
      <ApprovalField value={approval} set={setApproval} />
    </ActionDialog>
  )
}

function TopicsDialog({ unit, changed, close }: DialogProps) {
  const { api } = useSession()
  const { data } = useLiveQuery(['units', 'topics'], (live) => live.units.topics())
  const [chosen, setChosen] = useState<readonly string[]>(unit.topics)
  const topics = (data?.topics ?? []).filter(
    ({ topic_label: label, retired_at }) => retired_at === null || unit.topics.includes(label),
  )
  return (
    <ActionDialog
      title={`Topics of ${unit.title}`}
      verb="Save the topics"
      close={close}
      act={async () => {
        await api.units.setTopics(unit.unit_id, chosen)
        await changed()
      }}
    >
      <p>Topics are filters of lists and of search. They change no text and make no version.</p>
      {topics.length === 0 ? (
        <p className="muted">
          There is no topic yet. Somebody who administers creates one with <code>stagedoor topic create</code>
          .
        </p>
      ) : (
        <fieldset className="topic-choices">
          <legend className="unseen">Topics</legend>
          {topics.map(({ topic_id, topic_label: label }) => (
            <label key={topic_id}>
              <input
                type="checkbox"
                checked={chosen.includes(label)}
                onChange={(event) =>
                  setChosen(
                    event.target.checked ? [...chosen, label] : chosen.filter((other) => other !== label),
                  )
                }
              />{' '}
              {label}
            </label>
          ))}
        </fieldset>
      )}
    </ActionDialog>
  )
}

function KindDialog({ unit, changed, close }: DialogProps) {
  const { api } = useSession()
  const { data } = useLiveQuery(['units', 'kinds'], (live) => live.units.kinds())
  const [kind, setKind] = useState(unit.unit_kind)
  const [approval, setApproval] = useState('')
  return (
    <ActionDialog
      title={`Change the kind of ${unit.title}`}
      verb="Change the kind"
      close={close}
      act={async () => {
        await api.units.changeKind(unit.unit_id, { unit_kind: kind, apr_ref: approval.trim() })
        await changed()
      }}
    >
      <p>The text stays. A kind may need keys in the profile; the checker looks at the unit again.</p>
      <label className="choice">
        <span>Kind</span>
        <select value={kind} onChange={(event) => setKind(event.target.value)}>
          {(data?.kinds ?? []).map(({ unit_kind, description }) => (
            <option key={unit_kind} value={unit_kind}>
              {unit_kind}: {description}
            </option>
          ))}
        </select>
      </label>
      <ApprovalField value={approval} set={setApproval} />
    </ActionDialog>
  )
}

/** What ends a unit, and what brings it back. */
function EndDialog({ name, unit, context, changed, close }: DialogProps & { name: ActionName }) {
  const { api } = useSession()
  const inside = context.units_in > 0 ? ` ${counted(context.units_in, 'unit')} in it stay as they are.` : ''
  const edges = unit.edges_in > 0 ? ` ${counted(unit.edges_in, 'edge')} of other units lead to it.` : ''
  const texts: Partial<Record<ActionName, readonly [verb: string, text: string]>> = {
    retire: [
      'Retire',
      `It is no longer valid, nothing takes its place, and it leaves search. A retired unit does not come back.${inside}${edges}`,
    ],
    delete: [
      'Delete',
      `It leaves lists and search within a minute. It can be restored as it was.${inside}${edges}`,
    ],
    restore: ['Restore', `It comes back as it was: ${unit.lifecycle_status}, version ${unit.version_no}.`],
  }
  const [verb, text] = texts[name]!
  return (
    <ActionDialog
      title={`${verb} ${unit.title}`}
      verb={verb}
      close={close}
      {...(name !== 'restore' && { reason: 'optional' as const })}
      act={async (reason) => {
        if (name === 'retire') await api.units.retire(unit.unit_id, reason)
        else if (name === 'delete') await api.units.delete(unit.unit_id, reason)
        else await api.units.restore(unit.unit_id)
        await changed()
      }}
    >
      <p>{text}</p>
    </ActionDialog>
  )
}
