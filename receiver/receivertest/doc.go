// Package receivertest helps to test a project API that uses package receiver: it signs
// calls as Countersign does, and checks that an implementation of Store follows its rules.
package receivertest
