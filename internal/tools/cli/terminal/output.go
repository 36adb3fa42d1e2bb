package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Output is the flag of every command that prints an answer.
type Output struct {
	Format string `name:"output" short:"o" enum:"table,json" default:"table" help:"How to print: table for people, json for programs."`
}

// Print writes an answer: the document as JSON, or the table.
func (o Output) Print(t *Terminal, document any, table func(w io.Writer)) error {
	if o.Format != "json" {
		table(t.Out)
		return nil
	}
	text, err := countersign.Marshal(document)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, words.Spelled(b.String()))
	return err
}

// Table writes rows under a heading, in columns as wide as their content. It escapes control
// characters, so that an untrusted name can't move the cursor, and cuts lines at the
// terminal's width.
func Table(w io.Writer, heading []string, rows [][]string) {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.ToUpper(strings.Join(heading, "\t")))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = words.Plain(cell)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	_ = tw.Flush()
	width := WidthOf(w)
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, Cut(strings.TrimRight(line, " \n"), width))
	}
}

// Cut shortens a line to width characters; 0 means no limit.
func Cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

// WidthOf is a terminal's width, 0 if w is no terminal.
func WidthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !Watched(w) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Facts writes names and values, one pair a line, and leaves out pairs without a value.
func Facts(w io.Writer, pairs ...[2]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range pairs {
		if p[1] != "" {
			fmt.Fprintf(tw, "%s\t%s\n", words.Plain(p[0]), words.Plain(p[1]))
		}
	}
	_ = tw.Flush()
}
