/** Arguments of a tool, as a playbook gave them: what is wrong is said by name, and no retry makes it right. */
import type { Json, JsonObject } from '../playbook/definition.ts'
import { ToolError } from '../tool.ts'

export class Arguments {
  private readonly tool: string
  private readonly args: JsonObject

  /** A name that the tool does not know is an error: a misspelt one must not be without effect. */
  constructor(tool: string, args: JsonObject, known: readonly string[]) {
    this.tool = tool
    this.args = args
    const unknown = Object.keys(args).find((name) => !known.includes(name))
    if (unknown !== undefined) {
      throw new ToolError(`The tool ${tool} takes ${known.join(', ')}, not ${unknown}`)
    }
  }

  text(name: string): string {
    const value = this.optionalText(name)
    if (value === undefined) throw this.wrong(name, 'is missing')
    return value
  }

  optionalText(name: string): string | undefined {
    const value = this.given(name)
    if (value === undefined || (typeof value === 'string' && value !== '')) return value
    throw this.wrong(name, 'must be a text')
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.given(name)
    if (value === undefined) return undefined
    const choice = choices.find((one) => one === value)
    if (choice !== undefined) return choice
    throw this.wrong(name, `must be one of ${choices.join(', ')}`)
  }

  integer(name: string, least: number, most: number): number | undefined {
    const value = this.given(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw this.wrong(name, `must be a whole number from ${least} to ${most}`)
  }

  list(name: string): readonly Json[] {
    const value = this.given(name)
    if (value === undefined) return []
    if (Array.isArray(value)) return value as readonly Json[]
    throw this.wrong(name, 'must be a list')
  }

  map(name: string): JsonObject {
    const value = this.given(name)
    if (value === undefined) return {}
    if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject
    throw this.wrong(name, 'must be a map')
  }

  any(name: string): Json | undefined {
    return this.args[name]
  }

  wrong(name: string, reason: string): ToolError {
    return new ToolError(`The argument ${name} of the tool ${this.tool} ${reason}`)
  }

  /** null is how a template says that there is none. */
  private given(name: string): Exclude<Json, null> | undefined {
    return this.args[name] ?? undefined
  }
}
