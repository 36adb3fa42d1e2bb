package records

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Readable says why a row can't be read as what its table keeps, nil if it can. Tables that keep
// records of several kinds, and the log, whose records are verified, are only checked to be JSON.
func Readable(t *store.Table, row store.Row) error {
	read := asJSON
	if as, one := kinds[t]; one {
		read = as
	}
	return read(row)
}

func asJSON(row store.Row) error {
	var v countersign.Value
	return Decode(row, &v)
}

func as[T any](row store.Row) error { return Decode(row, new(T)) }

// kinds are the tables that keep records of one kind.
var kinds = map[*store.Table]func(store.Row) error{
	store.Tenants: as[countersign.Tenant], store.Users: as[User], store.Sessions: as[Session],
	store.Tokens: as[Token], store.TokenHashes: as[TokenRef],
	store.Models: as[ModelHead], store.ModelRevisions: as[ModelRevision], store.Projects: as[ProjectHead],
	store.Agents: as[AgentHead], store.AgentRevisions: as[countersign.Agent], store.Instances: as[Instance],
	store.Teams: as[TeamHead], store.TeamRevisions: as[countersign.Team],
	store.Plans: as[Plan], store.Runs: as[Run], store.Approvals: as[Approval], store.Rehearsals: as[Rehearsed],
	store.Terms: as[Term], store.Archived: as[Archived], store.Claims: as[Claim], store.Unfinished: as[Unfinished],
}
