// Package typed reads what a command is given: values, times and ids in flags, files, addresses; and
// makes new files.
package typed

import (
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Assignment parses name=TEXT, or name:=JSON for a value that is not text.
func Assignment(flag, pair string) (name string, v countersign.Value, err error) {
	name, text, found := strings.Cut(pair, "=")
	name, isJSON := strings.CutSuffix(name, ":")
	switch {
	case !found || name == "":
		return "", v, terminal.Unusablef("%s %q: it must be name=TEXT or name:=JSON", flag, pair)
	case !isJSON:
		return name, countersign.String(text), nil
	}
	if err := exactjson.Check([]byte(text)); err != nil {
		return "", v, terminal.Unusablef("%s %s: what comes after := must be JSON: %v", flag, name, err)
	}
	return name, countersign.RawValue(text), nil
}

// ObjectOf parses a JSON object from a flag, or from the file that the flag names with @.
func ObjectOf(flag, text string) (map[string]countersign.Value, error) {
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, terminal.Unusablef("%s: %v", flag, err)
		}
		text = string(content)
	}
	if err := exactjson.Check([]byte(text)); err != nil {
		return nil, terminal.Unusablef("%s: %v", flag, err)
	}
	object, ok := countersign.RawValue(text).Object()
	if !ok {
		return nil, terminal.Unusablef("%s: it must be a JSON object, or @ and the name of a file that holds one", flag)
	}
	return object, nil
}

// Instant parses a time, or a duration before now.
func Instant(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, terminal.Unusablef("--since %q: it must be a time such as 2026-11-21 or 2026-11-21T15:04:05Z, or how long ago, such as 24h", text)
}

// IdOf is the id in a flag, else the one in the document.
func IdOf(flag string, document countersign.Value, path string) (string, error) {
	if id := words.First(flag, document.Text()); id != "" {
		return id, nil
	}
	return "", terminal.Unusablef("%s has no id; give one with --id", path)
}
