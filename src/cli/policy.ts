/** `stagedoor policy` and `stagedoor group`: how many approvals a change needs, and of whom. */
import pc from 'picocolors'
import {
  addToGroup,
  listGroups,
  listPolicyHistory,
  listReviewPolicies,
  MAX_PREVIEW_CHANGES,
  type MemberGroup,
  POLICY_KINDS,
  type PolicyPreview,
  PREVIEW_CHANGES,
  previewReviewPolicy,
  type ReviewNeeds,
  type ReviewPolicy,
  removeFromGroup,
  removeReviewPolicy,
  requireReviewPolicy,
  scopeText,
  setReviewPolicy,
} from '../changes/policies.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { argumentInvalid, integerBetween, readTextInput } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, plural } from './format.ts'
import { type MemberNames, workspaceOf } from './session.ts'
import type { Output } from './terminal.ts'

export const policyCommand = () =>
  commandGroup(
    'policy',
    'review policies: how many approvals a change needs, and of whom',
    [listCommand(), showCommand(), previewCommand(), setCommand(), removeCommand(), historyCommand()],
    `
  $ stagedoor policy preview two-people.yaml --dataset ads
  $ stagedoor policy set two-people.yaml --dataset ads --reason "agreed with finance"
  $ stagedoor policy list

A policy is a file in YAML or JSON:

  base: { approvals: 1 }            # also: roles: [admin], groups: [Finance]
  raise:
    - name: large
      when: { rows_over: 10000 }    # share_changed_over, deletes_over, columns, amount_over: { column, limit },
      approvals: 2                  # outside_hours: { time_zone, from, to, days }, first_upload_of_source: true
      groups: [Finance]
  keep_approvals_when_unchanged: false

The most specific policy applies: of the dataset, of the kind, of the workspace. Without one it is one approval, where
the dataset asks for it.`,
  )

const scoped = (name: string, description: string) =>
  command(name, description)
    .workspace()
    .option('--dataset <name>', 'the policy of this dataset')
    .option('--kind <kind>', 'the policy of this kind of change', POLICY_KINDS)

const listCommand = () =>
  command('list', 'the policies of a workspace, the most specific first')
    .workspace()
    .actor()
    .run(async ({ options, output, transaction }) => {
      const policies = await transaction(async (client) =>
        listReviewPolicies(client, await workspaceOf(client, options.workspace)),
      )
      output.list(
        policies,
        [
          { title: 'policy', value: (one) => scopeText(one) },
          { title: 'needs', value: needsText },
          { title: 'rules', value: ({ rules }) => plural(rules.raise?.length ?? 0, 'rule') },
          { title: 'set', value: ({ set_at }) => formatAge(set_at), dim: true },
        ],
        `No review policy: one approval is needed where the dataset asks for it.\n  ${pc.cyan('stagedoor policy set FILE --dataset ads')}`,
      )
    })

function needsText({ rules: { base } }: ReviewPolicy): string {
  return neededText({ approvals: base.approvals, roles: base.roles ?? [], groups: base.groups ?? [] })
}

function neededText({
  approvals,
  roles,
  groups,
}: Pick<ReviewNeeds, 'approvals' | 'roles' | 'groups'>): string {
  return [
    plural(approvals, 'approval'),
    roles.length > 0 ? `by ${roles.join(' or ')}` : '',
    groups.length > 0 ? `of ${groups.join(', ')}` : '',
  ]
    .filter((word) => word !== '')
    .join(' ')
}

const showCommand = () =>
  scoped('show', 'the rules of one policy, as a file that `policy set` takes')
    .actor()
    .run(async ({ options: { workspace, dataset, kind }, output, transaction }) => {
      const policy = await transaction(async (client) =>
        requireReviewPolicy(client, { workspaceId: await workspaceOf(client, workspace), dataset, kind }),
      )
      const { stringify } = await import('yaml')
      output.result(policy, () => {
        output.dim(`# ${scopeText(policy)}, revision ${policy.revision}`)
        output.line(stringify(policy.rules).trimEnd())
      })
    })

