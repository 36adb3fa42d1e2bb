package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// database makes pools of connections to one database.
type database struct {
	config   *pgx.ConnConfig
	settings settings
	// unprepared is set when the server has shown that it doesn't keep prepared
	// statements for us; see doc.go, "Poolers".
	unprepared atomic.Bool
	// Set by prepare: a newer release has added to the tables; how long a message to the server
	// and back takes.
	newer     bool
	raised    bool // it is closed to earlier releases
	roundTrip time.Duration
}

// parse reads the address of a database. Errors show it without its password.
func parse(url string, settings settings) (*database, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, fmt.Errorf("the address of a PostgreSQL store must begin with postgres:// or postgresql://")
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the address of the store can't be used: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = settings.connect
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "countersign"
	}
	// Views must see what Updates wrote, so a standby is not used: if the address names
	// several hosts, read-only ones are skipped.
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	return &database{config: config, settings: settings}, nil
}

// pool opens a pool of so many connections, with bounded reads.
func (d *database) pool(connections int) *sql.DB {
	config := d.config.Copy()
	config.DialFunc = d.dial
	db := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(d.mode))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// patientPool opens a pool without bounds, for statements that may take long.
func (d *database) patientPool() *sql.DB {
	return stdlib.OpenDB(*d.config.Copy(), stdlib.OptionBeforeConnect(d.mode))
}

func (d *database) mode(_ context.Context, config *pgx.ConnConfig) error {
	if d.unprepared.Load() {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return nil
}

// keepAlive detects a dead server within half a minute, also on an idle connection.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}

func (d *database) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &boundConn{Conn: conn, answer: d.settings.answer}, nil
}
