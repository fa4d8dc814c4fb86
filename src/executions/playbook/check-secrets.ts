/** A playbook is kept, shown and logged: a secret that is written into it is no secret. The messages do not repeat it. */
import type { Json, Playbook } from './definition.ts'
import type { Findings, Place } from './problem.ts'

const SECRET_KEY =
  /^(token|pwd|credentials?)$|(password|passwd|passphrase|secret|apikey|apitoken|accesstoken|authtoken|refreshtoken|bearertoken|privatekey|secretkey|accesskey|authorization)$/

const SECRET_VALUES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/, 'a JSON web token'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, 'an AWS access key'],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})/, 'a GitHub token'],
  [/\bglpat-[\w-]{16,}/, 'a GitLab token'],
  [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/, 'a Stripe key'],
  [/\bsk-[A-Za-z0-9_-]{20,}/, 'an API key'],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10,}/, 'a Slack token'],
  [/\bAIza[\w-]{35}/, 'a Google API key'],
  [/\bnpm_[A-Za-z0-9]{36}\b/, 'an npm token'],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/, 'a SendGrid key'],
  [/\b(?:Bearer|Basic) +[\w+/=.~-]{12,}/i, 'an authorization'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@${}]*:[^\s/@${}]+@/i, 'a password in a URL'],
]

export function checkSecrets(playbook: Playbook, findings: Findings): void {
  search(playbook as unknown as Json, [], findings)
}

function search(value: Json, place: Place, findings: Findings): void {
  if (typeof value === 'string' || typeof value === 'number') {
    const found = secretIn(value, place)
    if (found === undefined) return
    findings.error(place, `${found} is written here`, {
      remedy: `Use \${secret.NAME}, and give the workers the environment variable STAGEDOOR_SECRET_NAME`,
    })
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) search(inner as Json, [...place, index], findings)
  } else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) search(inner as Json, [...place, key], findings)
  }
}

function secretIn(value: string | number, place: Place): string | undefined {
  const text = String(value)
  const shape = SECRET_VALUES.find(([pattern]) => pattern.test(text))
  if (shape !== undefined) return shape[1]
  const key = place.at(-1)
  const literal = text.trim() !== '' && !text.includes('${')
  return literal && typeof key === 'string' && isSecretKey(key) ? `a literal ${key}` : undefined
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}
