import { type ReactNode, useId, useState } from 'react'
import { Choice } from '../parts/choice.tsx'
import { type ConditionsDraft, newHours, type RuleDraft } from './policy-draft.ts'

interface Props {
  readonly rule: RuleDraft
  readonly number: number
  readonly count: number
  /** Of the dataset; none are known where the policy is for all. */
  readonly columns: readonly string[]
  readonly groups: readonly string[]
  readonly problems: readonly string[]
  change(rule: RuleDraft): void
  move(by: -1 | 1): void
  remove(): void
}

/** One rule: when it applies, and what a change needs then. */
export function RuleFields({ rule, number, count, columns, groups, problems, change, move, remove }: Props) {
  const { when } = rule
  const set = (next: ConditionsDraft) => change({ ...rule, when: { ...when, ...next } })
  const called = `rule ${number}`
  return (
    <fieldset className="policy-rule">
      <legend>
        Rule {number}
        {rule.name && `: ${rule.name}`}
      </legend>
      <div className="policy-actions">
        <button type="button" className="button is-small" disabled={number === 1} onClick={() => move(-1)}>
          Move up<span className="unseen"> {called}</span>
        </button>
        <button type="button" className="button is-small" disabled={number === count} onClick={() => move(1)}>
          Move down<span className="unseen"> {called}</span>
        </button>
        <button type="button" className="button is-small" onClick={remove}>
          Remove<span className="unseen"> {called}</span>
        </button>
      </div>
      <label className="choice">
        <span>Name, for those who read why more is needed (optional)</span>
        <input
          value={rule.name}
          maxLength={100}
          onChange={(event) => change({ ...rule, name: event.target.value })}
        />
      </label>
      <p className="policy-part">It applies when all of these hold</p>
      <div className="policy-conditions">
        <Condition
          label="Many rows are written or deleted"
          isOn={when.rows_over !== undefined}
          set={(isOn) => set({ rows_over: isOn ? '1000' : undefined })}
        >
          <Figure label="Rows over" value={when.rows_over} set={(rows_over) => set({ rows_over })} />
        </Condition>
        <Condition
          label="A large share of the existing rows changes"
          isOn={when.share_changed_over !== undefined}
          set={(isOn) => set({ share_changed_over: isOn ? '20' : undefined })}
        >
          <Figure
            label="Share over, in %"
            value={when.share_changed_over}
            set={(share_changed_over) => set({ share_changed_over })}
          />
        </Condition>
        <Condition
          label="Rows are deleted"
          isOn={when.deletes_over !== undefined}
          set={(isOn) => set({ deletes_over: isOn ? '0' : undefined })}
        >
          <Figure
            label="Deletes over"
            value={when.deletes_over}
            set={(deletes_over) => set({ deletes_over })}
          />
        </Condition>
        <Condition
          label="One of certain columns changes"
          isOn={when.columns !== undefined}
          set={(isOn) => set({ columns: isOn ? [] : undefined })}
        >
          {columns.length > 0 ? (
            <NamesChoice
              label="Columns"
              offered={columns}
              value={when.columns ?? []}
              set={(names) => set({ columns: names })}
            />
          ) : (
            <Names
              label="Columns, with commas between them"
              value={when.columns ?? []}
              set={(names) => set({ columns: names })}
            />
          )}
        </Condition>
        <Condition
          label="A column of numbers changes by much in all"
          isOn={when.amount_over !== undefined}
          set={(isOn) => set({ amount_over: isOn ? { column: '', limit: '' } : undefined })}
        >
          <AmountFields
            columns={columns}
            amount={when.amount_over ?? { column: '', limit: '' }}
            set={(amount_over) => set({ amount_over })}
          />
        </Condition>
        <Condition
          label="It is approved or promoted outside working hours"
          isOn={when.outside_hours !== undefined}
          set={(isOn) => set({ outside_hours: isOn ? newHours() : undefined })}
        >
          {when.outside_hours && (
            <HoursFields hours={when.outside_hours} set={(outside_hours) => set({ outside_hours })} />
          )}
        </Condition>
        <Condition
          label="It is the first upload of its source"
          isOn={when.first_upload_of_source === true}
          set={(isOn) => set({ first_upload_of_source: isOn ? true : undefined })}
        />
      </div>
      <p className="policy-part">Then it needs</p>
      <div className="policy-row">
        <Figure
          label="Approvals in all"
          value={rule.approvals}
          set={(approvals) => change({ ...rule, approvals })}
        />
        <NamesChoice
          label="One approval of each of these groups"
          none="There is no group yet; the card Groups below adds one."
          offered={groups}
          value={rule.groups}
          set={(names) => change({ ...rule, groups: names })}
        />
      </div>
      {problems.map((text) => (
        <p key={text} className="is-wrong tiny">
          {text}
        </p>
      ))}
    </fieldset>
  )
}

