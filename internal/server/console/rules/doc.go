// Package rules reads and shows approval rules and budgets as rows of a form.
package rules