const previewCommand = () =>
  scoped('preview', 'what the last changes would have needed under a policy; changes nothing')
    .argument('<file>', 'the rules in YAML or JSON; - is standard input')
    .option('--limit <n>', 'how many changes', integerBetween(1, MAX_PREVIEW_CHANGES), PREVIEW_CHANGES)
    .actor()
    .run(async ({ options: { workspace, dataset, kind, limit }, output, transaction }, file) => {
      const rules = await readRules(file)
      const preview = await transaction(async (client) => {
        const workspaceId = await workspaceOf(client, workspace)
        return previewReviewPolicy(client, { workspaceId, dataset, kind }, rules, { limit })
      })
      output.result(preview, () => writePreview(output, preview))
    })

function writePreview(output: Output, { changes, other_policy, revision }: PolicyPreview): void {
  if (changes.length === 0) output.line('No change that this policy would have been for.')
  else
    output.records(changes, [
      { title: 'change', value: ({ number }) => `#${number}` },
      { title: 'title', value: ({ title }) => title, shrinkTo: 12 },
      { title: 'needs now', value: ({ needs }) => neededText(needs) },
      { title: 'would need', value: ({ would_need }) => neededText(would_need) },
      {
        title: 'because',
        value: ({ would_need: { rules } }) =>
          rules.map(({ name, why }) => (name === null ? why : `${name}: ${why}`)).join('; '),
        shrinkTo: 20,
      },
    ])
  const differ = changes.filter(({ needs, would_need }) => neededText(needs) !== neededText(would_need))
  const unknown = changes.filter(({ rows_known }) => !rows_known)
  output.line(
    `${differ.length} of the last ${plural(changes.length, 'change')} would need something else than now.`,
  )
  if (other_policy > 0)
    output.dim(`${plural(other_policy, 'more change')} left out: a more specific policy decides on them.`)
  if (unknown.length > 0)
    output.dim(
      `Of ${plural(unknown.length, 'change')} the rows are no longer kept: conditions on columns and amounts do not hold for them.`,
    )
  output.dim(
    revision === 0
      ? 'No such policy is set yet.'
      : `The policy is at revision ${revision}: \`policy set … --revision ${revision}\` replaces exactly this one.`,
  )
}

const setCommand = () =>
  scoped('set', 'set a policy from a file in YAML or JSON; - is standard input')
    .argument('<file>', 'the rules')
    .option('--reason <text>', 'for the audit')
    .option(
      '--revision <n>',
      'only if the policy is at this revision, as `policy show` says; 0: only if there is none',
      integerBetween(0, 2_147_483_647),
    )
    .option('--dry-run', 'show what the last changes would have needed, and change nothing')
    .actor()
    .run(async ({ options, output, transaction }, file) => {
      const { workspace, dataset, kind, reason, revision, dryRun } = options
      const rules = await readRules(file)
      if (dryRun) {
        const preview = await transaction(async (client) => {
          const workspaceId = await workspaceOf(client, workspace)
          return previewReviewPolicy(client, { workspaceId, dataset, kind }, rules)
        })
        return output.result(preview, () => writePreview(output, preview))
      }
      const policy = await transaction(async (client) => {
        const workspaceId = await workspaceOf(client, workspace)
        return setReviewPolicy(client, { workspaceId, dataset, kind }, rules, { reason, revision })
      })
      output.result(policy, () =>
        output.done(
          `The policy ${scopeText(policy)} is set (revision ${policy.revision}): ${needsText(policy)}.`,
        ),
      )
    })

async function readRules(file: string): Promise<unknown> {
  const text = (await readTextInput(file)) ?? ''
  const { parse } = await import('yaml')
  try {
    // JSON is YAML, too. Aliases could unfold to anything.
    return parse(text, { maxAliasCount: 0 })
  } catch (error) {
    throw argumentInvalid(`${file} is neither YAML nor JSON: ${(error as Error).message}`)
  }
}

const removeCommand = () =>
  scoped('remove', 'remove a policy; the next less specific one applies')
    .option('--reason <text>', 'for the audit')
    .option('--revision <n>', 'only if the policy is at this revision', integerBetween(0, 2_147_483_647))
    .actor()
    .run(async ({ options: { workspace, dataset, kind, reason, revision }, output, transaction }) => {
      await transaction(async (client) => {
        const workspaceId = await workspaceOf(client, workspace)
        await removeReviewPolicy(client, { workspaceId, dataset, kind }, { reason, revision })
      })
      output.result({ removed: true }, `The policy ${scopeText({ dataset, kind })} is removed.`)
    })

