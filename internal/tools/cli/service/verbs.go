package service

import (
	"context"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// The commands of these types do the same with records of each kind. A noun's New says which
// method of the client each calls and how it prints the answer.

// Show is a command that asks for the record with an id, to show or to delete it.
type Show[T any] struct {
	ID string `arg:"" help:"${whose} id."`
	Asking

	ask   func(*client.Client, context.Context, string) (*T, error)
	print func(io.Writer, *T)
}

// Shows is the command that asks for a record and prints it.
func Shows[T any](ask func(*client.Client, context.Context, string) (*T, error), print func(io.Writer, *T)) Show[T] {
	return Show[T]{ask: ask, print: print}
}

// Run asks for the record and prints it.
func (s *Show[T]) Run(t *terminal.Terminal) error {
	return ShowRecord(t, s.Asking, func(c *client.Client) (*T, error) { return s.ask(c, t.Context, s.ID) }, s.print)
}

// Change is a command that changes the record with an id for a reason: it suspends, resumes,
// retires or restores it.
type Change[T any] struct {
	ID     string `arg:"" help:"${whose} id."`
	Reason string `required:"" help:"Why; kept in the audit log."`
	Asking

	done     string
	ask      func(*client.Client, context.Context, string, string) (*T, error)
	revision func(*T) int64 // nil where the change makes none
}

// Changes is the command that changes a record and says what was done.
func Changes[T any](done string, ask func(*client.Client, context.Context, string, string) (*T, error)) Change[T] {
	return Change[T]{done: done, ask: ask}
}

// Revised is the command, which says what revision it has made.
func (c Change[T]) Revised(revision func(*T) int64) Change[T] {
	c.revision = revision
	return c
}

// Run changes the record and says so.
func (c *Change[T]) Run(t *terminal.Terminal) error {
	return ShowRecord(t, c.Asking, func(from *client.Client) (*T, error) { return c.ask(from, t.Context, c.ID, c.Reason) }, func(w io.Writer, changed *T) {
		fmt.Fprint(w, c.done, " ", words.Plain(c.ID))
		if c.revision != nil {
			fmt.Fprint(w, ", revision ", c.revision(changed))
		}
		fmt.Fprintln(w)
	})
}

// List is a command that lists records, without a filter.
type List[T any] struct {
	Listing

	ask func(*client.Client, context.Context, client.Paging) (*countersign.Page[T], error)
	as  Columns[T]
}

// Lists is the command that lists all records that ask returns.
func Lists[T any](ask func(*client.Client, context.Context, client.Paging) (*countersign.Page[T], error), as Columns[T]) List[T] {
	return List[T]{ask: ask, as: as}
}

// Run lists the records.
func (l *List[T]) Run(t *terminal.Terminal) error {
	return ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[T], error) { return l.ask(c, t.Context, p) }, l.as)
}

// Retirees is the flags of a list that hides retired records.
type Retirees struct {
	Retired bool `help:"Show retired."`
}

// WithRetired adds a column if retired records are listed too.
func WithRetired[T any](shown Columns[T], asked bool, is func(T) bool) Columns[T] {
	if !asked {
		return shown
	}
	row := shown.Row
	return Columns[T]{Heading: append(shown.Heading[:len(shown.Heading):len(shown.Heading)], "retired"), Row: func(item T) []string { return append(row(item), words.Yes(is(item))) }}
}

// ListRetirable is a command that lists records of which some may be retired.
type ListRetirable[T any] struct {
	Retirees
	List[T]

	retired func(T) bool
}

// Retirable is [Lists] for records of which some may be retired.
func Retirable[T any](ask func(*client.Client, context.Context, client.Paging) (*countersign.Page[T], error), as Columns[T], retired func(T) bool) ListRetirable[T] {
	return ListRetirable[T]{List: Lists(ask, as), retired: retired}
}

// Run lists the records.
func (l *ListRetirable[T]) Run(t *terminal.Terminal) error {
	return ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[T], error) {
		p.Retired = l.Retired
		return l.ask(c, t.Context, p)
	}, WithRetired(l.as, l.Retired, l.retired))
}

// ShowRecord requests one record from a service and prints it; it calls seen with the record.
func ShowRecord[T any](t *terminal.Terminal, a Asking, ask func(*client.Client) (*T, error), print func(io.Writer, *T), seen ...func(*T)) error {
	c, err := a.Client(t)
	if err != nil {
		return err
	}
	record, err := ask(c)
	if err != nil {
		return err
	}
	for _, tell := range seen {
		tell(record)
	}
	return a.Print(t, record, func(w io.Writer) { print(w, record) })
}
