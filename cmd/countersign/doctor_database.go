package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/tools/transfer"
)

// checkDatabase checks a database as a starting replica would see it. It creates and changes no
// tables.
func checkDatabase(ctx context.Context, address string) (found []finding) {
	reader, err := postgres.OpenReader(address)
	if err != nil {
		return []finding{bad("store", "correct SVC_PLATFORM_STORE; the password can be given as PGPASSWORD or PGPASSFILE", "%v", err)}
	}
	defer func() { _ = reader.Close() }() // nothing was written
	sight, err := reader.Look(ctx)
	if err != nil {
		return []finding{bad("store", "look at SVC_PLATFORM_STORE, whether the server runs and can be reached from here, and who may connect to it (pg_hba.conf)", "%v", err)}
	}
	found = append(found, checkTables(sight, shownStore(address)))
	found = append(found, checkServer(sight)...)
	if sight.Schema == 0 {
		return found
	}
	return append(found, checkUse(ctx, reader, sight)...)
}

// checkTables reports whether this release can use the tables.
func checkTables(s postgres.Server, shown string) finding {
	tables := fmt.Sprintf("schema %d, level %d", s.Schema, s.Level)
	switch {
	case s.Schema == 0:
		return warn("store", "'countersign serve' makes the tables at its first start; if they should be there, look at the name of the database", "%s has no tables of ours", shown)
	case s.Level > s.KnownLevel:
		return bad("store", "use the release that wrote it", "%s, %s: this release may use level %d at most", shown, tables, s.KnownLevel)
	case s.Schema > s.KnownSchema:
		return warn("store", "use the release that wrote it, unless you are amid an upgrade or its way back", "%s, %s: a newer release has changed the tables; this one knows schema %d", shown, tables, s.KnownSchema)
	case s.Schema < s.KnownSchema:
		return warn("store", "back the database up: the first start of this release changes its tables", "%s, %s: this release brings schema %d", shown, tables, s.KnownSchema)
	}
	return fine("store", "%s, %s, %s", shown, tables, mebibytes(s.Bytes))
}

// The bounds above which a person should look at the server.
const (
	clockApart = 10 * time.Second
	longOpen   = 5 * time.Minute
)

// checkServer checks the server's configuration.
func checkServer(s postgres.Server) []finding {
	seen := fmt.Sprintf("%s, encoding %s, synchronous_commit on for each of our commits (else %s), standbys waited for: %s",
		s.Server, s.Encoding, orElse(s.SynchronousCommit, "unknown"), orElse(s.Standbys, "none"))
	server := fine("database server", "%s", seen)
	switch {
	case !strings.EqualFold(s.Encoding, "UTF8"):
		server = bad("database server", "make a database with ENCODING 'UTF8' TEMPLATE template0", "%s", seen)
	case s.Fsync == "off":
		server = bad("database server", "set fsync = on: a crash of the server would forget what was sent already", "%s, fsync off", seen)
	case s.FullPageWrites == "off":
		server = warn("database server", "set full_page_writes = on, unless the file system can't tear a page", "%s, full_page_writes off", seen)
	}
	found := []finding{server}
	if s.Oldest > longOpen {
		found = append(found, warn("database transactions", "end it (pg_stat_activity shows it): while it is open nothing can be cleared away, and writing becomes slower", "one has been open for %s", s.Oldest.Round(time.Second)))
	}
	if s.Ahead.Abs() > clockApart {
		return append(found, bad("clock", "run a time service on both machines: approvals, tokens and limits end by the clock", "the server's is %s ahead of this machine's", s.Ahead.Round(time.Second)))
	}
	return append(found, fine("clock", "%s, as the server's", now().Format(time.RFC3339)))
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// watching is how long replicas are observed: a healthy one renews its lease in this time.
const watching = lease.Every + lease.Every/2

// checkUse checks which replicas use the store.
func checkUse(ctx context.Context, reader *postgres.Reader, s postgres.Server) []finding {
	switch err := transfer.Complete(ctx, reader); {
	case errors.Is(err, transfer.ErrIncomplete):
		return []finding{bad("copy", "let 'countersign store copy' end, or drop the database and copy again", "the database is the target of a copy that is not complete")}
	case err != nil:
		return []finding{bad("tables", "let the role of the address own the tables, or grant it their use", "%v", err)}
	}
	if found := checkCopied(ctx, reader); found != nil {
		return found
	}
	alive, still, err := lease.Beating(ctx, reader, watching)
	if err != nil {
		return []finding{bad("replicas", "look again", "%v", err)}
	}
	return append([]finding{checkReplicas(alive, still)}, checkConnections(s, len(alive))...)
}

func checkReplicas(alive, still []records.Replica) finding {
	seen := fmt.Sprintf("%d alive", len(alive))
	if len(alive) > 0 {
		seen += ": " + strings.Join(versions(alive), ", ")
	}
	switch {
	case len(still) == 0 && len(versions(alive)) > 1:
		return warn("replicas", "end the upgrade: replace those of the older release", "%s", seen)
	case len(still) > 0 && len(alive) == 0:
		return warn("replicas", "start one: it takes their runs over after 10 seconds. After a restore run 'countersign store restored' before", "%s, and %d left a record and don't live", seen, len(still))
	case len(still) > 0:
		return warn("replicas", "look again in 10 seconds: those that live take the runs of the others over", "%s, and %d not heard for %s", seen, len(still), watching)
	}
	return fine("replicas", "%s", seen)
}

// versions counts the replicas of each version.
func versions(replicas []records.Replica) (words []string) {
	count := map[string]int{}
	for _, r := range replicas {
		count[orElse(r.Version, "an older release")]++
	}
	for v, n := range count {
		words = append(words, fmt.Sprintf("%d of %s", n, v))
	}
	slices.Sort(words)
	return words
}

// checkConnections checks that the server allows enough connections for the live replicas and one
// more, which an upgrade may need.
func checkConnections(s postgres.Server, alive int) []finding {
	needed := int64(alive+1) * s.Connections
	switch {
	case s.MaxConnections == 0:
		return nil
	case needed > s.MaxConnections:
		return []finding{warn("database connections", "raise max_connections, or put a pooler before the server", "%d are allowed; %d replicas and one more, as during an upgrade, may use up to %d", s.MaxConnections, alive, needed)}
	}
	return []finding{fine("database connections", "%d are allowed; %d replicas and one more, as during an upgrade, may use up to %d", s.MaxConnections, alive, needed)}
}
