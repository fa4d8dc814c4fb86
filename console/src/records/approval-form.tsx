import type { Approval } from '../api/types.ts'

type Field = Approval['form'][number]
export type Answers = Readonly<Record<string, string | number | boolean>>

/** The fields that a reviewer fills in; what is empty is left out. What does not fit is said below its field; the server checks it again. */
export function ApprovalForm({
  fields,
  answers,
  disabled,
  set,
}: {
  fields: readonly Field[]
  answers: Answers
  disabled: boolean
  set(answers: Answers): void
}) {
  const change = (name: string, value: string | number | boolean | undefined) => {
    const { [name]: _before, ...rest } = answers
    set(value === undefined || value === '' ? rest : { ...rest, [name]: value })
  }
  return (
    <fieldset className="approval-form" disabled={disabled}>
      <legend className="unseen">Form</legend>
      {fields.map((field) => {
        const id = `answer-${field.name}`
        const limitError = limitErrorOf(field, answers[field.name])
        return (
          <div key={field.name}>
            <label className={field.type === 'boolean' ? 'mark' : 'field'} htmlFor={id}>
              {field.type !== 'boolean' && <FieldName field={field} />}
              <Input
                id={id}
                field={field}
                value={answers[field.name]}
                limitError={limitError === undefined ? undefined : `${id}-error`}
                change={(value) => change(field.name, value)}
              />
              {field.type === 'boolean' && <FieldName field={field} />}
            </label>
            <span id={`${id}-error`} className="tiny is-wrong" role="status">
              {limitError}
            </span>
          </div>
        )
      })}
    </fieldset>
  )
}

function FieldName({ field }: { field: Field }) {
  const notes = [...(field.required ? ['required'] : []), ...limitsOf(field)]
  return (
    <span>
      {field.label ?? field.name}
      {notes.length > 0 && <span className="muted"> ({notes.join(', ')})</span>}
    </span>
  )
}

/** What the server accepts: a number between two others, a text of so many characters. */
function limitsOf({ type, min, max }: Field): string[] {
  const unit = type === 'text' ? ' characters' : ''
  if (min !== undefined && max !== undefined) return [`${min} to ${max}${unit}`]
  if (min !== undefined) return [`at least ${min}${unit}`]
  return max === undefined ? [] : [`at most ${max}${unit}`]
}

function Input({
  id,
  field: { type, required = false, choices = [], min, max },
  value,
  limitError,
  change,
}: {
  id: string
  field: Field
  value: string | number | boolean | undefined
  /** The id of what says why the value does not fit; undefined: it does. */
  limitError: string | undefined
  change(value: string | number | boolean | undefined): void
}) {
  switch (type) {
    case 'boolean':
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(event.target.checked)}
        />
      )
    case 'choice':
      return (
        <select
          id={id}
          value={String(value ?? '')}
          required={required}
          onChange={(event) => change(event.target.value)}
        >
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )
    case 'number':
      return (
        <input
          id={id}
          type="number"
          step="any"
          min={min}
          max={max}
          required={required}
          aria-invalid={limitError !== undefined}
          aria-describedby={limitError}
          value={value === undefined ? '' : String(value)}
          onChange={({ target }) => change(target.value === '' ? undefined : Number(target.value))}
        />
      )
    case 'date':
      return (
        <input
          id={id}
          type="date"
          required={required}
          value={String(value ?? '')}
          onChange={(event) => change(event.target.value)}
        />
      )
    case 'text':
      return (
        <textarea
          id={id}
          rows={2}
          maxLength={max}
          required={required}
          aria-invalid={limitError !== undefined}
          aria-describedby={limitError}
          value={String(value ?? '')}
          onChange={(event) => change(event.target.value)}
        />
      )
  }
}

/** Why a value is outside of the limits of its field; undefined: it is not, or it is empty. */
function limitErrorOf(
  { type, min, max }: Field,
  value: string | number | boolean | undefined,
): string | undefined {
  if (value === undefined) return undefined
  if (type === 'number') {
    if (min !== undefined && Number(value) < min) return `must be at least ${min}`
    if (max !== undefined && Number(value) > max) return `must be at most ${max}`
  }
  // Counted as the database does.
  const length = type === 'text' ? [...String(value)].length : 0
  if (type === 'text' && min !== undefined && length < min) return `has fewer than ${min} characters`
  if (type === 'text' && max !== undefined && length > max) return `has more than ${max} characters`
  return undefined
}

/** The fields whose value does not fit, by their labels. */
export function invalidFieldsIn(fields: readonly Field[], answers: Answers): string[] {
  return fields.flatMap((field) =>
    limitErrorOf(field, answers[field.name]) === undefined ? [] : [field.label ?? field.name],
  )
}

/** The fields that must be filled in and are not, by their labels. */
export function missingIn(fields: readonly Field[], answers: Answers): string[] {
  return fields.flatMap(({ name, label, required }) =>
    required && answers[name] === undefined ? [label ?? name] : [],
  )
}
