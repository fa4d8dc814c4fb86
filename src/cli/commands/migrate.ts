import { Command } from 'commander'
import pc from 'picocolors'
import { directUrl } from '../../config.ts'
import { isUpToDate, type MigrationPlan, migrate, planMigration } from '../../db/migrate/migrate.ts'
import { configOf, type GlobalOptions, outputOf, withDatabase } from '../context.ts'
import type { Output } from '../output.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to this version')
    .option('--plan', 'only say what would be done')
    .addHelpText(
      'after',
      `
Runs as the login of DATABASE_DIRECT_URL (or DATABASE_URL), which owns the database and has CREATEROLE;
one that does not own it needs CREATE on it, and USAGE and CREATE on the schema public with grant option.
Where a right is missing, nothing is changed and the statements for an administrator are printed. Two at once: one waits.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { plan?: boolean }>()
      const output = outputOf(options)
      const config = configOf(options)
      const url = directUrl(config)
      if (options.plan) {
        const plan = url
          ? await planMigration({ url })
          : await withDatabase(options, (database) => planMigration({ url: database.directUrl }), {
              prepare: false,
            })
        output.result(plan, () => printPlan(output, plan))
        return
      }
      const progress = (step: string) => output.note(pc.dim(`  ${step}`))
      const done = url
        ? await migrate({ url, progress })
        : await withDatabase(options, (database) => migrate({ url: database.directUrl, progress }), {
            prepare: false,
          })
      output.result(done, () => {
        output.line(
          isUpToDate(done)
            ? `${pc.green('✔')} Nothing to do: the database is at this version.`
            : `${pc.green('✔')} Migrated: ${summary(done)}.`,
        )
        if (done.bootstrap.some((statement) => statement.includes('create role stagedoor_api'))) {
          output.line(
            `\nThe API logs in as stagedoor_api, which has no password yet. ${pc.bold('stagedoor login --reset')} gives it one.`,
          )
        }
      })
    })
}

export function printPlan(output: Output, plan: MigrationPlan): void {
  if (isUpToDate(plan)) {
    output.line(`${pc.green('✔')} Nothing to do: the database is at this version.`)
    return
  }
  const section = (title: string, lines: readonly string[]) => {
    if (lines.length === 0) return
    output.line(pc.bold(title))
    for (const line of lines) output.line(`  ${line.replaceAll('\n', '\n  ')}`)
    output.line()
  }
  section('Roles, memberships and schemas', plan.bootstrap)
  section('Migrations', plan.migrations)
  section('Routines and views to create or replace', plan.routines)
  section('Routines and views to drop', plan.removed_routines)
  output.line(`Nothing was changed. Next: ${pc.bold('stagedoor migrate')}`)
}

/** 23 migrations, 410 routines and views */
export function summary(plan: MigrationPlan): string {
  return [
    [plan.bootstrap.length, 'roles and schemas statements'],
    [plan.migrations.length, 'migrations'],
    [plan.routines.length, 'routines and views'],
    [plan.removed_routines.length, 'dropped'],
  ]
    .filter(([count]) => Number(count) > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ')
}
