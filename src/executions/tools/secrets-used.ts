/** The secrets that one command was given, so that none of them is in what is said about it. */
import type { Json } from '../playbook/definition.ts'

export class SecretsUsed {
  private readonly values = new Set<string>()
  private known: string[] | undefined
  private readonly secret: (name: string) => string | undefined

  constructor(secret: (name: string) => string | undefined) {
    this.secret = secret
  }

  readonly resolve = (name: string): string | undefined => {
    const value = this.secret(name)
    if (value && !this.values.has(value)) {
      this.values.add(value)
      this.known = undefined
    }
    return value
  }

  /** A result is stored and shown: a tool that gives back what it was given must not put a secret there. */
  maskedIn(value: Json): Json {
    if (this.values.size === 0) return value
    if (typeof value === 'string') return this.masked(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.maskedIn(item))
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.masked(name), this.maskedIn(field as Json)]),
    )
  }

  masked(text: string): string {
    if (this.values.size === 0) return text
    return this.forms().reduce((masked, form) => masked.replaceAll(form, '***'), text)
  }

  /** Also as they look inside JSON and in an address. The longest first: one may be part of another. */
  private forms(): string[] {
    if (this.known !== undefined) return this.known
    const forms = [...this.values].flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '')),
      Buffer.from(value).toString('base64'),
    ])
    this.known = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length)
    return this.known
  }
}
