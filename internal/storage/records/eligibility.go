package records

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Eligibility is as whose member somebody decides an approval that names groups.
type Eligibility struct {
	Groups     []string // the approval's, that the decision counts for
	OnBehalfOf []string // users who are away, without whom it would count for fewer
	Escalated  []string // groups that decide in place of the approval's own
}

// EligibilityOf finds for which of an approval's groups a user decides at this moment: as a
// member, as a member of a group that it has escalated to, and as the delegate of users who
// are away. may reports whether one who is away could decide it themselves: nobody lends
// what they don't have.
func EligibilityOf(tx store.Tx, tenant string, r *Approval, away []countersign.Delegation, person string, now time.Time, may func(email string) (bool, error)) (s Eligibility, err error) {
	if person == "" || len(r.Groups) == 0 {
		return s, nil
	}
	s.Groups, s.Escalated, err = memberOf(tx, tenant, r, person, now)
	if err != nil || len(s.Groups) == len(r.Groups) {
		return s, err
	}
	for _, d := range away {
		if d.Delegate != person || !d.Holds(now) {
			continue
		}
		lent, escalated, err := memberOf(tx, tenant, r, d.User, now)
		if err != nil {
			return s, err
		}
		if !adds(s.Groups, lent) {
			continue
		}
		able, err := may(d.User)
		if err != nil {
			return s, err
		}
		if able {
			s.add(lent, escalated)
			s.OnBehalfOf = append(s.OnBehalfOf, d.User)
		}
	}
	return s, nil
}

// Away lists the delegations that an approval may be decided by: none where it names no
// groups.
func Away(tx store.Tx, tenant string, r *Approval) ([]countersign.Delegation, error) {
	if len(r.Groups) == 0 {
		return nil, nil
	}
	return Delegations.List(tx, tenant, store.Query{Where: AllDelegations()})
}

// EligibilityThen is whether a decision counts at this moment, and for which of its groups:
// those of who decided, and of those in whose place they did, as far as they may decide it and
// are members still. The end of a delegation undoes nothing that was decided within it.
// justGiven says that they may was found in this transaction.
func EligibilityThen(tx store.Tx, tenant string, r *Approval, by Decider, given time.Time, m Moment, justGiven bool) (s Eligibility, counts bool, err error) {
	if counts = justGiven; !counts {
		counts, err = m.stands(tx, tenant, r, by, given)
	}
	if err != nil || !counts {
		return s, false, err
	}
	s, err = lentThen(tx, tenant, r, by, given)
	return s, err == nil && (len(r.Groups) == 0 || len(s.Groups) > 0), err
}

// lentThen is as whose member somebody decided, as far as it holds still. That they might
// decide at all is known.
func lentThen(tx store.Tx, tenant string, r *Approval, by Decider, given time.Time) (s Eligibility, err error) {
	if len(r.Groups) == 0 {
		return s, nil
	}
	for _, person := range append([]string{by.Person}, by.OnBehalfOf...) {
		if person != by.Person {
			if able, err := userStands(tx, tenant, r, person, given); err != nil || !able {
				if err != nil {
					return s, err
				}
				continue
			}
		}
		in, escalated, err := memberOf(tx, tenant, r, person, given)
		if err != nil {
			return s, err
		}
		s.add(in, escalated)
	}
	return s, nil
}

// memberOf lists for which of an approval's groups a user may decide as a member: of the
// group itself, or of one that stands in for it by then.
func memberOf(tx store.Tx, tenant string, r *Approval, person string, at time.Time) (groups, escalated []string, err error) {
	if groups, err = groupsOf(tx, tenant, r.Groups, person); err != nil {
		return nil, nil, err
	}
	for _, e := range r.Escalations {
		if at.Before(e.At) || !adds(groups, e.For) {
			continue
		}
		in, err := groupsOf(tx, tenant, e.Groups, person)
		if err != nil {
			return nil, nil, err
		}
		if len(in) > 0 {
			groups, escalated = union(groups, e.For), union(escalated, in)
		}
	}
	return groups, escalated, nil
}

func (e *Eligibility) add(groups, escalated []string) {
	e.Groups, e.Escalated = union(e.Groups, groups), union(e.Escalated, escalated)
}

// adds reports that some of a list are not in another.
func adds(to, list []string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return !slices.Contains(to, x) })
}

// union is sorted, and nil for nothing.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
