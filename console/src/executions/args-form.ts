/** The arguments of a playbook as fields of a form: what each takes follows from its default. */

export type FieldKind = 'text' | 'number' | 'flag' | 'json' | 'any'

export interface ArgField {
  readonly name: string
  readonly kind: FieldKind
  /** What holds if nobody changes it, as text. */
  readonly initial: string
  readonly hint: string
}

export function fieldsOf(args: Readonly<Record<string, unknown>>): ArgField[] {
  return Object.entries(args).map(([name, value]) => ({ name, ...fieldOf(value) }))
}

function fieldOf(value: unknown): Omit<ArgField, 'name'> {
  if (typeof value === 'string') return { kind: 'text', initial: value, hint: 'Text' }
  if (typeof value === 'number') return { kind: 'number', initial: String(value), hint: 'Number' }
  if (typeof value === 'boolean') return { kind: 'flag', initial: String(value), hint: 'Yes or no' }
  if (value === null)
    return { kind: 'any', initial: '', hint: 'No default. JSON, or text as it is; empty: null' }
  return {
    kind: 'json',
    initial: JSON.stringify(value, null, 2),
    hint: Array.isArray(value) ? 'A JSON list' : 'A JSON object',
  }
}

export interface ReadArgs {
  /** Only what differs from the defaults. */
  readonly args: Record<string, unknown>
  /** By the name of the field. */
  readonly errors: Record<string, string>
}

export function readFields(fields: readonly ArgField[], texts: Readonly<Record<string, string>>): ReadArgs {
  const args: Record<string, unknown> = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const text = texts[field.name] ?? field.initial
    if (text === field.initial) continue
    const read = readField(field, text)
    if ('error' in read) errors[field.name] = read.error
    else args[field.name] = read.value
  }
  return { args, errors }
}

function readField({ kind, hint }: ArgField, text: string): { value: unknown } | { error: string } {
  const given = text.trim()
  switch (kind) {
    case 'text':
      return { value: text }
    case 'flag':
      return { value: given === 'true' }
    case 'number': {
      const value = Number(given)
      return given === '' || !Number.isFinite(value) ? { error: `“${given}” is not a number.` } : { value }
    }
    case 'json': {
      const value = parseJson(given)
      if (value === undefined) return { error: 'This is not valid JSON.' }
      const wantsList = hint === 'A JSON list'
      if (Array.isArray(value) !== wantsList || typeof value !== 'object' || value === null)
        return { error: `${hint} is needed here.` }
      return { value }
    }
    case 'any':
      return { value: given === '' ? null : (parseJson(given) ?? text) }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
