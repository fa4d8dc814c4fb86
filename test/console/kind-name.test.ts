/** Kinds of jobs as people read them. */
import { expect, it } from 'vitest'
import { kindName } from '../../console/src/jobs/kind-name.ts'

it.each([
  ['send_mail', 'send_mail'],
  ['upload_read:disk.ad293dcb403e', 'upload_read (files on a disk)'],
  ['upload_read:s3.ad293dcb403e', 'upload_read (files in a bucket)'],
  ['upload_read:tape.1', 'upload_read (tape)'],
])('%s is called %s', (kind, name) => {
  expect(kindName(kind)).toBe(name)
})
