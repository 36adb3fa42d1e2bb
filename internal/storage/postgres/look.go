package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Reader is a database that is looked at and never changed: where there are no
// tables, it makes none.
type Reader struct {
	db    *database
	views *views
}

// OpenReader makes a Reader. It connects when it is used.
func OpenReader(url string) (*Reader, error) {
	db, err := parse(url, defaults())
	if err != nil {
		return nil, err
	}
	return &Reader{db: db, views: newViews(db)}, nil
}

// View is that of Store. It wants tables: see Sight.Schema.
func (r *Reader) View(ctx context.Context, fn func(store.Tx) error) error {
	return r.views.view(ctx, fn)
}

// Close waits for the Views that run.
func (r *Reader) Close() error { return r.views.close() }

// Server is what can be seen of a database from outside. A text is "", and a number
// 0, where the server doesn't say.
type Server struct {
	Server   string // its name and version
	Encoding string

	Schema, Level           int64 // what the tables are; 0: there are none
	KnownSchema, KnownLevel int64 // what this release knows

	Bytes             int64         // of the whole database
	Ahead             time.Duration // the server's clock, before ours
	Oldest            time.Duration // how long the oldest open transaction of it has been open
	Fsync             string
	FullPageWrites    string
	SynchronousCommit string // for whoever doesn't set it; a Store does, for each commit
	Standbys          string // synchronous_standby_names
	MaxConnections    int64
	Connections       int64 // that a Store on this machine may use
}

// Look says what there is.
func (r *Reader) Look(ctx context.Context) (s Server, err error) {
	db := r.db.patientPool()
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.server(ctx, db); err != nil {
		return s, fmt.Errorf("store %s: %w", r.db.name(), meaning(err))
	}
	provider, err := migrations(db, false)
	if err != nil {
		return s, err
	}
	s.KnownSchema, s.KnownLevel = knownMigration(provider), level
	took, err := roundTrip(ctx, db)
	if err != nil {
		return s, fmt.Errorf("store %s: %w", r.db.name(), meaning(err))
	}
	s.Connections = int64(r.db.settings.at(took).readers) + 2
	if err := s.tables(ctx, db); err != nil {
		return s, fmt.Errorf("store %s: %w", r.db.name(), meaning(err))
	}
	s.settings(ctx, db)
	return s, nil
}

func (s *Server) server(ctx context.Context, db *sql.DB) error {
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&s.Server); err != nil {
		return err
	}
	s.Server, _, _ = strings.Cut(s.Server, " on ")
	return db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&s.Encoding)
}

// tables reads how far the tables are, and takes none for 0.
func (s *Server) tables(ctx context.Context, db *sql.DB) error {
	for query, value := range map[string]*int64{
		"SELECT COALESCE(max(level), 0) FROM countersign_writer WHERE id = " + writerRow:    &s.Level,
		"SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied = TRUE": &s.Schema,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(value); err != nil && code(err) != "42P01" {
			return err
		}
	}
	return nil
}

// settings asks for what only PostgreSQL itself knows. Another server may not say
// it, and can be used all the same.
func (s *Server) settings(ctx context.Context, db *sql.DB) {
	var ahead, oldest float64
	for query, values := range map[string][]any{
		"SELECT pg_database_size(current_database())": {&s.Bytes},
		`SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
			current_setting('synchronous_standby_names'), current_setting('max_connections')::bigint`: {
			&s.Fsync, &s.FullPageWrites, &s.SynchronousCommit, &s.Standbys, &s.MaxConnections},
		`SELECT COALESCE(extract(epoch FROM max(now() - xact_start)), 0)::float8 FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`: {&oldest},
	} {
		_ = db.QueryRowContext(ctx, query).Scan(values...) // what it is for stays "" or 0
	}
	var epoch float64
	began := time.Now()
	if err := db.QueryRowContext(ctx, "SELECT extract(epoch FROM clock_timestamp())::float8").Scan(&epoch); err == nil {
		middle := began.Add(time.Since(began) / 2)
		ahead = epoch - float64(middle.UnixMicro())/1e6
	}
	s.Ahead, s.Oldest = seconds(ahead), seconds(oldest)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
