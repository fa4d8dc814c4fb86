/** What the tool `staging` does, and what it leaves to people: known when a playbook is checked, and when it runs. */
export const STAGING_ACTIONS = ['create', 'read', 'consume', 'withdraw'] as const

const DECIDES = 'a person decides, not a playbook. Stage the record, and let a step wait for its approval'

export const STAGING_DECISIONS: ReadonlyMap<string, string> = new Map([
  ['approve', `The tool staging approves nothing: ${DECIDES}`],
  ['reject', `The tool staging rejects nothing: ${DECIDES}`],
])
