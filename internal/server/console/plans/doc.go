// Package plans has the pages of plans: their list, a plan, and the form that makes one.
package plans
