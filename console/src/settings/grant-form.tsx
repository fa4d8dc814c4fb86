import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Choice } from '../parts/choice.tsx'

interface Grant<Role> {
  readonly name: string
  readonly role: Role
  readonly days: number
}

interface Props<Role extends string> {
  /** Of the field that says who or what gets the role. */
  readonly label: string
  readonly placeholder: string
  readonly maxLength: number
  readonly roleLabel: string
  readonly roles: readonly (readonly [Role, string])[]
  readonly start: { readonly role: Role; readonly days: number }
  readonly lifetimes: readonly (readonly [days: number, label: string])[]
  /** What else is asked. */
  readonly children?: ReactNode
  readonly action: string
  readonly busy: boolean
  submit(grant: Grant<Role>): void
}

/** Gives somebody or something a role for some days: an invitation for a person, a token for a program. */
export function GrantForm<Role extends string>(props: Props<Role>) {
  const { label, placeholder, maxLength, roleLabel, roles, start, lifetimes, children, action, busy } = props
  const [name, setName] = useState('')
  const [role, setRole] = useState(start.role)
  const [days, setDays] = useState(String(start.days))
  const id = useId()
  const send = (event: FormEvent) => {
    event.preventDefault()
    props.submit({ name, role, days: Number(days) })
  }
  return (
    <form className="settings-form" onSubmit={send}>
      <label className="choice" htmlFor={id}>
        <span>{label}</span>
        <input
          id={id}
          value={name}
          maxLength={maxLength}
          required
          placeholder={placeholder}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <Choice label={roleLabel} value={role} options={roles} choose={(chosen) => setRole(chosen as Role)} />
      <Choice
        label="Valid for"
        value={days}
        options={lifetimes.map(([count, text]) => [String(count), text] as const)}
        choose={setDays}
      />
      {children}
      <button type="submit" className="button is-next" disabled={busy}>
        {action}
      </button>
    </form>
  )
}