interface ConditionProps {
  readonly label: string
  readonly isOn: boolean
  set(isOn: boolean): void
  readonly children?: ReactNode
}

function Condition({ label, isOn, set, children }: ConditionProps) {
  return (
    <div className="policy-condition">
      <label className="settings-check">
        <input type="checkbox" checked={isOn} onChange={(event) => set(event.target.checked)} /> {label}
      </label>
      {isOn && children}
    </div>
  )
}

interface FigureProps {
  readonly label: string
  readonly value: string | undefined
  set(value: string): void
}

function Figure({ label, value, set }: FigureProps) {
  return (
    <label className="choice">
      <span>{label}</span>
      <input
        type="number"
        min={0}
        step="any"
        value={value ?? ''}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  )
}

type Amount = NonNullable<ConditionsDraft['amount_over']>

function AmountFields(props: { columns: readonly string[]; amount: Amount; set(amount: Amount): void }) {
  const { columns, amount, set } = props
  const offered = [...new Set([...columns, ...(amount.column === '' ? [] : [amount.column])])]
  return (
    <div className="policy-row">
      {columns.length > 0 ? (
        <Choice
          label="Column of numbers"
          value={amount.column}
          options={[['', 'choose…'], ...offered.map((name) => [name, name] as const)]}
          choose={(column) => set({ ...amount, column })}
        />
      ) : (
        <label className="choice">
          <span>Column of numbers</span>
          <input value={amount.column} onChange={(event) => set({ ...amount, column: event.target.value })} />
        </label>
      )}
      <Figure
        label="Differences over, whatever their sign"
        value={amount.limit}
        set={(limit) => set({ ...amount, limit })}
      />
    </div>
  )
}

type Hours = NonNullable<ConditionsDraft['outside_hours']>
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function HoursFields({ hours, set }: { hours: Hours; set(hours: Hours): void }) {
  const days = hours.days ?? []
  const zones = useId()
  return (
    <div className="policy-row">
      <label className="choice">
        <span>Work begins</span>
        <input
          type="time"
          value={hours.from}
          onChange={(event) => set({ ...hours, from: event.target.value })}
        />
      </label>
      <label className="choice">
        <span>Work ends</span>
        <input type="time" value={hours.to} onChange={(event) => set({ ...hours, to: event.target.value })} />
      </label>
      <label className="choice">
        <span>Time zone</span>
        <input
          list={zones}
          value={hours.time_zone}
          onChange={(event) => set({ ...hours, time_zone: event.target.value })}
        />
        <datalist id={zones}>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </label>
      <fieldset className="names-choice">
        <legend>Working days</legend>
        {DAYS.map((day, index) => (
          <label key={day}>
            <input
              type="checkbox"
              checked={days.includes(index + 1)}
              onChange={(event) =>
                set({
                  ...hours,
                  days: event.target.checked
                    ? [...days, index + 1].sort()
                    : days.filter((one) => one !== index + 1),
                })
              }
            />{' '}
            {day}
          </label>
        ))}
      </fieldset>
    </div>
  )
}

interface NamesProps {
  readonly label: string
  readonly value: readonly string[]
  set(value: string[]): void
}

/** Names of which some are chosen. One that is chosen and no longer offered stays, so that it can be taken away. */
export function NamesChoice(
  props: NamesProps & { readonly offered: readonly string[]; readonly none?: string },
) {
  const { label, value, set, offered, none } = props
  const gone = value.filter((name) => !offered.some((one) => one.toLowerCase() === name.toLowerCase()))
  const isChosen = (name: string) => value.some((one) => one.toLowerCase() === name.toLowerCase())
  return (
    <fieldset className="names-choice">
      <legend>{label}</legend>
      {offered.length === 0 && none && <span className="tiny">{none}</span>}
      {[...offered, ...gone].map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={isChosen(name)}
            onChange={(event) =>
              set(
                event.target.checked
                  ? [...value, name]
                  : value.filter((one) => one.toLowerCase() !== name.toLowerCase()),
              )
            }
          />{' '}
          {name}
          {gone.includes(name) && <span className="tiny is-wrong"> (there is none any more)</span>}
        </label>
      ))}
    </fieldset>
  )
}

function Names({ label, value, set }: NamesProps) {
  const [text, setText] = useState(value.join(', '))
  const put = (next: string) => {
    setText(next)
    const names = next.split(',').map((name) => name.trim())
    set(names.filter((name) => name !== ''))
  }
  return (
    <label className="choice">
      <span>{label}</span>
      <input value={text} onChange={(event) => put(event.target.value)} />
    </label>
  )
}
