package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestErrorsSayWhatWhoAndWhatToDo(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err  error
		kind error
		text string
	}{
		{&scheduler.WaitError{Until: at, Reason: "pace of shop.test"}, scheduler.ErrNoCapacity, "no capacity before 2026-12-01T12:00:00Z: pace of shop.test"},
		{&scheduler.RefusedError{Field: "city", Value: "Bath", Reason: "nobody can"}, scheduler.ErrRefused, `intent refused: city "Bath": nobody can`},
		{
			&scheduler.StoppedError{Domain: scheduler.DomainCredential, Provider: "main", Reason: "credential_rejected"}, scheduler.ErrStopped,
			`credential of provider "main" is stopped: credential_rejected; put it right, then resume it`,
		},
		{&scheduler.HeldError{Origin: "shop.test", Reason: "all refused"}, scheduler.ErrHeld, "shop.test is held: all refused"},
		{&scheduler.BudgetError{Which: "attempts", Limit: "3"}, scheduler.ErrBudget, "budget of attempts (3) is spent"},
		{&scheduler.BurnedError{Exit: "203.0.113.9", Origin: "shop.test", Reason: "burned"}, scheduler.ErrBurned, "exit 203.0.113.9 must not meet shop.test: burned"},
		{&scheduler.ChangedError{From: "a", To: "b"}, scheduler.ErrExitChanged, "exit changed from a to b under one session"},
		{&scheduler.LeaseError{Lease: "x", Kind: scheduler.ErrExpiredLease}, scheduler.ErrExpiredLease, `lease "x": expired lease`},
	} {
		require.ErrorIs(t, c.err, c.kind)
		require.EqualError(t, c.err, c.text)
	}
}

func TestKeyOfAnExitIsTheBestNameKnown(t *testing.T) {
	require.Equal(t, "203.0.113.9", scheduler.ExitRef{Source: "p", Session: "s", Addr: "203.0.113.9"}.Key())
	require.Equal(t, "p/s", scheduler.ExitRef{Source: "p", Session: "s"}.Key())
	require.Equal(t, "dc-1", scheduler.ExitRef{Source: "dc-1"}.Key())
}
