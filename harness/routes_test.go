package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestASessionIDBelongsToItsEpoch(t *testing.T) {
	def, err := provider.Lookup("limpet-fixture")
	require.NoError(t, err)
	p, err := provider.New(def, provider.NewSecret("acme"), provider.NewSecret("pw"), provider.Overrides{Endpoints: []string{"127.0.0.1:1"}})
	require.NoError(t, err)
	routes := harness.NewRoutes()
	routes.Add(p)
	user := func(session string) string {
		r, err := routes.Route(scheduler.Lease{Exit: scheduler.ExitRef{Source: p.Name(), Endpoint: "127.0.0.1:1", Session: session}})
		require.NoError(t, err)
		return r.Username.Reveal()
	}
	first := user("a")
	require.Equal(t, first, user("a"), "a port that is opened again leaves by the same exit")
	require.NotEqual(t, first, user("b"))
	require.NotContains(t, user("session-in-an-event"), "session-in-an-event")
}
