import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export const VERSION = manifest.version

/** The prefix of every path of the API except the probes `/api/health` and `/api/ready`. */
export const API_PREFIX = '/api/v1'
