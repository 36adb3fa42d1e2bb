package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/countersign/countersign"
)

// Output is the flag of every command that prints an answer.
type Output struct {
	Format string `name:"output" short:"o" enum:"table,json" default:"table" help:"How to print: table for people, json for programs."`
}

// Print writes an answer: the document itself as JSON, or what table makes of it.
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
	_, err = fmt.Fprintf(t.Out, "%s\n", b.Bytes())
	return err
}

// Table writes rows under a heading in columns as wide as they need. A cell shows
// no control character: a name from outside must not move the cursor.
func Table(w io.Writer, heading []string, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.ToUpper(strings.Join(heading, "\t")))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Plain(cell)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	_ = tw.Flush()
}

// Facts writes names and values, one pair a line; pairs without a value are left
// out.
func Facts(w io.Writer, pairs ...[2]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range pairs {
		if p[1] != "" {
			fmt.Fprintf(tw, "%s\t%s\n", p[0], Plain(p[1]))
		}
	}
	_ = tw.Flush()
}

// Plain is text on one line without control characters.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return '\uFFFD'
		}
		return r
	}, text)
}