const historyCommand = () =>
  command('history', 'who changed which policy or group; newest first')
    .workspace()
    .limit()
    .actor()
    .run(async ({ options, output, transaction, memberNames }) => {
      const entries = await transaction(async (client) =>
        listPolicyHistory(client, await workspaceOf(client, options.workspace), options),
      )
      const names = output.json ? String : await memberNames()
      output.list(
        entries,
        [
          { title: 'when', value: ({ changed_at }) => formatAge(changed_at) },
          { title: 'who', value: ({ actor }) => names(actor) },
          { title: 'what', value: ({ what }) => what },
          { title: 'from', value: ({ old_row }) => rowText(old_row), shrinkTo: 20 },
          { title: 'to', value: ({ new_row }) => rowText(new_row), shrinkTo: 20 },
          { title: 'reason', value: ({ reason }) => reason, shrinkTo: 10 },
        ],
        'Nobody has changed a policy or a group yet.',
      )
    })

function rowText(row: Readonly<Record<string, unknown>> | null): string {
  if (row === null) return '–'
  const { rules, group_name, member } = row
  if (rules !== undefined) return JSON.stringify(rules)
  return [group_name, member].filter((word) => word !== undefined).join(': ')
}

export const groupCommand = () =>
  commandGroup(
    'group',
    'groups of members, which a review policy may ask for',
    [groupListCommand(), groupAddCommand(), groupRemoveCommand()],
    `
  $ stagedoor group add Finance 0198c5e0-7c1e-7000-8000-000000000001
  $ stagedoor group list`,
  )

const groupListCommand = () =>
  command('list', 'the groups of a workspace and their members')
    .workspace()
    .actor()
    .run(async ({ options, output, transaction, memberNames }) => {
      const groups = await transaction(async (client) =>
        listGroups(client, await workspaceOf(client, options.workspace)),
      )
      const names = output.json ? String : await memberNames()
      output.list(
        groups,
        [
          { title: 'group', value: ({ group_name }) => group_name },
          { title: 'members', value: (group) => membersText(group, names) },
        ],
        `No group yet.\n  ${pc.cyan('stagedoor group add Finance <user id>')}`,
      )
    })

function membersText({ members }: MemberGroup, names: MemberNames): string {
  return members.length === 0 ? 'nobody' : members.map(names).join(', ')
}

const groupAddCommand = () =>
  command('add', 'add a group, or members to it')
    .argument('<group>', 'its name')
    .argument('[members...]', 'user ids, as `stagedoor member list` shows them')
    .workspace()
    .actor()
    .run(async ({ options, output, transaction, memberNames }, group, members) => {
      const added = await transaction(async (client) => {
        const workspace = await workspaceOf(client, options.workspace)
        let result = await addToGroup(client, workspace, group)
        for (const member of members) result = await addToGroup(client, workspace, group, member)
        return result
      })
      const names = output.json ? String : await memberNames()
      output.result(added, () => output.done(`${added.group_name}: ${membersText(added, names)}`))
    })

const groupRemoveCommand = () =>
  command('remove', 'remove members from a group, or with --all the group')
    .argument('<group>', 'its name')
    .argument('[members...]', 'user ids')
    .option('--all', 'the whole group')
    .workspace()
    .actor()
    .run(async ({ options, output, transaction }, group, members) => {
      if (members.length === 0 && !options.all)
        throw new StagedoorError('argument_invalid', {
          reason: 'Say which members, or --all for the whole group',
        })
      await transaction(async (client) => {
        const workspace = await workspaceOf(client, options.workspace)
        if (options.all) return removeFromGroup(client, workspace, group)
        for (const member of members) await removeFromGroup(client, workspace, group, member)
      })
      output.result(
        { group, removed: options.all ? 'group' : members },
        options.all
          ? `The group ${group} is removed.`
          : `${plural(members.length, 'member')} removed from ${group}.`,
      )
    })
