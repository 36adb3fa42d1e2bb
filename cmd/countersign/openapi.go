package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/countersign/countersign/internal/server/console"
	"github.com/countersign/countersign/internal/rules/importer"
)

// readOpenAPI lets the console make a project of an uploaded document, as the command
// `import openapi` does of a file.
func readOpenAPI(document []byte, o console.ImportOptions) (in console.Import, err error) {
	d, err := importer.Read(document)
	if err != nil {
		return in, onPage(err)
	}
	options := importer.Options{ProjectID: o.ProjectID, BaseURL: o.BaseURL}
	if o.Only != "" {
		options.Include = regexp.MustCompile("(?i)" + regexp.QuoteMeta(o.Only))
	}
	p, err := d.Propose(options)
	if err != nil {
		return in, onPage(err)
	}
	in = console.Import{Project: p.Project, FillIn: p.FillIn, Notes: map[string]string{}, Skipped: []console.ImportSkipped{}}
	for _, line := range p.Proposed {
		in.Notes[line.Name] = noteOf(line)
	}
	for _, s := range p.Skipped {
		in.Skipped = append(in.Skipped, console.ImportSkipped{Method: s.Method, Path: s.Path, Why: inForm(s.Message)})
	}
	return in, nil
}

// noteOf is what a reviewer should know of a proposed capability.
func noteOf(p importer.Proposed) string {
	var notes []string
	if p.Because != "" {
		notes = append(notes, "the receiver deduplicates, by "+p.Because)
	}
	if p.OtherKey != "" {
		notes = append(notes, "it deduplicates by the header "+p.OtherKey+", which isn’t sent")
	}
	if len(p.LeftOut) > 0 {
		notes = append(notes, "left out: "+strings.Join(p.LeftOut, ", "))
	}
	return strings.Join(notes, "; ")
}

func onPage(err error) error { return errors.New(inForm(err.Error())) }

// inForm names the field of the form where the command has a flag.
func inForm(text string) string { return strings.ReplaceAll(text, "--base-url", "Server") }
