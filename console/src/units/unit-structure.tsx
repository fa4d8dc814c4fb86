/** Dialogs that change how units are divided: move one into another, split one, merge several. */
import { useState } from 'react'
import type { ListedUnit } from '../api/types.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { counted } from '../parts/format.ts'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import type { DialogProps } from './unit-actions.tsx'
import { AddressField, ApprovalField, UnitChoice } from './unit-fields.tsx'

export function MoveDialog({ unit, context, changed, close }: DialogProps) {
  const { api } = useSession()
  const [container, setContainer] = useState('')
  const [position, setPosition] = useState('')
  const current = context.path.at(-1)
  const inside = context.units_in > 0 ? ` The ${counted(context.units_in, 'unit')} in it move with it.` : ''
  return (
    <ActionDialog
      title={`Move ${unit.title}`}
      verb={container === '' ? 'Move it out of all containers' : 'Move it'}
      close={close}
      act={async () => {
        await api.units.move(unit.unit_id, {
          container_id: container === '' ? null : container,
          ...(container !== '' && position !== '' && { position: Number(position) }),
        })
        await changed()
      }}
    >
      <p>
        {current ? `It is in ${current.title} now.` : 'It is in no other unit now.'} Its address, its text and
        its versions stay as they are.{inside}
      </p>
      <UnitChoice
        what="the container"
        label="Into"
        placeholder="no container: at the top"
        none="no other unit"
        required={false}
        workspace={unit.workspace_id}
        without={[unit.unit_id]}
        value={container}
        choose={setContainer}
      />
      {container !== '' && (
        <label className="choice">
          <span>Place in it, from 1 (empty: at the end)</span>
          <input
            type="number"
            min={1}
            max={100_000}
            value={position}
            onChange={(event) => setPosition(event.target.value)}
          />
        </label>
      )}
    </ActionDialog>
  )
}

interface Part {
  readonly key: number
  readonly address: string
  readonly body: string
}

/** A unit is retired, and new ones hold its parts. */
export function SplitDialog({ unit, context, changed, close }: DialogProps) {
  const { api } = useSession()
  // What was read when the dialog opened: an edit of somebody else meanwhile is refused.
  const [based] = useState(unit)
  const [parts, setParts] = useState<readonly Part[]>(() =>
    proposeParts(based.version.body).map((body, at) => ({
      key: at,
      address: `${based.canonical_address}-${at + 1}`,
      body,
    })),
  )
  const [approval, setApproval] = useState('')
  const inForce = based.lifecycle_status === 'enacted'
  const change = (key: number, edit: Partial<Part>) =>
    setParts(parts.map((part) => (part.key === key ? { ...part, ...edit } : part)))
  const before = lettersOf(based.version.body)
  const after = parts.reduce((sum, { body }) => sum + lettersOf(body), 0)
  return (
    <ActionDialog
      title={`Split ${based.title}`}
      verb={`Retire it and create ${counted(parts.length, 'unit')}`}
      reason="optional"
      close={close}
      act={async (reason) => {
        const { units } = await api.units.split(based.unit_id, {
          expected_version: based.version_no,
          parts: parts.map(({ address, body }) => ({ canonical_address: address.trim(), body })),
          ...(inForce && { apr_ref: approval.trim() }),
          ...(reason !== '' && { reason }),
        })
        await changed()
        go(`/units/${units[0]!.unit_id}`)
      }}
    >
      <p>
        Version {based.version_no} is retired and keeps its text and history.{' '}
        {inForce ? 'The parts are in force at once, under the approval named here.' : 'The parts are drafts.'}{' '}
        Each takes over kind, topics and place, and has an edge to this one.
        {based.edges_in > 0 && ` ${counted(based.edges_in, 'edge')} of other units still lead to this one.`}
      </p>
      <UnitsInside count={context.units_in} />
      {parts.map(({ key, address, body }, at) => (
        <fieldset key={key} className="unit-part">
          <legend>Part {at + 1}</legend>
          <AddressField
            label={`Address of part ${at + 1}`}
            value={address}
            set={(value) => change(key, { address: value })}
          />
          <label className="choice">
            <span>Text of part {at + 1}; its first heading or line is the title</span>
            <textarea
              required
              rows={6}
              className="unit-editor"
              value={body}
              onChange={(event) => change(key, { body: event.target.value })}
            />
          </label>
          {parts.length > 2 && (
            <button
              type="button"
              className="button is-small"
              onClick={() => setParts(parts.filter((part) => part.key !== key))}
            >
              Remove part {at + 1}
            </button>
          )}
        </fieldset>
      ))}
      <p className={after === before ? 'tiny' : 'note is-held'} aria-live="polite">
        {lengthText(before, after)}
      </p>
      <button
        type="button"
        className="button is-small"
        onClick={() => {
          const key = Math.max(...parts.map((part) => part.key)) + 1
          setParts([...parts, { key, address: `${based.canonical_address}-${key + 1}`, body: '' }])
        }}
      >
        Add a part
      </button>
      {inForce && <ApprovalField value={approval} set={setApproval} />}
    </ActionDialog>
  )
}

