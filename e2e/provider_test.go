package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/fixtures/provider"
	"github.com/limpet-dev/limpet/harness"
	credentials "github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/report"
)

// What a provider refuses is never the shop's fault, and a browser calls all of it by one name.
func TestProviderFaults(t *testing.T) {
	cases := map[string]struct {
		fault    provider.Fault
		class    classify.Class
		blamed   classify.Blamed
		state    report.State
		attempts int
		stopped  bool
	}{
		"policy":           {provider.Fault{Kind: "policy"}, classify.ProviderPolicy, classify.BlamePolicy, report.Denied, 1, false},
		"exit lost once":   {provider.Fault{Kind: "session_lost", Times: 1}, classify.Useful, classify.BlameNobody, report.Useful, 2, false},
		"no exit":          {provider.Fault{Kind: "no_exit"}, classify.NoExit, classify.BlameSegment, report.Failed, 3, false},
		"unmarked refusal": {provider.Fault{Kind: "bad_gateway"}, classify.TunnelFailed, classify.BlameSegment, report.Failed, 3, false},
		"target refused":   {provider.Fault{Kind: "target_unreachable"}, classify.Connect, classify.BlameOrigin, report.Failed, 3, false},
		"target's name":    {provider.Fault{Kind: "dns"}, classify.DNS, classify.BlameOrigin, report.Failed, 3, false},
		"threads once":     {provider.Fault{Kind: "threads_exhausted", Times: 1}, classify.Useful, classify.BlameNobody, report.Useful, 2, false},
		"traffic used up":  {provider.Fault{Kind: "traffic_exhausted"}, classify.ProviderLimit, classify.BlameAccount, report.Failed, 1, true},
		"bad credential":   {provider.Fault{Kind: "bad_credential"}, classify.CredentialRejected, classify.BlameCredential, report.Failed, 1, true},
	}
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				remove := w.set.Provider.Inject(c.fault)
				defer remove()
				jobs := w.load(t, header("")+product("first", "ada", "https://shop.test/product/p-1")+product("second", "ada", "https://shop.test/product/p-2"))
				jobs[0].Robots, jobs[1].Robots = "ignore", "ignore" // its fetch would meet the fault in the page's place
				o := w.run(t.Context(), t, 1, jobs)
				r := o.results["first"]
				require.NotNil(t, r.Verdict, "%+v", r)
				require.Equal(t, c.class, r.Verdict.Class, "%s %v", r.Error, r.Verdict.Signals)
				require.Equal(t, c.blamed, r.Verdict.Blamed)
				require.Equal(t, c.state, r.State)
				require.Equal(t, c.attempts, r.Attempts)
				if !c.stopped {
					require.NoError(t, o.ex.Err)
					return
				}
				require.ErrorIs(t, o.ex.Err, harness.ErrCredential)
				require.Equal(t, report.Cancelled, o.results["second"].State, "everything that uses it stops, and runs when the run is resumed")
			})
		}
	})
}

func TestAWrongPasswordStopsTheRun(t *testing.T) {
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		w.config.Providers[0].Password = credentials.NewSecret("not the password")
		o := w.run(t.Context(), t, 1, w.load(t, header("")+product("j", "ada", "https://shop.test/product/p-1")))
		require.ErrorIs(t, o.ex.Err, harness.ErrCredential)
		require.Empty(t, w.set.Shop.AllVisits(), "the shop saw nothing of it")
	})
}

func TestRobotsAreObeyedBeforeThePageIsFetched(t *testing.T) {
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		o := w.run(t.Context(), t, 1, w.load(t, header("")+product("j", "ada", "https://shop.test/private/stock")))
		require.Equal(t, report.Denied, o.results["j"].State)
		require.Equal(t, classify.PolicyDenied, o.results["j"].Verdict.Class)
		for _, v := range w.set.Shop.AllVisits() {
			require.Equal(t, "/robots.txt", v.Path)
		}
	})
}
