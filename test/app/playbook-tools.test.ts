import { expect, it } from 'vitest'
import { playbookTools } from '../../src/app/playbook-runtime.ts'
import { TOOLS } from '../../src/executions/playbook/definition.ts'
import { filesFolder, readConfig } from '../../src/kernel/config.ts'

it('has every tool but the one that the engine runs itself', () => {
  const tools = playbookTools({
    pool: undefined as never,
    playbookPool: undefined,
    ingest: undefined as never,
    httpHosts: [],
    files: 'files',
  })
  expect(Object.keys(tools).sort()).toEqual(TOOLS.filter((name) => name !== 'playbook').sort())
})

it('reads its settings, and lets secrets of playbooks pass that have a name', () => {
  const config = readConfig({
    STAGEDOOR_HOME: '/home/x',
    STAGEDOOR_HTTP_HOSTS: 'API.example.com:8443',
    STAGEDOOR_SECRET_API_KEY: 'k',
  })
  expect(config.httpHosts).toEqual(['api.example.com:8443'])
  expect(filesFolder(config)).toBe('/home/x/files')
  expect(filesFolder(readConfig({ STAGEDOOR_FILES: '/srv/in' }))).toBe('/srv/in')
  expect(JSON.stringify(config)).not.toContain('STAGEDOOR_SECRET')
  expect(readConfig({ STAGEDOOR_SECRETS: 'k' }).unknown).toMatchObject([{ setting: 'STAGEDOOR_SECRETS' }])
})
