// Package apply makes a service as files say, and writes files that say what a service has.
//
// It is a client like any other: it reads all files (files.go) and checks them (record.go),
// reads what the service has and compares (compare.go), says what the token may not do
// (rights.go), and only then makes what differs (make.go), each by compare-and-set of what
// it read.
package apply
