// Package text renders a report as plain text that can be mailed as it is: at
// most 72 columns of printable ASCII, no blanks at the ends of lines, the
// answer in the first line. It is pure: the same report gives the same text.
package text

// Width is the most columns that a line takes.
const Width = 72
