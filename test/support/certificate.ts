/** A certificate of its own for a server under test, signed by itself. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export function makeCertificate(folder: string, ...addresses: readonly string[]): Certificate {
  const names = addresses.map((address) => `IP:${address}`).join()
  const files = { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') }
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ].concat(
      ['-subj', `/CN=${addresses[0]}`, '-addext', `subjectAltName=${names}`],
      ['-out', files.cert, '-keyout', files.key],
    ),
    { stdio: 'ignore' },
  )
  return files
}
