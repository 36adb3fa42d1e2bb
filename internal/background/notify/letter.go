package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
)

// mostListed bounds how many approvals a mail lists.
const mostListed = 50

// item is an approval that a letter lists.
type item struct {
	kind   kind
	tenant string
	a      *records.Approval
	name   string // of the requester; may be empty
}

// letter is one mail: the approvals that it is sent for, and the others that wait for its
// recipient in the same tenants.
type letter struct {
	to           string
	items        []item
	in           map[[2]string]int // index in items, by key
	more         int               // how many waiting approvals are not in items
	moreExpiring int               // how many of these expire soon
}

// add adds an approval. If the letter has it already, the item gets the later of both kinds.
func (l *letter) add(i item) {
	if l.in == nil {
		l.in = map[[2]string]int{}
		for at, in := range l.items {
			l.in[in.key()] = at
		}
	}
	at, is := l.in[i.key()]
	if !is {
		l.in[i.key()] = len(l.items)
		l.items = append(l.items, i)
		return
	}
	l.items[at].kind = max(l.items[at].kind, i.kind)
}

func (i item) key() [2]string { return [2]string{i.tenant, i.a.ID} }

// cut sorts the items by kind and expiry, keeps the first ones, and counts the others.
func (l *letter) cut() {
	slices.SortStableFunc(l.items, func(a, b item) int { return cmp.Or(int(b.kind)-int(a.kind), a.a.ExpiresAt.Compare(b.a.ExpiresAt)) })
	kept := min(len(l.items), mostListed)
	l.more, l.moreExpiring = l.more+len(l.items)-kept, l.moreExpiring+countExpiring(l.items[kept:])
	l.items, l.in = l.items[:kept], nil
}

func countExpiring(items []item) (n int) {
	for _, i := range items {
		if i.kind == expiring {
			n++
		}
	}
	return n
}

func (l *letter) tenants() (out []string) {
	for _, i := range l.items {
		if !slices.Contains(out, i.tenant) {
			out = append(out, i.tenant)
		}
	}
	return out
}

func (i item) what() string { return safetext.Value(i.a.Capability) + " at " + i.a.ProjectID }

func (i item) expiry() string { return i.a.ExpiresAt.UTC().Format("2 Jan 2006, 15:04 UTC") }

// askedBy describes the requester: the kind and id of the principal, then its name, which may be
// any text and so is in quotes, and for whom an agent asks.
func (i item) askedBy() string {
	who := safetext.Value(strings.Replace(i.a.RequestedBy, ":", " ", 1))
	if i.name != "" && i.a.RequestedBy != "user:"+i.name {
		who += " “" + safetext.Value(i.name) + "”"
	}
	if behind := i.a.BehindWords(); behind != "" {
		who += ", on behalf of " + safetext.Value(behind)
	}
	return who
}

// looked says that a state was read for the approval, and whether it is another one than was
// approved before. Its values stand on the page only.
func (i item) looked() (lines string) {
	if s := i.a.State; s != nil {
		lines = "Looked at:     " + safetext.Value(s.Capability) + ", " + s.At.UTC().Format("2 Jan 2006, 15:04 UTC") + "\n"
	}
	if len(i.a.Changed) > 0 {
		lines += "Asked again:   what was looked at has changed since it was approved\n"
	}
	return lines
}

// compose returns the subject and text of the letter. They say who asks for which capability
// and when the approval expires, but nothing of the request to be sent: mail passes through
// many machines that may read it. Following a link decides nothing.
func (l *letter) compose(baseURL string) (subject, text string) {
	if len(l.items) > 1 {
		return l.composeList(baseURL)
	}
	i := l.items[0]
	begin := "A run is waiting for your decision."
	subject = "Decide: " + i.what()
	switch i.kind {
	case escalated:
		subject = "Still to decide: " + i.what()
		begin = "A run is still waiting for a decision. The people who were asked first have not decided in time, so you can now decide too."
	case expiring:
		subject = "Expires soon: " + i.what()
		begin = "A run is still waiting for a decision. If nobody decides within the hour, it is rejected automatically."
	}
	return subject, fmt.Sprintf("%s\n\nAction:        %s\nTenant:        %s\nRequested by:  %s\nExpires:       %s\n%s\nReview the request and decide:\n%s/console/approvals/%s\n\nOpening the link decides nothing.\n",
		begin, i.what(), i.tenant, i.askedBy(), i.expiry(), i.looked(), baseURL, i.a.ID)
}

// composeList returns the subject and text of a letter with several approvals.
func (l *letter) composeList(baseURL string) (subject, text string) {
	l.cut()
	all, expiringSoon := len(l.items)+l.more, l.moreExpiring+countExpiring(l.items)
	subject = fmt.Sprintf("Decide: %d runs wait", all)
	if expiringSoon > 0 {
		subject = fmt.Sprintf("Expires soon: %d of %d runs that wait", expiringSoon, all)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs are waiting for your decision.\n", all)
	if expiringSoon > 0 {
		fmt.Fprintf(&b, "The first of this list (%d) are rejected automatically if nobody decides within the hour.\n", expiringSoon)
	}
	for _, i := range l.items {
		fmt.Fprintf(&b, "\n%s, in tenant %s\nRequested by %s, expires %s\n%s/console/approvals/%s\n", i.what(), i.tenant, i.askedBy(), i.expiry(), baseURL, i.a.ID)
	}
	if l.more > 0 {
		fmt.Fprintf(&b, "\nand %d more.\n", l.more)
	}
	fmt.Fprintf(&b, "\nAll waiting approvals:\n%s/console/approvals\n\nOpening a link decides nothing.\n", baseURL)
	return subject, b.String()
}
