/** What is wrong with a file, and what an editor needs to say it while one writes. Neither needs a database. */
import { readFile, writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { parsePlaybook } from '../../../executions/playbook/parse.ts'
import { type GlobalOptions, outputOf } from '../../context.ts'
import { problemLines } from './problem-lines.ts'

export function checkCommand(): Command {
  return new Command('check')
    .description('everything that is wrong with a playbook, each with its line; registers nothing')
    .argument('<file...>', 'YAML or JSON')
    .option('--handlers <file>', 'also say which handlers are missing there')
    .action(async (files: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { handlers?: string }>()
      const output = outputOf(options)
      const handlers = options.handlers === undefined ? {} : { handlers: await namesIn(options.handlers) }
      const texts = await Promise.all(files.map(readPlaybookFile))
      const checked = files.map((file, index) => ({
        file,
        text: texts[index]!,
        ...parsePlaybook(texts[index]!, handlers),
      }))
      const errors = checked
        .flatMap(({ problems }) => problems)
        .filter(({ severity }) => severity === 'error')
      output.result(
        checked.map(({ file, problems, playbook }) => ({ file, ok: playbook !== undefined, problems })),
        () => {
          for (const { file, text, problems, playbook } of checked) {
            for (const line of problemLines(file, text, problems)) output.line(line)
            if (playbook === undefined) continue
            const steps = playbook.steps.length === 1 ? 'one step' : `${playbook.steps.length} steps`
            output.line(`${pc.green('✔')} ${file}: ${pc.bold(playbook.name)}, ${steps}`)
          }
          if (errors.length > 0)
            output.line(pc.red(errors.length === 1 ? 'One error' : `${errors.length} errors`))
        },
      )
      if (errors.length > 0) process.exitCode = 2
    })
}

async function namesIn(file: string): Promise<string[]> {
  const { loadPlaybookHandlers } = await import('../../../executions/handlers-file.ts')
  return Object.keys((await loadPlaybookHandlers(file)) ?? {})
}

export function schemaCommand(): Command {
  return new Command('schema')
    .description('the JSON Schema of playbooks, for completion and checks in your editor')
    .option('--write <file>', 'into this file')
    .addHelpText(
      'after',
      `
  $ stagedoor playbook schema --write playbook.schema.json
Then the first line of a playbook is
  # yaml-language-server: $schema=playbook.schema.json`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { write?: string }>()
      const output = outputOf(options)
      const { playbookJsonSchema } = await import('../../../executions/playbook/schema.ts')
      const text = `${JSON.stringify(playbookJsonSchema(), null, 2)}\n`
      const { write: file } = options
      if (file === undefined) return void process.stdout.write(text)
      await writeFile(file, text)
      output.result({ file }, () => {
        output.line(`${pc.green('✔')} Written into ${file}. The first line of a playbook:`)
        output.line(pc.cyan(`  # yaml-language-server: $schema=${file}`))
      })
    })
}

export async function readPlaybookFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${error.message}`
    throw new StagedoorError('argument_invalid', { reason }, { cause: error })
  })
}
