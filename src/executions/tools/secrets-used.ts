/** The secrets that one command was given, so that none of them is in what is said about it. */

export class SecretsUsed {
  private readonly values = new Set<string>()
  private readonly secret: (name: string) => string | undefined

  constructor(secret: (name: string) => string | undefined) {
    this.secret = secret
  }

  readonly resolve = (name: string): string | undefined => {
    const value = this.secret(name)
    if (value) this.values.add(value)
    return value
  }

  /** Also as they look inside JSON and in an address. The longest first: one may be part of another. */
  masked(text: string): string {
    if (this.values.size === 0) return text
    const forms = [...this.values].flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '')),
      Buffer.from(value).toString('base64'),
    ])
    const ordered = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length)
    return ordered.reduce((masked, form) => masked.replaceAll(form, '***'), text)
  }
}
