import { Command, Option } from 'commander'
import pc from 'picocolors'
import { createPool } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { withBlobHealth } from '../../../staging/blobs/verify.ts'
import {
  type CleanupResult,
  cleanRecords,
  expireRecords,
  listPolicies,
  type PolicyChanges,
  setPolicy,
  stagingHealth,
} from '../../../staging/lifecycle.ts'
import { STAGING_KINDS, type StagingKind } from '../../../staging/records.ts'
import { acting } from '../../acting.ts'
import { configOf, type GlobalOptions, outputOf, withAdministrator } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { bytes, table, visibleLine } from '../../output.ts'

export function expireCommand(): Command {
  return new Command('expire')
    .description('expire what is overdue now instead of at the next round')
    .option('--limit <n>', 'at most', whole(1, 100_000), 10_000)
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { limit: number }>()
      const output = outputOf(options)
      const expired = await acting(options, (client) => expireRecords(client, options.limit))
      output.result({ expired }, () =>
        output.line(expired === 0 ? 'Nothing is overdue.' : `${pc.green('✔')} ${expired} expired`),
      )
    })
}

export function cleanupCommand(): Command {
  return new Command('cleanup')
    .description('delete the payload of ended records past their retention; tombstones stay')
    .option('--dry-run', 'only say what would go')
    .addOption(new Option('--kind <kind...>', 'only these').choices(STAGING_KINDS))
    .option('--limit <n>', 'records a batch', whole(1, 100_000), 1000)
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & { dryRun?: boolean; kind?: StagingKind[]; limit: number }
      >()
      const output = outputOf(options)
      const scope = {
        limit: options.limit,
        dry_run: options.dryRun === true,
        ...(options.kind && { kinds: options.kind }),
      }
      const total = { cleaned: 0, parts: 0, bytes: 0, dry_run: scope.dry_run }
      for (;;) {
        // A transaction a batch: stopped half-way, the next call goes on.
        const batch: CleanupResult = await acting(options, (client) => cleanRecords(client, scope))
        total.cleaned += batch.cleaned
        total.parts += batch.parts
        total.bytes += batch.bytes
        if (batch.cleaned < options.limit || scope.dry_run) break
        output.note(pc.dim(`  ${total.cleaned} so far`))
      }
      output.result(total, () => {
        if (total.cleaned === 0) return output.line('Nothing is past its retention.')
        const what = `${total.cleaned} records, ${total.parts} parts, ${bytes(total.bytes)}`
        output.line(scope.dry_run ? `Would clean ${what}.` : `${pc.green('✔')} Cleaned ${what}.`)
      })
    })
}

export function healthCommand(): Command {
  return new Command('health')
    .description(
      'is the zone in order: exclusion from search and its stores, digests, overdue records, gates',
    )
    .option('--sample <n>', 'how many parts to check byte by byte', whole(0, 1_000_000), 100)
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { sample: number }>()
      const output = outputOf(options)
      const health = await acting(options, async (client, database) => {
        const config = configOf(options)
        const found = await stagingHealth(client, options.sample)
        const { knownBlobs } = await import('../../../stagedoor.ts')
        const { withStoreHealth } = await import('../../../stagedoor/staging-health.ts')
        const blobs = knownBlobs(database, config.home)
        const zone = blobs ? await withBlobHealth(client, blobs, found, options.sample) : found
        const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 1, purpose: 'cli' })
        return withStoreHealth(pool, config, zone).finally(() => pool.end())
      })
      output.result(health, () => {
        for (const check of health.checks) {
          output.line(
            `${check.ok ? pc.green('✔') : pc.red('✖')} ${visibleLine(`${check.name}: ${check.detail}`)}`,
          )
        }
        const counts = Object.entries(health.lifecycle).map(([status, count]) => `${count} ${status}`)
        output.line(pc.dim(`  ${counts.join(', ')}`))
        for (const [gate, open] of Object.entries(health.gates))
          output.line(pc.dim(`  ${gate} is ${open ? 'open' : 'closed'}`))
      })
      if (!health.ok) {
        const count = health.checks.filter((check) => !check.ok).length
        throw new StagedoorError(
          'drift',
          { count },
          { message: `The staging zone is not in order in ${count} points` },
        )
      }
    })
}

export function policyCommand(): Command {
  return new Command('policy')
    .description('what each kind needs and how long it lives; or change one, for records from now on')
    .argument('[kind]', 'the kind to change')
    .addOption(
      new Option('--four-eyes <on|off>', 'must somebody else than the owner approve?').choices(['on', 'off']),
    )
    .addOption(
      new Option('--checklist <on|off>', 'must the checklist be ticked first?').choices(['on', 'off']),
    )
    .option('--time-to-live <interval>', 'for example "3 days"')
    .option('--retention <interval>', 'how long the payload stays after the end')
    .option('--reason <text>', 'kept in the audit; needed for a change')
    .action(async (kind: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & {
          fourEyes?: string
          checklist?: string
          timeToLive?: string
          retention?: string
          reason?: string
        }
      >()
      const output = outputOf(options)
      const changes: PolicyChanges = {
        ...(options.fourEyes && { four_eyes: options.fourEyes === 'on' }),
        ...(options.checklist && { checklist_required: options.checklist === 'on' }),
        ...(options.timeToLive && { time_to_live: options.timeToLive }),
        ...(options.retention && { retention: options.retention }),
      }
      if (kind !== undefined && Object.keys(changes).length > 0) {
        await withAdministrator(options, (client) => setPolicy(client, kind, changes, options.reason ?? ''))
      }
      const policies = (await acting(options, listPolicies)).filter(
        (policy) => !kind || policy.staging_kind === kind,
      )
      if (kind !== undefined && policies.length === 0)
        throw new StagedoorError('not_found', { what: `staging kind ${kind}` })
      output.result(policies, () =>
        output.line(
          table(
            [
              ['kind', 'approval', 'four eyes', 'checklist', 'lives', 'kept after', 'takes'],
              ...policies.map((policy) => [
                policy.staging_kind,
                policy.approval_required ? 'required' : 'optional',
                policy.four_eyes ? 'on' : 'off',
                policy.checklist_required ? 'required' : '–',
                policy.time_to_live,
                policy.retention,
                policy.payload_types.join(', '),
              ]),
            ],
            (cell, _column, line) => (line === 0 ? pc.dim(cell) : cell),
          ),
        ),
      )
    })
}
