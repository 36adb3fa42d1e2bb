package receipt

import (
	"regexp"
	"strings"
	"time"
)

// timeForm is RFC 3339 in UTC, as the service writes it. testdata/times.txt lists
// what both verifiers accept and refuse.
var timeForm = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z$`)

// moment is a time as text that sorts chronologically, "" for anything else.
func (n node) moment() string {
	found := timeForm.FindStringSubmatch(n.text())
	if found == nil {
		return ""
	}
	if _, err := time.Parse("2006-01-02T15:04:05", found[1]); err != nil {
		return ""
	}
	return found[1] + "." + found[2] + strings.Repeat("0", 9-len(found[2]))
}

// before reports that both are times and n is earlier.
func (n node) before(other node) bool {
	return n.moment() != "" && n.moment() < other.moment()
}

// noTime is the first of these members of n that is present but not a time, "" for
// none.
func (n node) noTime(members ...string) string {
	for _, name := range members {
		if n.has(name) && n.at(name).moment() == "" {
			return name
		}
	}
	return ""
}
