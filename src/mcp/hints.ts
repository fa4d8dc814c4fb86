/**
 * What an error, a refusal or a problem of a line advises, in words of the tools: whoever calls a tool has no command line and no API. What only
 * people can do is said to be for them, with their words for it.
 */
import { CATALOGUE, type ErrorSpec } from '../kernel/catalogue.ts'
import { type ErrorCode, fill, type StagedoorError } from '../kernel/errors.ts'

const OTHER_KEY = 'propose_rows with another `key`'
const LEAVE_OUT = 'repair_rows with `leave_out` leaves lines out'

const HINTS: Partial<Record<ErrorCode, string>> = {
  argument_invalid: 'Correct the argument that the message names; the list of tools has the input of each.',
  request_invalid: 'Correct the argument that the message names; the list of tools has the input of each.',
  not_found: 'Check the id; get_status finds uploads, records, changes and executions.',
  gate_closed: 'An administrator opens the gate in the console, under Settings. No tool does.',
  unauthenticated: 'Ask a person for a token for agents, and give it to the client.',
  token_invalid: 'Ask a person for a new token for agents, and give it to the client.',
  upload_not_found:
    'Use the `upload` that propose_rows or propose_change answered, or the number of its change.',
  upload_state:
    'get_status with its `id` says how it stands; what was discarded or promoted is proposed again.',
  upload_already_exists: 'get_status with the `id` of that upload says how it stands.',
  upload_too_large: `Split the content, and propose each part: ${OTHER_KEY}.`,
  upload_too_many_lines: `Split the content, and propose each part: ${OTHER_KEY}.`,
  uploads_at_once: 'Call propose_rows again with the same `key` when an earlier upload has been read.',
  upload_fixed: 'Propose another statement with propose_change, under another `key`.',
  dataset_unknown:
    'list_datasets names the datasets that there are, with their platforms; a person registers others.',
  client_unknown:
    'describe_dataset lists the `clients`, by id and name, for the argument `client` of propose_rows.',
  plan_refused: `repair_rows with \`values\` corrects lines, and ${LEAVE_OUT}; \`refusal\` and \`problem_lines\` say what is wrong.`,
  table_refused: `repair_rows corrects the line, or ${LEAVE_OUT}.`,
  approval_missing: 'submit asks people for a review; only people approve and promote.',
  reader_replaced: 'get_status with its `id` says how it stands.',
  file_encoding_unknown: 'Send the text itself as `csv` or `rows` of propose_rows, or a file in UTF-8.',
  file_has_no_header:
    'Put a line with the names of the {columns} columns above the lines of `csv`, or send `rows`.',
  upload_columns_missing:
    'Use the headers that describe_dataset lists as keys of `rows`, or in the first line of `csv`. A column that the source does not have is sent with empty values. People can say in the console what a header means.',
  proposal_table_closed:
    'propose_change without a `statement` lists the tables that are open; people open others.',
  proposal_key_used:
    'Call the tool with another `key`. What was proposed under this one is as it was; repair_rows corrects lines of rows.',
  staging_key_taken: 'Call stage_record with another `key`. What was staged under this one is as it was.',
  staging_not_found: 'Use the `record` that stage_record answered, or the number of its change.',
  change_not_found: 'Use the `change` that propose_rows, propose_change or stage_record answered.',
  change_refused: 'get_status with the number of the change says how it stands.',
  review_incomplete: 'get_status says in `review` what is missing; people review it.',
  playbook_unknown: 'Ask a person for its path; people register playbooks and open them to members.',
  playbook_not_open: 'Its owner opens it to members; no tool does.',
  execution_unknown: 'Use the `execution` that start_playbook answered.',
  execution_key_taken:
    'Call start_playbook with another `key` for other `args`; get_status shows what ran under this one.',
  unit_unknown: 'search finds units with their addresses, for the argument `unit` of read_unit.',
  topic_unknown: 'search without `topic` shows the topics of its hits.',
  search_filter_column_unknown: 'search takes `topic`, `kind`, `status`, `source` and `container`.',
}

