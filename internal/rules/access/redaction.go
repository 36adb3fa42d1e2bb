package access

import "github.com/countersign/countersign"

// MayRedact is nil when the principal had no part in a run: who asked for it, or decided or
// resolved any of it, is neither the principal, nor made by it, nor its maker, directly or through
// others. Two that somebody else made are two.
func (e Eyes) MayRedact(p Principal, parts []Requester) error {
	if e == EyesOfAnybody {
		return nil
	}
	judge := p.Requester().folded()
	persons := judge.persons()
	if p.Person != "" {
		persons = append(persons, foldedID("user:"+p.Person))
	}
	for _, r := range parts {
		if r = r.folded(); meet(persons, r.Chain()) || meet(judge.Makers, r.persons()) {
			return countersign.Errorf(countersign.CodeSelfApproval, "you, or who made you or was made by you, asked for this run, or decided or resolved a part of it (%s), so another administrator must redact it", r.ID)
		}
	}
	return nil
}
