/** What a reader may find wrong with a record before anyone looks at its values, in plain words. */
export const FLAWS: Readonly<Record<string, { message: string; suggestion: string }>> = {
  too_many_fields: {
    message: 'This line has more fields than the header.',
    suggestion:
      'A value with the delimiter in it probably lacks its quotes. Quote it in the source, or repair the line.',
  },
  too_few_fields: {
    message: 'This line has fewer fields than the header.',
    suggestion: 'It was probably cut off. Export the file again, or fill in what is missing.',
  },
  unterminated_quote: {
    message: 'A quote is opened in this line and never closed.',
    suggestion: 'Close or double the quote in the source and upload again.',
  },
  stray_quote: {
    message: 'There is a quote inside an unquoted value.',
    suggestion: 'Quote the whole value and double the quotes inside it.',
  },
  invalid_utf8: {
    message: 'This line has bytes that are no text in the file’s encoding.',
    suggestion: 'Export the file again as UTF-8, or write the damaged value anew.',
  },
  nul_character: {
    message: 'This line has a NUL character, which cannot be stored.',
    suggestion: 'Remove it in the source. It has been left out of what is shown.',
  },
  line_too_long: {
    message: 'This line is longer than 1 MiB.',
    suggestion: 'A quote is probably missing before it. Check the lines around it in the source.',
  },
  not_json: {
    message: 'This line is not a JSON object.',
    suggestion: 'Check that every line of the file is one JSON object, and that the last one is complete.',
  },
}
