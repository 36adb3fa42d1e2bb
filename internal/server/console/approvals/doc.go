// Package approvals has the inbox of approvals and the page on which a request is read and decided.
package approvals
