/** The Dockerfile by its text. That it builds and runs is test/deploy/image. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { parseProblem } from '../docs/commands.ts'
import { ROOT, readDeploy, SETTINGS } from './files.ts'

const text = readDeploy('docker/Dockerfile')
/** Instructions with their continued lines as one, without comments. */
const instructions = text
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')))

describe('the Dockerfile', () => {
  it('has nothing that the linter complains about', () => {
    const problems = validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)
    expect(problems).toEqual([])
  })

  it('ends with an image that does not run as root and has the labels of OCI', () => {
    expect(last).toContain('USER 1000:1000')
    const labels = last.find((line) => line.startsWith('LABEL '))
    for (const label of ['title', 'description', 'licenses', 'version', 'revision'])
      expect(labels).toContain(`org.opencontainers.image.${label}=`)
    expect(last).toContain(`ARG VERSION=${VERSION}`)
  })

  it('checks its health and starts with commands that the product has', async () => {
    const program = await createProgram()
    const words = (start: string) =>
      JSON.parse(/\[.*\]$/.exec(last.find((line) => line.startsWith(start))!)![0]) as string[]
    expect(words('ENTRYPOINT')).toEqual(['stagedoor'])
    const [name, ...health] = words('HEALTHCHECK')
    expect(name).toBe('stagedoor')
    for (const command of [health, words('CMD')]) expect(parseProblem(program, command)).toBeUndefined()
  })

  it('sets only variables that are settings', () => {
    const variables = last
      .filter((line) => line.startsWith('ENV '))
      .flatMap((line) => [...line.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name!))
    expect(variables.filter((name) => !SETTINGS.has(name) && name !== 'NODE_ENV')).toEqual([])
    expect(variables).toContain('STAGEDOOR_HOST')
  })

  it('copies only what the context has and .dockerignore lets through', () => {
    const ignore = readDeploy('../.dockerignore')
    const copied = instructions
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
    for (const path of copied.filter((path) => path !== '.')) {
      expect(existsSync(join(ROOT, path)), path).toBe(true)
      const allowed = ignore.split('\n').filter((line) => line.startsWith('!'))
      expect(
        allowed.some((line) => path === line.slice(1) || path.startsWith(`${line.slice(1)}/`)),
        path,
      ).toBe(true)
    }
    // Everything is left out but what is named.
    expect(ignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'))[0]).toBe('*')
  })
})