/** Advice of the rooms, which quote values and names, so it is found by its words. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^Use another key for other content\.$/, 'Call stage_record with another `key`.'],
  [
    /Upload the file again with `--decimal dot` or `--decimal comma` \(`decimal` in the API\), or repair the line\./,
    'Write the number with a point and without a separator of thousands: repair_rows with `values`.',
  ],
  [
    /Upload the file again with `--dates dmy` \(day first\) or `--dates mdy` \(`dates` in the API\), or write YYYY-MM-DD\./,
    'Write YYYY-MM-DD: repair_rows with `values`.',
  ],
  [/ and upload again, or repair the line/, ': repair_rows with `values`'],
  [/\bor repair the line\b/, 'or correct it with repair_rows'],
  [/ ?Or choose how repeated keys are handled: .*?\(upload plan --repeated-keys\)\./, ` Or ${LEAVE_OUT}.`],
  [/`stagedoor upload retry [^`]*` reads (?:the file|it) again\./, `${OTHER_KEY} proposes it again.`],
  [
    /Or correct the file that `stagedoor upload export [^`]*` writes[^.]*\./,
    `Or ${OTHER_KEY} proposes all lines again.`,
  ],
  [/`stagedoor upload plan [^`]*` looks them up again\./, 'repair_rows of any line looks them up again.'],
  [
    /`stagedoor propose --again [^`]*` works the statement out again, as a new proposal\./,
    'propose_change with another `key` works the statement out again.',
  ],
  [
    /^Propose a statement \(`stagedoor propose`\), or make a dataset for files: .*/,
    'Propose a statement with propose_change, or rows for a dataset of list_datasets.',
  ],
  [/`stagedoor upload plan [^`]*--again` plans it again\./, 'repair_rows of any line plans it again.'],
  [
    /: --on-invalid skip leaves those rows as they are/,
    ': leave out the lines with repair_rows, or ask a person',
  ],
  [/plan it with (--\S+(?: \S+)?)/, 'a person plans it with $1'],
  [
    /Export it again as UTF-8\. Or, if the values above read right, name the encoding: .*/,
    'Send the text itself as `csv` or `rows`.',
  ],
  [
    / If the export really has none, say so: `--without [^`]*`\./,
    ' If the source has none, send the column with empty values.',
  ],
  [
    /, or say which header means it and bring the file again: `stagedoor dataset map .*`\./,
    ', or use a header that describe_dataset lists.',
  ],
  [
    /`stagedoor member list` shows who there is, with their ids\./,
    'Ask a person for the user ids of reviewers, or leave `reviewers` out.',
  ],
  [/; `stagedoor group add` adds one/, '; people add groups'],
]

const OF_PEOPLE = /`?\bstagedoor [a-z]|(?:^|[\s`(])--[a-z]|\/api\/v1|\b(?:GET|POST|PUT|DELETE) \//

/** What to do about an error. */
export function toolHint({ code, apiHint, details }: StagedoorError): string {
  const spec: ErrorSpec = CATALOGUE[code]
  const own = HINTS[code]
  const isOfCatalogue = apiHint === fill(spec.apiHint ?? spec.hint, details)
  if (own !== undefined && isOfCatalogue) return fill(own, details)
  const advice = toolAdvice(apiHint)
  return own !== undefined && advice.startsWith(FOR_PEOPLE) ? fill(own, details) : advice
}

/** The same for a code, without what a certain error is about. */
export function toolHintOf(code: ErrorCode): string {
  const spec: ErrorSpec = CATALOGUE[code]
  return HINTS[code] ?? toolAdvice(spec.apiHint ?? spec.hint)
}

const FOR_PEOPLE = 'This is for a person, and no tool does it: '

/** A text of ours that may name a command, an option or a path. */
export function toolAdvice(text: string): string {
  const said = inTools(text)
  return OF_PEOPLE.test(said) ? FOR_PEOPLE + said : said
}

/** The same for a text whose advice is a part of it: a refusal of a plan, a suggestion beside a problem. */
export function inTools(text: string): string {
  return ADVICE.reduce((rest, [words, instead]) => rest.replace(words, instead), text)
}
