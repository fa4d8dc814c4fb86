/** Signatures as the Standard Webhooks specification describes them. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** For whoever registers a target: shown once, to be kept by the receiver. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/** One signature for each secret, with a blank between: while a secret is replaced the receiver may know either. */
export function signatureOf(secrets: string, id: string, timestamp: number, body: string): string {
  return secrets
    .split(' ')
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
