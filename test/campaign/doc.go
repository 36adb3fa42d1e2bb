// Package campaign is what the campaigns have in common: how much of each is
// run in which tier, seeds that are drawn anew each time, and those that failed
// before.
package campaign
