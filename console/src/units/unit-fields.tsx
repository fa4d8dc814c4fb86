import { useState } from 'react'
import type { ListedUnit } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'

/** The reference of the decision that allows it. */
export function ApprovalField({ value, set }: { value: string; set(value: string): void }) {
  return (
    <label className="choice">
      <span>Reference of the approval</span>
      <input
        required
        maxLength={500}
        placeholder="APR-2026-114"
        value={value}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  )
}

const ADDRESS = '[a-z0-9][a-z0-9_.~\\-]*(/[a-z0-9][a-z0-9_.~\\-]*)*'

/** The address of a new unit. */
export function AddressField({
  label = 'Address: for good, and once in the workspace',
  value,
  set,
}: {
  label?: string
  value: string
  set(value: string): void
}) {
  return (
    <label className="choice">
      <span>{label}</span>
      <input
        required
        maxLength={400}
        pattern={ADDRESS}
        placeholder="handbook/leave"
        title="Small letters, digits and . _ ~ - with slashes between, as handbook/leave"
        value={value}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  )
}

const MAX_CHOICES = 50

interface UnitChoiceProps {
  /** "the successor": what is looked for. */
  readonly what: string
  readonly label: string
  /** Where nothing is chosen. */
  readonly placeholder: string
  readonly none: string
  readonly status?: string
  /** In this workspace. */
  readonly workspace: string
  /** Those that cannot be chosen. */
  readonly without: readonly string[]
  readonly value: string
  readonly required?: boolean
  choose(id: string, unit: ListedUnit | undefined): void
}

/** A unit that is found by a part of its title or address. */
export function UnitChoice(props: UnitChoiceProps) {
  const { what, label, placeholder, none, status, workspace, without, value, required = true, choose } = props
  const [text, setText] = useState('')
  const { data } = useLiveQuery(['units', 'choices', workspace, status, text], (live) =>
    live.units.list({ workspace_id: workspace, status, text: text.trim(), limit: MAX_CHOICES }),
  )
  const choices = (data?.units ?? []).filter(
    ({ unit_id, lifecycle_status }) =>
      ['draft', 'enacted'].includes(lifecycle_status) && !without.includes(unit_id),
  )
  return (
    <>
      <label className="choice">
        <span>Find {what} by title or address</span>
        <input type="search" maxLength={200} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <label className="choice">
        <span>{label}</span>
        <select
          required={required}
          value={value}
          onChange={({ target }) =>
            choose(
              target.value,
              choices.find(({ unit_id }) => unit_id === target.value),
            )
          }
        >
          <option value="">{choices.length === 0 && required ? none : placeholder}</option>
          {choices.map((choice) => (
            <option key={choice.unit_id} value={choice.unit_id}>
              {choice.title} · {choice.canonical_address}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}
