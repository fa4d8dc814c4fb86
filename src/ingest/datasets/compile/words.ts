/** What broken rules mean in plain words, and what to do about them. */
export interface Words {
  message: string
  suggestion: string
}

export const WORDS: Readonly<Record<string, Words>> = {
  'value.censored': {
    message: 'The export gives only a bound here, not a number.',
    suggestion: 'Nothing is stored for this value. If you know the number, repair the line with it.',
  },
  'value.nothing': {
    message: 'This stands for no number, so the value stays empty.',
    suggestion: 'If there is a number, repair the line with it.',
  },
  'number.invalid': {
    message: 'This is not a number.',
    suggestion: 'Write digits only, or leave the cell empty.',
  },
  'number.style': {
    message: 'This number is not written like the others in the file.',
    suggestion: 'Write it without separators between thousands.',
  },
  'number.ambiguous': {
    message:
      'The file does not settle whether decimals follow a point or a comma, so this reads in two ways.',
    suggestion:
      'Upload the file again with `--decimal dot` or `--decimal comma` (`decimal` in the API), or repair the line.',
  },
  'number.overflow': {
    message: 'This number is too large.',
    suggestion: 'Check the value in the source; whole numbers up to 9223372036854775807 can be stored.',
  },
  'integer.fraction': {
    message: 'A whole number is expected here, and this one has a fraction.',
    suggestion: 'Check that the right column was exported; write a whole number.',
  },
  'date.excel_serial': {
    message: 'This is a spreadsheet’s day number, not a date.',
    suggestion: 'Write the date as YYYY-MM-DD.',
  },
  'date.invalid': {
    message: 'This is not a date.',
    suggestion: 'Write it as YYYY-MM-DD.',
  },
  'date.ambiguous': {
    message: 'Day and month cannot be told apart, and the file does not settle which comes first.',
    suggestion:
      'Upload the file again with `--dates dmy` (day first) or `--dates mdy` (`dates` in the API), or write YYYY-MM-DD.',
  },
  'date.order': {
    message: 'Day and month stand the other way round than in the rest of the file.',
    suggestion: 'Write the date as YYYY-MM-DD.',
  },
  'date.impossible': {
    message: 'There is no such day.',
    suggestion: 'Check the date in the source and write it as YYYY-MM-DD.',
  },
  'date.implausible': {
    message: 'The year is before 1900 or after 2099.',
    suggestion: 'Check the date in the source and write it as YYYY-MM-DD.',
  },
  'id.not_scientific': {
    message: 'A spreadsheet has turned this id into a rounded number; its last digits are lost.',
    suggestion:
      'Export the file again and do not open it in a spreadsheet, or format the column as text first.',
  },
  'id.maybe_rounded': {
    message: 'This id ends in zeros after 15 digits, as if a spreadsheet had rounded it.',
    suggestion: 'Compare it with the id in the source before you promote.',
  },
  'enum.unknown': {
    message: 'This value is not known here.',
    suggestion: 'Use one of the known values, or teach this workspace what it means.',
  },
  'currency.unknown': {
    message: 'This is not a currency.',
    suggestion: 'Write its code of three letters, such as USD, EUR or VND.',
  },
  'currency.contradicts': {
    message:
      'The currency beside an amount contradicts that of the line, of the header or of another amount.',
    suggestion: 'Check which one the amounts are in, and correct the line.',
  },
  'currency.open': {
    message: 'Several currencies use this sign, and nothing says which one it stands for.',
    suggestion: 'No currency is stored. Export the currency in a column of its own, or in the header.',
  },
  'period.longer_than_day': {
    message: 'This line covers more than one day, and each must be of one day.',
    suggestion: 'Export the report again with a breakdown by day.',
  },
  'header.duplicate_differs': {
    message: 'The header is there more than once, and this line’s values differ.',
    suggestion: 'The first column is used. Leave the other one out of the export if that is wrong.',
  },
  'text.replacement_character': {
    message: 'A character was lost before the file was uploaded; � stands in its place.',
    suggestion: 'Export the file again as UTF-8, or repair the line.',
  },
  'row.total': {
    message: 'This line only sums up others and was left out.',
    suggestion: 'Nothing to do. If it is a line of its own, give it a date and all its names.',
  },
  'row.subtotal': {
    message: 'This line sums up others (“all” where they have a value of their own) and was left out.',
    suggestion: 'Nothing to do. If it is a line of its own, give it the value that tells it apart.',
  },
  'structure.too_many_fields': {
    message: 'This line has more fields than the header.',
    suggestion:
      'A value with the delimiter in it probably lacks its quotes. Quote it in the source, or repair the line.',
  },
  'structure.too_few_fields': {
    message: 'This line has fewer fields than the header.',
    suggestion: 'It was probably cut off. Export the file again, or fill in what is missing.',
  },
  'structure.unterminated_quote': {
    message: 'A quote is opened in this line and never closed.',
    suggestion: 'Close or double the quote in the source and upload again.',
  },
  'structure.stray_quote': {
    message: 'There is a quote inside an unquoted value.',
    suggestion: 'Quote the whole value and double the quotes inside it.',
  },
  'structure.other_delimiter': {
    message: 'This line seems to be cut by another delimiter than the rest of the file.',
    suggestion: 'Write it with the same delimiter as the other lines and upload again, or repair the line.',
  },
  'structure.repeated_header': {
    message: 'This line repeats or continues the header; it is no data.',
    suggestion: 'Remove it from the file and upload again. A second table belongs into a file of its own.',
  },
  'structure.invalid_utf8': {
    message: 'This line has bytes that are no text in the file’s encoding.',
    suggestion: 'Export the file again as UTF-8, or write the damaged value anew.',
  },
  'structure.nul_character': {
    message: 'This line has a NUL character, which cannot be stored.',
    suggestion: 'Remove it in the source. It has been left out of what is shown.',
  },
  'structure.line_too_long': {
    message: 'This line is longer than 1 MiB.',
    suggestion: 'A quote is probably missing before it. Check the lines around it in the source.',
  },
  'structure.formula_without_value': {
    message: 'A formula in this line has no stored value, so the cell would be empty.',
    suggestion: 'Open the workbook in a spreadsheet, save it and upload it again: saving stores the values.',
  },
  'structure.merged_number': {
    message: 'A number stands in merged cells, and it cannot be told to which line it belongs.',
    suggestion: 'Unmerge the cells in the workbook, write each line’s own number and upload it again.',
  },
  'structure.repeated_name': {
    message: 'This object has the same name twice, with different values.',
    suggestion: 'Write each name once in the source, or repair the line with the right value.',
  },
  'structure.not_json': {
    message: 'This line is not a JSON object.',
    suggestion: 'Check that every line of the file is one JSON object, and that the last one is complete.',
  },
}
