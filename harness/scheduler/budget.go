package scheduler

import (
	"strconv"
	"time"
)

// A budget is what one job may spend. Attempts and route changes are taken when a lease is granted, so an attempt
// whose owner dies is paid for; bytes are taken when they are reported. Every retry of whatever rule pays here.
type budget struct {
	limits   Limits // defaults filled in; RouteChanges is not negative
	started  time.Time
	attempts int
	routes   int
	bytes    int64
}

// or fills the zero fields of l from d.
func (l Limits) or(d Limits) Limits {
	if l.Attempts == 0 {
		l.Attempts = d.Attempts
	}
	if l.RouteChanges == 0 {
		l.RouteChanges = d.RouteChanges
	}
	if l.Elapsed == 0 {
		l.Elapsed = d.Elapsed
	}
	if l.Bytes == 0 {
		l.Bytes = d.Bytes
	}
	return l
}

// newBudget starts a job's account. A sticky job has no route change to spend.
func newBudget(l Limits, sticky bool) budget {
	if sticky || l.RouteChanges < 0 {
		l.RouteChanges = 0
	}
	return budget{limits: l}
}

func (b *budget) attemptsLeft() int { return b.limits.Attempts - b.attempts }
func (b *budget) routesLeft() int   { return b.limits.RouteChanges - b.routes }

// deadline is when the elapsed budget ends; before the first lease it is counted from now.
func (b *budget) deadline(now time.Time) time.Time {
	switch {
	case b.started.IsZero():
		return now.Add(b.limits.Elapsed)
	case now.Before(b.started): // the clock went back
		b.started = now
	}
	return b.started.Add(b.limits.Elapsed)
}

// bytesLeft is what the job may still carry; negative means no limit.
func (b *budget) bytesLeft() int64 {
	if b.limits.Bytes <= 0 {
		return -1
	}
	return max(b.limits.Bytes-b.bytes, 0)
}

// check reports which budget forbids another attempt at now; nil if none does.
func (b *budget) check(now time.Time) *BudgetError {
	switch {
	case b.attemptsLeft() <= 0:
		return b.spent(BudgetAttempts)
	case !b.deadline(now).After(now):
		return b.spent(BudgetElapsed)
	case b.bytesLeft() == 0:
		return b.spent(BudgetBytes)
	}
	return nil
}

// reserve takes one attempt, and one route change if newRoute. The error is that of check, or of the route changes.
func (b *budget) reserve(now time.Time, newRoute bool) *BudgetError {
	if err := b.check(now); err != nil {
		return err
	}
	if newRoute && b.routesLeft() <= 0 {
		return b.spent(BudgetRouteChanges)
	}
	if b.started.IsZero() {
		b.started = now
	}
	b.attempts++
	if newRoute {
		b.routes++
	}
	return nil
}

// refund gives back what reserve took for an attempt that the origin never saw.
func (b *budget) refund(newRoute bool) {
	b.attempts--
	if newRoute {
		b.routes--
	}
}

// settle books the bytes of an attempt. Counts that are negative, or that overflow, are taken as spent to the end.
func (b *budget) settle(up, down int64) {
	sum := b.bytes + max(up, 0) + max(down, 0)
	if sum < b.bytes {
		sum = max(b.limits.Bytes, b.bytes)
	}
	b.bytes = sum
}

// spent is the error for a budget.
func (b *budget) spent(which string) *BudgetError {
	limit := ""
	switch which {
	case BudgetAttempts:
		limit = strconv.Itoa(b.limits.Attempts)
	case BudgetRouteChanges:
		limit = strconv.Itoa(b.limits.RouteChanges)
	case BudgetElapsed:
		limit = b.limits.Elapsed.String()
	case BudgetBytes:
		limit = strconv.FormatInt(b.limits.Bytes, 10) + " B"
	}
	return &BudgetError{Which: which, Limit: limit}
}

// Spent is what a job has used of its Limits.
type Spent struct {
	Attempts     int
	RouteChanges int
	Bytes        int64
	Elapsed      time.Duration // since its first lease
}
