import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileBelow } from '../../src/app/tools/files.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const home = temporaryHome('files')
const folder = join(home, 'files')
mkdirSync(join(folder, 'exports'), { recursive: true })
mkdirSync(join(home, 'files-of-others'))
writeFileSync(join(folder, 'exports', 'week.csv'), 'a,b')
writeFileSync(join(home, 'secrets.json'), '{}')
writeFileSync(join(home, 'files-of-others', 'week.csv'), '')
symlinkSync(join(home, 'secrets.json'), join(folder, 'innocent.json'))
symlinkSync(home, join(folder, 'up'))
symlinkSync(join(folder, 'exports', 'week.csv'), join(folder, 'latest.csv'))

it('finds a file below the folder, and follows a link that stays there', async () => {
  const path = join(folder, 'exports', 'week.csv')
  expect(await fileBelow(folder, 'exports/week.csv')).toBe(path)
  expect(await fileBelow(folder, './exports//week.csv')).toBe(path)
  expect(await fileBelow(folder, 'latest.csv')).toBe(path)
})

describe('refuses', () => {
  it.each([
    ['the way up', '../secrets.json', 'is not a path below the folder of files'],
    ['the way up from below', 'exports/../../secrets.json', 'is not a path below'],
    ['the way up with backslashes', '..\\secrets.json', 'is not a path below'],
    ['an absolute path', join(folder, 'exports', 'week.csv'), 'is not a path below'],
    ['a path that ends early', 'exports/week.csv\0.png', 'is not a path below'],
    ['a link that leads out', 'innocent.json', 'There is no file'],
    ['a folder that is a link out', 'up/secrets.json', 'There is no file'],
    ['a folder that begins alike', 'up/files-of-others/week.csv', 'There is no file'],
    ['what is not there', 'exports/none.csv', 'There is no file'],
    ['a folder', 'exports', 'is not a file'],
    ['the folder itself', '.', 'There is no file'],
  ])('%s', async (_, name, message) => {
    await expect(fileBelow(folder, name)).rejects.toMatchObject({
      name: 'ToolError',
      retryable: false,
      message: expect.stringContaining(message),
    })
  })

  it('everything while there is no such folder, and says what to do', async () => {
    await expect(fileBelow(join(home, 'none'), 'week.csv')).rejects.toThrow('STAGEDOOR_FILES')
  })
})
