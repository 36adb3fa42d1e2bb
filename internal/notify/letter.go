package notify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/plain"
	"github.com/countersign/countersign/internal/records"
)

// mostListed is how many approvals a mail lists.
const mostListed = 50

// item is an approval that a letter tells of.
type item struct {
	kind   kind
	tenant string
	a      *records.Approval
	name   string // of who asked
}

// letter is one mail: what its reader is to be told, then what else waits for them.
type letter struct {
	to    string
	items []item
}

// add adds what isn't in the letter, or not as something that expires soon.
func (l *letter) add(i item) {
	at := slices.IndexFunc(l.items, func(in item) bool { return in.tenant == i.tenant && in.a.ID == i.a.ID })
	if at < 0 {
		l.items = append(l.items, i)
		return
	}
	l.items[at].kind = max(l.items[at].kind, i.kind)
}

func (l *letter) tenants() (out []string) {
	for _, i := range l.items {
		if !slices.Contains(out, i.tenant) {
			out = append(out, i.tenant)
		}
	}
	return out
}

func (i item) what() string { return plain.Value(i.a.Capability) + " at " + i.a.ProjectID }

func (i item) lapses() string { return i.a.ExpiresAt.UTC().Format("2 Jan 2006, 15:04 UTC") }

// askedBy is a principal with its name, which may be anything: so it stands in quotes
// behind what the principal is.
func (i item) askedBy() string {
	who := plain.Value(strings.Replace(i.a.RequestedBy, ":", " ", 1))
	if i.name == "" || i.a.RequestedBy == "user:"+i.name {
		return who
	}
	return who + " “" + plain.Value(i.name) + "”"
}

// words tell who asks for what and until when, and nothing of what would be sent:
// mail is read by many machines. Following a link decides nothing.
func (l *letter) words(baseURL string) (subject, text string) {
	if len(l.items) > 1 {
		return l.listing(baseURL)
	}
	i := l.items[0]
	begin := "A run waits for your decision."
	subject = "Decide: " + i.what()
	if i.kind == lapsing {
		subject = "Expires soon: " + i.what()
		begin = "A run still waits for a decision. Undecided, the system rejects it in less than an hour."
	}
	return subject, fmt.Sprintf("%s\n\nWhat:      %s\nTenant:    %s\nAsked by:  %s\nExpires:   %s\n\nSee what would be sent, and decide:\n%s/console/approvals/%s\n\nThis mail decides nothing, nor does following the link. Whoever decides first, decides.\n",
		begin, i.what(), i.tenant, i.askedBy(), i.lapses(), baseURL, i.a.ID)
}

// listing is a letter of several: those that expire soon first.
func (l *letter) listing(baseURL string) (subject, text string) {
	lapse := 0
	for _, i := range l.items {
		if i.kind == lapsing {
			lapse++
		}
	}
	slices.SortStableFunc(l.items, func(a, b item) int { return int(b.kind) - int(a.kind) })
	shown := l.items[:min(len(l.items), mostListed)]
	subject = fmt.Sprintf("Decide: %d runs wait", len(l.items))
	if lapse > 0 {
		subject = fmt.Sprintf("Expires soon: %d of %d runs that wait", lapse, len(l.items))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs wait for your decision.\n", len(l.items))
	if lapse > 0 {
		fmt.Fprintf(&b, "Undecided, the system rejects the first of this list (%d) in less than an hour.\n", lapse)
	}
	for _, i := range shown {
		fmt.Fprintf(&b, "\n%s, in tenant %s\nAsked by %s, expires %s\n%s/console/approvals/%s\n", i.what(), i.tenant, i.askedBy(), i.lapses(), baseURL, i.a.ID)
	}
	if more := len(l.items) - len(shown); more > 0 {
		fmt.Fprintf(&b, "\nand %d more.\n", more)
	}
	fmt.Fprintf(&b, "\nAll that waits:\n%s/console/approvals\n\nThis mail decides nothing, nor does following a link. Whoever decides first, decides.\n", baseURL)
	return subject, b.String()
}
