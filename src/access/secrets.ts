/** Random secrets that a browser or a program holds. The database keeps only their sha-256. */
import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
