/** What the tool `unit` does, and what it leaves to people: known when a playbook is checked, and when it runs. */
export const UNIT_ACTIONS = ['create', 'edit', 'profile', 'edge', 'read', 'cut'] as const

const DECIDES =
  'a person decides, not a playbook. Let a step wait for the approval of a record, and a person do it'

export const UNIT_DECISIONS: ReadonlyMap<string, string> = new Map([
  ['enact', `The tool unit enacts nothing: ${DECIDES}`],
  ['supersede', `The tool unit supersedes nothing: ${DECIDES}`],
  ['retire', `The tool unit retires nothing: ${DECIDES}`],
  ['amend', `The tool unit amends nothing: ${DECIDES}`],
  ['delete', `The tool unit deletes nothing: ${DECIDES}`],
])
