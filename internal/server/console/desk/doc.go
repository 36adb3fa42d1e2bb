// Package desk has the list of what waits for a person, in one place: approvals, recoveries and
// changes. The pages on which each is decided show it beside them, so that one is read and decided
// after the other without leaving the desk.
package desk
