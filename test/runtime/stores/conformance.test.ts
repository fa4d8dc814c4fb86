import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { temporaryHome } from '../../support/temporary-home.ts'
import { describeBlobStore } from './conformance.ts'
import { diskTarget, type RunningS3, S3RVER_GAPS, type S3Target, s3Target, startS3rver } from './targets.ts'

const home = temporaryHome('stores')
let count = 0

describe.each(['disk', 'pvc'] as const)('%s', (scheme) => {
  describeBlobStore(() => diskTarget(join(home, `${scheme}-${++count}`), scheme))
})

describe('s3 on s3rver', () => {
  const folder = join(home, 's3rver')
  const opened: S3Target[] = []
  let server: RunningS3
  beforeAll(async () => {
    server = await startS3rver(folder)
  })
  afterAll(async () => {
    for (const target of opened) target.close()
    await server.stop()
  })
  describeBlobStore(() => {
    const target = s3Target(server.settings, `prefix/cell/blobs-${++count}`, S3RVER_GAPS)
    opened.push(target)
    return target
  })
})
