package postgres

import (
	"strconv"
	"strings"
	"time"
)

// locals are settings of one transaction, by name: behind a pooler the next one may be on
// another session.
type locals [][2]string

// limits are the timeouts of a transaction.
func limits(synchronous bool, statement, lock, idle time.Duration) locals {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	l := locals{{"statement_timeout", ms(statement)}, {"idle_in_transaction_session_timeout", ms(idle)}, {"lock_timeout", ms(lock)}}
	if synchronous {
		l = append(l, [2]string{"synchronous_commit", "on"})
	}
	return l
}

// writing are the limits of a transaction that writes.
func (s settings) writing() locals { return limits(true, s.statement, s.lock, s.idle) }

// text sets them, in a message of several statements.
func (l locals) text() string {
	set := make([]string, len(l))
	for i, of := range l {
		set[i] = "SET LOCAL " + of[0] + " = " + of[1]
	}
	return strings.Join(set, "; ")
}

// statement sets them, by one statement whose answer is short.
func (l locals) statement() change {
	set := make([]string, len(l))
	for i, of := range l {
		set[i] = "set_config('" + of[0] + "', '" + of[1] + "', true)"
	}
	return change{name: "countersign_locals", text: "SELECT length(concat(" + strings.Join(set, ", ") + "))"}
}
