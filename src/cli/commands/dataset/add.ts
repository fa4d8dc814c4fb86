import { Command, Option } from 'commander'
import pc from 'picocolors'
import { type Client, withClient } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import {
  datasetProblems,
  listDatasets,
  type RegistrationOptions,
  registerDataset,
} from '../../../ingest/datasets/registry.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../../context.ts'
import { isDeclarationFile, loadDataset, patternProblems } from './declaration.ts'

export function checkCommand(): Command {
  return new Command('check')
    .description('is a declaration right, and do the tables fit? Changes nothing')
    .argument('<file>', 'that declares it: .json, .mjs or .ts')
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const dataset = await declared(file)
      const problems = await withDatabase(options, (database) =>
        withClient(database.directUrl, (client) => datasetProblems(client, dataset), {
          role: 'workflow_admin',
        }),
      )
      output.result({ dataset: dataset.name, problems }, () => {
        if (problems.length === 0) {
          output.line(`${pc.green('✔')} ${dataset.name} can be used as it is`)
          return output.line(`\n${pc.bold('Next')}\n    ${pc.cyan(`stagedoor dataset add ${file}`)}`)
        }
        for (const { problem, remedy } of problems) {
          output.line(`${pc.red('✖')} ${problem}`)
          if (remedy) output.line(`    ${pc.cyan(remedy)}`)
        }
      })
      if (problems.length > 0) throw unfit(dataset, problems.length)
    })
}

function unfit({ name }: Dataset, count: number): StagedoorError {
  const reason = `its tables differ from what it says in ${count} ${count === 1 ? 'point' : 'points'}`
  return new StagedoorError('dataset_invalid', { dataset: name, reason })
}

async function declared(file: string): Promise<Dataset> {
  const dataset = await loadDataset(file)
  const wrong = await patternProblems(dataset)
  if (wrong.length === 0) return dataset
  throw new StagedoorError('dataset_invalid', { dataset: dataset.name, reason: wrong.join('; ') })
}

interface AddOptions extends GlobalOptions {
  readonly approval?: boolean
  readonly undoWindow?: string
}

export function addCommand(): Command {
  return new Command('add')
    .description('register a dataset: the shipped one by its name, your own by its file')
    .argument('<name or file>', 'ads, or a file that declares one: .json, .mjs or .ts')
    .addOption(
      new Option('--approval', 'nothing is promoted before a second person has approved (the default)'),
    )
    .addOption(new Option('--no-approval', 'promote without a second person'))
    .option('--undo-window <interval>', "how long a promotion can be taken back, such as '30 days'")
    .addHelpText(
      'after',
      `
Added again, it is the next version: what is not said stays as it is.
\`ads\` brings tables for ad platforms; each is created only where it is absent.`,
    )
    .action(async (given: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const dataset = await datasetFor(given)
      const registered = await withDatabase(options, (database) =>
        withClient(database.directUrl, (client) => register(client, dataset, options), {
          role: 'workflow_admin',
        }),
      )
      output.result(registered, () => {
        output.line(
          `${pc.green('✔')} ${pc.bold(registered.dataset)} (${registered.title}, version ${registered.version}) is registered`,
        )
        output.line(
          pc.dim(
            `  ${registered.approval_required ? 'a second person approves each upload' : 'uploads need no approval'}; undo for ${registered.undo_window}`,
          ),
        )
        if (dataset.declared?.check) {
          output.line(
            `  ${pc.yellow('!')} Its rule in TypeScript is known only to whoever is given the file:`,
          )
          output.line(`    stagedoor ingest FILE --dataset ${given}`)
        }
        const platform = Object.keys(registered.definition.platforms)[0]!
        output.line(`\n${pc.bold('Next')}`)
        if (registered.definition.client)
          output.line(`  Say whose data there will be\n    ${pc.cyan('stagedoor client add "Northwind"')}`)
        output.line(
          `  Bring a file\n    ${pc.cyan(`stagedoor ingest FILE --dataset ${registered.dataset} --platform ${platform}`)}`,
        )
      })
    })
}

interface ToRegister {
  readonly name: string
  /** Undefined: a pack, which is shipped. */
  readonly declared?: Dataset
}

async function datasetFor(given: string): Promise<ToRegister> {
  if (isDeclarationFile(given)) {
    const dataset = await declared(given)
    return { name: dataset.name, declared: dataset }
  }
  const { PACKS } = await import('../../../ingest/packs.ts')
  if (Object.hasOwn(PACKS, given)) return { name: given }
  throw new StagedoorError(
    'not_found',
    { what: `shipped dataset ${given}; there is ${Object.keys(PACKS).join(', ')}` },
    { hint: 'Your own is added by its file: stagedoor dataset add ./my-dataset.json' },
  )
}

/** The tables and the registration, or neither. */
async function register(client: Client, { name, declared }: ToRegister, options: AddOptions) {
  const settings: RegistrationOptions = {
    ...(options.approval !== undefined && { approval_required: options.approval }),
    ...(options.undoWindow !== undefined && { undo_window: options.undoWindow }),
  }
  await client.query('begin')
  if (declared) await registerDataset(client, declared, settings)
  else {
    const { addPack, PACKS } = await import('../../../ingest/packs.ts')
    await addPack(client, name)
    await registerDataset(client, PACKS[name]!, settings)
  }
  const registered = (await listDatasets(client)).find(({ dataset }) => dataset === name)!
  await client.query('commit')
  return registered
}
