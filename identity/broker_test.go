package identity_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/identity"
)

// world is a browser and a gateway that count what is open.
type world struct {
	mu       sync.Mutex
	contexts int // open now
	made     int
	ports    int // open now
	lost     chan struct{}
	states   []*drivers.StorageState // given to new contexts
	events   []identity.Event
	failOpen error
}

func newWorld() *world { return &world{lost: make(chan struct{})} }

func (w *world) config() identity.Config {
	return identity.Config{
		Open: w.open, Bind: w.bind,
		OnEvent: func(e identity.Event) { w.events = append(w.events, e) },
	}
}

func (w *world) open(_ context.Context, o drivers.ContextOptions) (drivers.Context, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failOpen != nil {
		return nil, nil, w.failOpen
	}
	w.contexts++
	w.made++
	w.states = append(w.states, o.State)
	return &fakeContext{w: w, o: o}, w.lost, nil
}

func (w *world) bind(_ context.Context, g identity.Grant) (identity.Port, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ports++
	return &fakePort{w: w, addr: "127.0.0.1:1/" + g.Lease}, nil
}

type fakePort struct {
	w      *world
	addr   string
	closed bool
}

func (p *fakePort) Addr() string { return p.addr }
func (p *fakePort) Close() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.w.ports--
	}
	return nil
}

type fakeContext struct {
	drivers.Context

	w      *world
	o      drivers.ContextOptions
	closed bool
}

func (c *fakeContext) State(context.Context, ...string) (*drivers.StorageState, error) {
	return &drivers.StorageState{Cookies: []drivers.Cookie{{Name: "jar", Value: c.o.Proxy}}}, nil
}

func (c *fakeContext) Close(context.Context) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.w.contexts--
	}
	return nil
}

func grant(id identity.ID, epoch uint64) identity.Grant {
	return identity.Grant{Lease: "l", Identity: id, Origin: "shop.test", Epoch: epoch, Country: "DE", Expires: time.Now().Add(time.Hour)}
}

func broker(t *testing.T, cfg identity.Config) *identity.Broker {
	t.Helper()
	b, err := identity.NewBroker(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

func TestSessionIsResumedUnderItsOwnEpochOnly(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	first, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	b.Release(t.Context(), first, identity.Keep)

	again, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	require.Same(t, first, again)
	require.Equal(t, 1, w.made, "a warm context is used again")
	b.Release(t.Context(), again, identity.Keep)

	next, err := b.Acquire(t.Context(), grant("ada", 2), identity.Persona{})
	require.NoError(t, err)
	require.NotSame(t, first, next)
	require.Equal(t, 2, w.made)
	require.Equal(t, 1, w.contexts, "the old context went with its lease")
	require.Equal(t, 1, w.ports, "and so did its port")
	require.Nil(t, w.states[1], "nothing of the old jar is replayed through another exit")
	b.Release(t.Context(), next, identity.Keep)
}

func TestOneAttemptAtATimePerIdentity(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	_, err = b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.ErrorIs(t, err, identity.ErrBusy)
	_, err = b.Acquire(t.Context(), grant("ada", 2), identity.Persona{})
	require.ErrorIs(t, err, identity.ErrBusy, "a session in use is never taken away")
	b.Release(t.Context(), s, identity.Keep)
}

func TestRetiredSessionLeavesNothing(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	b.Release(t.Context(), s, identity.Retire)
	require.Zero(t, w.contexts)
	require.Zero(t, w.ports)
	require.Len(t, w.events, 2)
	require.True(t, w.events[0].Start)
	require.False(t, w.events[1].Start)
}

func TestLostBrowserCostsTheContextNotTheLease(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	addr := s.Port().Addr()
	b.Release(t.Context(), s, identity.Recycle)
	close(w.lost)
	w.lost = make(chan struct{})

	s, err = b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	require.Equal(t, addr, s.Port().Addr(), "same lease, same port")
	require.Equal(t, 2, w.made)
	b.Release(t.Context(), s, identity.Keep)
}

func TestRecyclingKeepsTheJar(t *testing.T) {
	w := newWorld()
	cfg := w.config()
	cfg.MaxJobs = 2
	b := broker(t, cfg)
	for range 5 {
		s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
		require.NoError(t, err)
		b.Release(t.Context(), s, identity.Keep)
	}
	require.Equal(t, 3, w.made, "two jobs a context")
	require.Equal(t, 1, w.contexts)
	require.Equal(t, 1, w.ports)
	require.NotNil(t, w.states[1])
	require.Equal(t, "jar", w.states[1].Cookies[0].Name)
}

func TestIdleContextsAreBoundedAndTheirJarsSurvive(t *testing.T) {
	w := newWorld()
	cfg := w.config()
	cfg.MaxWarm = 2
	b := broker(t, cfg)
	ids := []identity.ID{"a", "b", "c", "d"}
	for _, id := range ids {
		s, err := b.Acquire(t.Context(), grant(id, 1), identity.Persona{})
		require.NoError(t, err)
		b.Release(t.Context(), s, identity.Keep)
	}
	require.Equal(t, 2, w.contexts)
	require.Equal(t, 4, w.ports, "the leases go on")
	s, err := b.Acquire(t.Context(), grant("a", 1), identity.Persona{})
	require.NoError(t, err)
	require.NotNil(t, w.states[len(w.states)-1], "the parked jar came back")
	b.Release(t.Context(), s, identity.Keep)
}

func TestExpiredSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b, err := identity.NewBroker(w.config())
		require.NoError(t, err)
		for _, id := range []identity.ID{"a", "b"} {
			s, err := b.Acquire(t.Context(), grant(id, 1), identity.Persona{})
			require.NoError(t, err)
			b.Release(t.Context(), s, identity.Keep)
			time.Sleep(2 * time.Hour) //nolint:forbidigo // inside a bubble
		}
		s, err := b.Acquire(t.Context(), grant("c", 1), identity.Persona{})
		require.NoError(t, err)
		b.Release(t.Context(), s, identity.Keep)
		require.Equal(t, 1, w.contexts)
		require.Equal(t, 1, w.ports)
		b.Close(t.Context())
	})
}

