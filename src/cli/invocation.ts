/** How the command line is reached here: from a clone it is a script of npm, installed it is on the PATH. */

export function isClone(): boolean {
  const { npm_lifecycle_event: script, npm_package_name: name } = process.env
  return name === 'stagedoor' && (script === 'start' || script === 'stagedoor')
}

/** A command that can be pasted as it stands. */
export function asTyped(words: string): string {
  return `${isClone() ? 'npm run -s stagedoor --' : 'stagedoor'} ${words}`
}
