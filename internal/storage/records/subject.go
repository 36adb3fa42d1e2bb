package records

import (
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Subject is who somebody is at an identity provider.
type Subject struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// SignedIn is as whom a user has signed in at identity providers, the latest last.
type SignedIn struct {
	As []Subject `json:"as"`
}

// SubjectUsers are the addresses of those who have signed in as a subject, the latest last.
type SubjectUsers struct {
	Emails []string `json:"emails"`
}

// Both are kept under Realm, since a person is one in however many tenants, and stay when a
// membership ends: who is added again is the same at the provider.
var (
	SignIdentities = store.Collection[SignedIn]{Table: store.Meta}
	Subjects       = store.Collection[SubjectUsers]{Table: store.Meta}
)

func signedInID(email string) string { return "signed-in/" + email }

func subjectID(s Subject) string { return "subject/" + hashOf(s.Issuer, s.Subject) }

// keptSubjects bounds both lists: a person has few addresses, and an address few persons.
const keptSubjects = 20

// KeepSubject notes as whom a user has signed in.
func KeepSubject(tx store.Tx, email string, s Subject) error {
	return errors.Join(
		addTo(tx, SignIdentities, signedInID(email), func(r *SignedIn) bool { return addLatest(&r.As, s) }),
		addTo(tx, Subjects, subjectID(s), func(r *SubjectUsers) bool { return addLatest(&r.Emails, email) }),
	)
}

func addTo[T any](tx store.Tx, c store.Collection[T], id string, add func(*T) bool) error {
	rec, version, err := c.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) {
		rec, version, err = new(T), 0, nil
	}
	if err != nil {
		return err
	}
	next := *rec
	if !add(&next) {
		return nil
	}
	_, err = c.Put(tx, store.Realm, id, &next, version)
	return err
}

// addLatest reports a list that is longer by one that it didn't have.
func addLatest[T comparable](list *[]T, one T) bool {
	if slices.Contains(*list, one) {
		return false
	}
	from := max(0, len(*list)+1-keptSubjects)
	*list = append(slices.Clone((*list)[from:]), one)
	return true
}

// SignedInBy are the issuers by which a user has signed in.
func SignedInBy(tx store.Tx, email string) (issuers []string, err error) {
	rec, _, err := SignIdentities.Get(tx, store.Realm, signedInID(email))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, s := range rec.As {
		issuers = append(issuers, s.Issuer)
	}
	return issuers, nil
}

// Behind completes a requester that is an agent with the users for whom it asked, as far as they
// are known at this moment: those who have signed in by the issuer as this subject, and the one
// whose verified address it is. One who signs in later counts from then on.
func Behind(tx store.Tx, tenant string, r access.Requester) (access.Requester, error) {
	if r.OnBehalfOf == nil {
		return r, nil
	}
	r.Behind, r.Stranger = nil, false
	rec, _, err := Subjects.Get(tx, store.Realm, subjectID(Subject{r.OnBehalfOf.Issuer, r.OnBehalfOf.Subject}))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return r, err
	}
	known := err == nil
	if known {
		for _, email := range rec.Emails {
			r.Behind = append(r.Behind, "user:"+email)
		}
	}
	if email := access.Folded(r.OnBehalfOf.Email); email != "" {
		isUser, err := isUser(tx, tenant, email)
		if err != nil {
			return r, err
		}
		known = known || isUser
		if id := "user:" + email; !slices.Contains(r.Behind, id) {
			r.Behind = append(r.Behind, id)
		}
	}
	r.Stranger = !known
	return r, nil
}

func isUser(tx store.Tx, tenant, email string) (bool, error) {
	u, _, err := Users.Get(tx, tenant, email)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && !u.Invited, err
}
