import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadHandlers } from '../../../src/jobs/handlers.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const folder = temporaryHome('handlers')
let files = 0
function file(text: string, ending = '.mjs'): string {
  const path = join(folder, `jobs-${++files}${ending}`)
  writeFileSync(path, text)
  return path
}

it('takes the default export', async () => {
  const handlers = await loadHandlers(
    file('export default { send_report: async () => "sent", many: { batch: 10, run: async () => {} } }'),
  )
  expect(Object.keys(handlers)).toEqual(['send_report', 'many'])
})

it('takes every exported function under its name where there is no default', async () => {
  expect(Object.keys(await loadHandlers(file('export async function send_mail() {}')))).toEqual(['send_mail'])
})

it('refuses in words what is not handlers', async () => {
  await expect(loadHandlers(join(folder, 'absent.mjs'))).rejects.toThrow(/There is no file .*absent/)
  await expect(loadHandlers(folder)).rejects.toThrow(/is not a file/)
  await expect(loadHandlers(file('export default {}'))).rejects.toThrow(/exports no handlers/)
  await expect(loadHandlers(file('export default { sendMail() {} }'))).rejects.toThrow(
    /sendMail, which is not a job kind/,
  )
  await expect(loadHandlers(file('export default { mail: { batch: 0, run() {} } }'))).rejects.toThrow(
    /neither a function nor/,
  )
  await expect(loadHandlers(file('export default {'))).rejects.toThrow(/cannot be loaded/)
})
