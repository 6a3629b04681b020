package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/report"
)

// Six identities at concurrency four, over two hundred jobs: nothing of one is ever seen by another.
func TestIdentitiesAreIsolated(t *testing.T) {
	const identities, jobs = 6, 204
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		var file strings.Builder
		file.WriteString(header(""))
		for i := range jobs {
			who := fmt.Sprintf("id-%d", i%identities)
			fmt.Fprintf(&file, `  - id: j-%d
    identity: { key: %s }
    steps:
      - goto: https://shop.test/isolation?id=%s
      - wait: { selector: "#verdict.done" }
    expect:
      marker: "#name"
      records: { each: main, fields: { verdict: "#verdict", cookie: { css: "#before-cookie", optional: true } } }
`, i, who, who)
		}
		o := w.run(t.Context(), t, 4, w.load(t, file.String()))
		for id, r := range o.results {
			require.Equal(t, report.Useful, r.State, "%s: %s", id, r.Error)
			require.Len(t, r.Exits, 1)
		}
		for _, rec := range o.records {
			require.Equal(t, "apart", rec.Record["verdict"], "%s of %s", rec.Job, rec.Identity)
		}

		seen := w.set.Shop.Sightings()
		require.Len(t, seen, jobs)
		exits, owners, kept := map[string]string{}, map[string]string{}, map[string]int{}
		for _, s := range seen {
			for what, found := range map[string]string{
				"cookie": s.Cookie, "localStorage": s.Local, "sessionStorage": s.Session, "IndexedDB": s.IndexDB,
				"cache": s.Cache, "worker": s.Worker,
			} {
				if found != "" {
					require.Equal(t, s.Identity, found, "%s of another identity", what)
				}
			}
			if s.CacheClient != "" {
				require.Equal(t, s.Client.String(), s.CacheClient, "a cached body of another exit")
			}
			if s.Cookie != "" {
				kept[s.Identity]++
			}
			exit := s.Client.String()
			require.Contains(t, []string{"", s.Identity}, owners[exit], "exit %s of two identities", exit)
			require.Contains(t, []string{"", exit}, exits[s.Identity], "%s left by two exits", s.Identity)
			owners[exit], exits[s.Identity] = s.Identity, exit
		}
		require.Len(t, exits, identities)
		for who := range exits {
			require.Equal(t, jobs/identities-1, kept[who], "%s kept its own jar from job to job", who)
		}
		// The provider's log says the same of the way out.
		for _, tunnel := range w.set.Provider.Log() {
			if tunnel.Source.IsValid() {
				require.Contains(t, owners, tunnel.Source.Addr().String())
			}
		}
	})
}

// Two hundred jobs, good and bad, at concurrency four: no verdict is wrong.
func TestTwoHundredJobsWithoutAWrongVerdict(t *testing.T) {
	mix := []string{"ok", "gone", "error500once", "soft404", "missing", "late", "redirect", "rate429", "unauthorized", "resetonce"}
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		var file strings.Builder
		file.WriteString(header("  trace: { failed: true, sample: 0.05 }"))
		want := map[string]wanted{}
		for i := range 200 {
			name := mix[i%len(mix)]
			id := fmt.Sprintf("%s-%d", name, i)
			want[id] = misbehaviours[name]
			file.WriteString(product(id, fmt.Sprintf("id-%d", i%12), fmt.Sprintf("https://m%d.test/product/p-%d?key=%s&%s", i%25, i, id, misbehaviours[name].query)))
		}
		o := w.run(t.Context(), t, 4, w.load(t, file.String()))
		require.NoError(t, o.ex.Err)
		for id, m := range want {
			r := o.results[id]
			require.Equal(t, m.class, r.Verdict.Class, "%s: %s", id, r.Error)
			require.Equal(t, m.blamed, r.Verdict.Blamed, id)
			require.Equal(t, m.state, r.State, id)
			require.Equal(t, m.routes, r.RouteChanges, id)
		}
	})
}
