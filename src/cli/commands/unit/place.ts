/** Edges of units, and where they stand. */
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { addEdge, removeEdge } from '../../../units/edges.ts'
import { moveUnit, reorderUnits } from '../../../units/units.ts'
import { acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { idOf } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { alsoNamed, onUnit, type UnitOptions, unitName, unitNames, workspaceOption } from './named.ts'

export function edgeCommand(): Command {
  const edge = new Command('edge').description(
    'edges from a unit to another, or to whatever a reference names',
  )
  edge
    .command('add')
    .description('add one; what is not there (yet) is unverified, and the checker looks again')
    .argument('<unit>', 'its address or id', unitName)
    .argument('<type>', 'as explains, cites, depends_on')
    .argument('<target>', 'an address, the id of a unit, or any other reference')
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, edge_type: string, target: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions>()
      const output = outputOf(options)
      await onUnit(options, name, async (unit, { transaction }) => {
        const added = await transaction((client) => addEdge(client, unit.unit_id, { edge_type, target }))
        output.result(added, () => {
          const arrow = `${unit.canonical_address} — ${edge_type} → ${target}`
          if (!added.created) return output.line(`${pc.yellow('●')} ${arrow} was there already`)
          output.line(`${pc.green('✔')} ${arrow} ${pc.dim(added.edge_id)}`)
          if (added.edge_status === 'unverified')
            output.line(pc.yellow(`  No unit is called ${target}: unverified until the checker finds one.`))
        })
      })
    })
  edge
    .command('remove')
    .description('take one away')
    .argument('<edge>', 'its id, as `unit show` has it', idOf('edge'))
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions>()
      const output = outputOf(options)
      await acting(options, (client) => removeEdge(client, id))
      output.result({ edge_id: id, removed: true }, () => output.line(`${pc.green('✔')} Removed`))
    })
  return edge
}

interface MoveOptions extends UnitOptions {
  readonly into?: string
  readonly out?: boolean
  readonly position?: number
}

export function moveCommand(): Command {
  return new Command('move')
    .description('into another container, or out of all; addresses stay as they are')
    .argument('<unit>', 'its address or id', unitName)
    .option('--into <unit>', 'the container', unitName)
    .option('--out', 'out of its container')
    .option('--position <n>', 'its place in it; default: the last', whole(1, 1_000_000))
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MoveOptions>()
      const output = outputOf(options)
      if ((options.into === undefined) === (options.out !== true))
        throw new StagedoorError('argument_invalid', { reason: 'Say where to: --into CONTAINER, or --out' })
      await onUnit(options, name, async (unit, { transaction }) => {
        await transaction(async (client) => {
          const container = options.into === undefined ? null : await alsoNamed(client, options.into, unit)
          await moveUnit(client, unit.unit_id, container, options.position)
        })
        const where = options.into === undefined ? 'in no container' : `in ${options.into}`
        output.result({ unit_id: unit.unit_id, container: options.into ?? null }, () =>
          output.line(`${pc.green('✔')} ${pc.bold(unit.canonical_address)} is ${where} now`),
        )
      })
    })
}

export function reorderCommand(): Command {
  return new Command('reorder')
    .description('what is in a container, in another order: all of it, once each')
    .argument('<container>', 'its address or id', unitName)
    .argument('<unit...>', 'in their new order', unitNames)
    .addOption(workspaceOption())
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, order: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<UnitOptions>()
      const output = outputOf(options)
      await onUnit(options, name, async (container, { transaction }) => {
        const units = await transaction(async (client) => {
          const ids: string[] = []
          for (const one of order) ids.push(await alsoNamed(client, one, container))
          await reorderUnits(client, container.unit_id, ids)
          return ids
        })
        output.result({ container_id: container.unit_id, units }, () =>
          output.line(
            `${pc.green('✔')} ${pc.bold(container.canonical_address)} has its ${units.length} units in this order`,
          ),
        )
      })
    })
}
