// Package receivertest helps to test a project API that uses package receiver: it
// signs calls as Countersign does, and checks that a Store keeps its law.
package receivertest
