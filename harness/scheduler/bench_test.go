package scheduler_test

import (
	"testing"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

// BenchmarkLeaseReport is one useful job from lease to forget, among 1000 fixed exits and a provider.
func BenchmarkLeaseReport(b *testing.B) {
	sources := []scheduler.Source{provider("p")}
	for i := range 1000 {
		sources = append(sources, fixed(name("dc-", i)))
	}
	w := newWorld(b, scheduler.Config{Sources: sources})
	ids := make([]scheduler.Request, 10_000)
	for i := range ids {
		ids[i] = request(name("job-", i), name("id-", i))
	}
	i := 0
	for b.Loop() {
		r := ids[i%len(ids)]
		i++
		w.run(r, useful)
		w.Forget(r.Job)
	}
}