/** At the headings of its highest level that occurs more than once; else at the empty line nearest to the middle. */
function proposeParts(body: string): string[] {
  for (const level of [1, 2, 3, 4, 5, 6]) {
    const pieces = body.split(new RegExp(`^(?=#{${level}} )`, 'm')).filter((piece) => piece.trim() !== '')
    const headed = pieces.filter((piece) => piece.startsWith(`${'#'.repeat(level)} `))
    // What stands before the first of them goes with it.
    if (headed.length > 1)
      return pieces[0] === headed[0] ? pieces : [pieces[0]! + pieces[1]!, ...pieces.slice(2)]
  }
  const gaps = [...body.matchAll(/\n\s*\n/g)].map(({ index }) => index)
  const middle = body.length / 2
  const at = gaps.sort((one, other) => Math.abs(one - middle) - Math.abs(other - middle))[0]
  return at === undefined ? [body, ''] : [body.slice(0, at).trim(), body.slice(at).trim()]
}

/** Without white space: where a text is cut, empty lines go. */
function lettersOf(text: string): number {
  return text.replace(/\s+/g, '').length
}

function lengthText(before: number, after: number): string {
  if (before === after) return `The parts hold all ${counted(before, 'character')} of the text.`
  return after < before
    ? `The parts hold ${counted(before - after, 'character')} less than the text: something is left out.`
    : `The parts hold ${counted(after - before, 'character')} more than the text.`
}

/** Units are retired, and a new one holds what they said. */
export function MergeDialog({ unit, context, changed, close }: DialogProps) {
  const { api } = useSession()
  const [based] = useState(unit)
  const [others, setOthers] = useState<readonly ListedUnit[]>([])
  const [address, setAddress] = useState('')
  const [approval, setApproval] = useState('')
  const inForce = based.lifecycle_status === 'enacted'
  const all = [based, ...others]
  return (
    <ActionDialog
      title={`Merge ${based.title} with others`}
      verb={`Retire ${counted(all.length, 'unit')} and create one`}
      reason="optional"
      close={close}
      act={async (reason) => {
        const merged = await api.units.merge({
          units: all.map(({ unit_id, version_no }) => ({ unit_id, expected_version: version_no })),
          canonical_address: address.trim(),
          ...(inForce && { apr_ref: approval.trim() }),
          ...(reason !== '' && { reason }),
        })
        await changed()
        go(`/units/${merged.unit_id}`)
      }}
    >
      <p>
        One new unit holds their texts, one after the other, and has an edge to each. They are retired and
        keep their text and history.{' '}
        {inForce
          ? 'The new unit is in force at once, under the approval named here.'
          : 'The new unit is a draft.'}
      </p>
      <UnitsInside count={context.units_in} />
      <ol className="merge-list" aria-label="In the order of their texts">
        {all.map((one) => (
          <li key={one.unit_id}>
            {one.title} <span className="muted">version {one.version_no}</span>{' '}
            {one.unit_id !== based.unit_id && (
              <button
                type="button"
                className="button is-small"
                onClick={() => setOthers(others.filter(({ unit_id }) => unit_id !== one.unit_id))}
              >
                Leave out<span className="unseen"> {one.title}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
      <UnitChoice
        what="the next one"
        label="Add"
        placeholder="choose…"
        none={inForce ? 'no other unit is in force' : 'no other draft'}
        status={based.lifecycle_status}
        workspace={based.workspace_id}
        required={others.length === 0}
        without={all.map(({ unit_id }) => unit_id)}
        value=""
        choose={(_, chosen) => chosen && setOthers([...others, chosen])}
      />
      <AddressField label="Address of the new unit" value={address} set={setAddress} />
      {inForce && <ApprovalField value={approval} set={setApproval} />}
    </ActionDialog>
  )
}

/** A retired unit holds no others. */
function UnitsInside({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <p className="note is-held">
      {counted(count, 'unit')} in it must be moved elsewhere first: they would be in a retired unit.
    </p>
  )
}
