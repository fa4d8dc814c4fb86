import type { Approval } from '../api/types.ts'

type Field = Approval['form'][number]
export type Answers = Readonly<Record<string, string | number | boolean>>

/** The fields that a reviewer fills in; what is empty is left out. The server checks them. */
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
      {fields.map((field) => (
        <label
          key={field.name}
          className={field.type === 'boolean' ? 'mark' : 'field'}
          htmlFor={`answer-${field.name}`}
        >
          {field.type !== 'boolean' && <FieldName field={field} />}
          <Input
            id={`answer-${field.name}`}
            field={field}
            value={answers[field.name]}
            change={(value) => change(field.name, value)}
          />
          {field.type === 'boolean' && <FieldName field={field} />}
        </label>
      ))}
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
  change,
}: {
  id: string
  field: Field
  value: string | number | boolean | undefined
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
          value={String(value ?? '')}
          onChange={(event) => change(event.target.value)}
        />
      )
  }
}

/** The fields that must be filled in and are not, by their labels. */
export function missingIn(fields: readonly Field[], answers: Answers): string[] {
  return fields.flatMap(({ name, label, required }) =>
    required && answers[name] === undefined ? [label ?? name] : [],
  )
}
