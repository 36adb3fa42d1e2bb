package gate

import "slices"

// Decider is one who approved, as far as the count goes.
type Decider struct {
	Groups []string // those of the approval that they are a member of at this moment
}

// Counts reports that a decider's approval counts: where groups are named, every decider is
// a member of one. Who left them no longer counts for what is undecided.
func Counts(groups []string, d Decider) bool {
	return len(groups) == 0 || slices.ContainsFunc(d.Groups, func(g string) bool { return slices.Contains(groups, g) })
}

// Enough reports that those who approved are as many as needed, and that each named group
// has at least one of them.
func Enough(needed int, groups []string, approved []Decider) bool {
	count := 0
	open := slices.Clone(groups)
	for _, d := range approved {
		if !Counts(groups, d) {
			continue
		}
		count++
		open = slices.DeleteFunc(open, func(g string) bool { return slices.Contains(d.Groups, g) })
	}
	return count >= max(1, needed) && len(open) == 0
}
