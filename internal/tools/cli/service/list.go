package service

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Listing is the flags of every command that lists.
type Listing struct {
	Asking
	Limit  int  `default:"100" help:"How many to show, 1 to 200." placeholder:"100"`
	Offset int  `default:"0" help:"How many to leave out before them." placeholder:"0"`
	All    bool `help:"Show all, page by page."`
}

// paging is the first page to request.
func (l Listing) paging() client.Paging {
	if l.All {
		return client.Paging{Limit: countersign.MaxPageLimit, Offset: l.Offset}
	}
	return client.Paging{Limit: l.Limit, Offset: l.Offset}
}

// Columns describes how the items of a list are printed.
type Columns[T any] struct {
	Heading []string
	Row     func(item T) []string
}

// ListRecords requests a page, or all of them, and prints the items.
func ListRecords[T any](t *terminal.Terminal, l Listing, ask func(*client.Client, client.Paging) (*countersign.Page[T], error), shown Columns[T]) error {
	c, err := l.Client(t)
	if err != nil {
		return err
	}
	if !l.All && (l.Limit < 1 || l.Limit > countersign.MaxPageLimit) || l.Offset < 0 {
		return terminal.Unusablef("--limit must be from 1 to %d and --offset not below 0; --all shows everything", countersign.MaxPageLimit)
	}
	page, err := ask(c, l.paging())
	if err == nil && l.All {
		err = everyPage(t, page, func(offset int) (*countersign.Page[T], error) {
			return ask(c, client.Paging{Limit: countersign.MaxPageLimit, Offset: offset})
		})
	}
	if err != nil {
		return err
	}
	return l.Print(t, page, func(w io.Writer) {
		terminal.Table(w, shown.Heading, Rows(page.Items, shown.Row))
		switch {
		case len(page.Items) == 0:
			fmt.Fprintln(t.Errs, "there are none")
		case page.NextOffset != nil:
			fmt.Fprintf(t.Errs, "%d of %d; --all shows all\n", len(page.Items), page.Total)
		}
	})
}

// everyPage appends the following pages to a page.
func everyPage[T any](t *terminal.Terminal, page *countersign.Page[T], ask func(offset int) (*countersign.Page[T], error)) error {
	bar := terminal.NewBar(t, "reading")
	defer bar.Done()
	for page.NextOffset != nil {
		bar.Set(int64(len(page.Items)), int64(page.Total))
		next, err := ask(*page.NextOffset)
		if err != nil {
			return err
		}
		page.Items, page.Total, page.NextOffset = append(page.Items, next.Items...), next.Total, next.NextOffset
	}
	return nil
}

// Rows are the cells of items.
func Rows[T any](items []T, row func(T) []string) [][]string {
	out := make([][]string, len(items))
	for i, item := range items {
		out[i] = row(item)
	}
	return out
}