func TestFailedOpeningLeavesNothing(t *testing.T) {
	w := newWorld()
	w.failOpen = &drivers.Error{Kind: drivers.BrowserLost, Op: "new context"}
	b := broker(t, w.config())
	_, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.Equal(t, drivers.BrowserLost, drivers.KindOf(err))
	require.Zero(t, w.ports)
	w.failOpen = nil
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	b.Release(t.Context(), s, identity.Keep)
}

func TestCheckRefusesAnotherLease(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	require.NoError(t, s.Check(grant("ada", 1)))
	require.ErrorIs(t, s.Check(grant("ada", 2)), identity.ErrBindingMismatch)
	require.ErrorIs(t, s.Check(grant("bob", 1)), identity.ErrBindingMismatch)
	b.Release(t.Context(), s, identity.Keep)
}

func TestCloseEndsWhatIsInUseWhenItIsReleased(t *testing.T) {
	w := newWorld()
	b := broker(t, w.config())
	s, err := b.Acquire(t.Context(), grant("ada", 1), identity.Persona{})
	require.NoError(t, err)
	b.Close(t.Context())
	require.Equal(t, 1, w.contexts)
	_, err = b.Acquire(t.Context(), grant("bob", 1), identity.Persona{})
	require.ErrorIs(t, err, identity.ErrClosed)
	b.Release(t.Context(), s, identity.Keep)
	require.Zero(t, w.contexts)
	require.Zero(t, w.ports)
}

func TestManyIdentitiesAtOnce(t *testing.T) {
	w := newWorld()
	cfg := w.config()
	cfg.OnEvent = nil
	cfg.MaxWarm = 3
	b := broker(t, cfg)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := identity.ID(rune('a' + i))
			for n := range 50 {
				s, err := b.Acquire(context.Background(), grant(id, uint64(n/10)), identity.Persona{})
				if err != nil {
					panic(errors.Join(errors.New("acquire"), err))
				}
				b.Release(context.Background(), s, identity.Keep)
			}
		})
	}
	wg.Wait()
	b.Close(context.Background())
	require.Zero(t, w.contexts)
	require.Zero(t, w.ports)
}

func TestPersonaFollowsTheExitUnlessPinned(t *testing.T) {
	cases := map[string]struct {
		country          string
		in               identity.Persona
		locale, timeZone string
	}{
		"germany":         {"DE", identity.Persona{}, "de-DE", "Europe/Berlin"},
		"united kingdom":  {"GB", identity.Persona{}, "en-GB", "Europe/London"},
		"poland, pinned":  {"PL", identity.Persona{Locale: "en-GB"}, "en-GB", "Europe/Warsaw"},
		"own country":     {"PL", identity.Persona{Country: "JP"}, "ja-JP", "Asia/Tokyo"},
		"unknown country": {"", identity.Persona{}, "", ""},
		"no such country": {"XX", identity.Persona{}, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := c.in.Complete(c.country)
			require.Equal(t, c.locale, p.Locale)
			require.Equal(t, c.timeZone, p.TimeZone)
		})
	}
}
