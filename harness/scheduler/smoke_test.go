package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestRotateTakesANewSessionForEachJob(t *testing.T) {
	s, err := scheduler.New(scheduler.Config{Sources: []scheduler.Source{{Name: "p", Protocol: "http", Endpoints: []string{"gw:1"}}}})
	require.NoError(t, err)
	r := scheduler.Request{Job: "a", Identity: "ada", Origin: "shop.test", Intent: scheduler.Intent{Mode: scheduler.Rotate}}
	a, err := s.Lease(t.Context(), r)
	require.NoError(t, err)
	d, err := s.Report(t.Context(), a, scheduler.Outcome{OK: true, Rule: scheduler.RuleDone})
	require.NoError(t, err)
	require.Equal(t, scheduler.Done, d.Action)
	r.Job = "b"
	b, err := s.Lease(t.Context(), r)
	require.NoError(t, err)
	require.NotEqual(t, a.Exit.Session, b.Exit.Session)
	require.Len(t, s.Snapshot().Leases, 1)
}
