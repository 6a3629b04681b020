package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

// A wanted is what must become of a job that meets a misbehaviour.
type wanted struct {
	query    string // behind the product's address
	stage    classify.Stage
	class    classify.Class
	blamed   classify.Blamed
	state    report.State
	decision string
	attempts int
	routes   int
}

const (
	ok   = classify.StageOK
	nav  = classify.StageNavigation
	http = classify.StageHTTP
	wall = classify.StageChallenge
	outp = classify.StageOutput
)

// The misbehaviours of the shop: each has an origin of its own, because refusals are counted per origin. The second
// refusal sends a job to review, a back-off tries three times, a soft failure twice.
var misbehaviours = map[string]wanted{
	"ok":            {"fault=ok", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"challenge200":  {"fault=challenge200", wall, classify.Interstitial, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"challenge403":  {"fault=challenge403", wall, classify.Interstitial, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"challenge503":  {"fault=challenge503", wall, classify.Interstitial, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"challengeonce": {"fault=challenge403&addrs=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 1},
	"self":          {"fault=challenge_self&first=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"anubis":        {"fault=anubis", wall, classify.Interstitial, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"anubisdenied":  {"fault=anubis&deny", wall, classify.BlockPage, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"datadome":      {"fault=datadome", wall, classify.Captcha, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"human":         {"fault=human", wall, classify.Captcha, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"akamai":        {"fault=akamai", wall, classify.BlockPage, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"imperva":       {"fault=imperva", wall, classify.BlockPage, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"awswaf":        {"fault=awswaf", wall, classify.Captcha, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"captcha":       {"fault=captcha", wall, classify.Captcha, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"block":         {"fault=block", wall, classify.BlockPage, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"forbidden":     {"fault=forbidden", http, classify.Forbidden, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"legal451":      {"fault=legal451", http, classify.Forbidden, classify.BlameExitOrigin, report.Review, "review", 2, 1},
	"unauthorized":  {"fault=unauthorized", http, classify.Unauthorized, classify.BlameJob, report.Failed, "stop", 1, 0},
	"notfound":      {"fault=notfound", http, classify.Gone, classify.BlameJob, report.Failed, "stop", 1, 0},
	"gone":          {"fault=gone", http, classify.Gone, classify.BlameJob, report.Failed, "stop", 1, 0},
	"badrequest":    {"fault=badrequest", http, classify.BadRequest, classify.BlameJob, report.Failed, "stop", 1, 0},
	"rate429":       {"fault=rate429&first=1&retry=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"rate429date":   {"fault=rate429date&first=1&retry=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"rate503":       {"fault=rate503&first=1&retry=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"rateforever":   {"fault=rate429&retry=1", http, classify.RateLimited, classify.BlamePace, report.Failed, "stop", 3, 0},
	"error500":      {"fault=error500", http, classify.ServerError, classify.BlameOrigin, report.Failed, "stop", 3, 0},
	"error500once":  {"fault=error500&first=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"soft404":       {"fault=soft404", outp, classify.Soft404, classify.BlameOrigin, report.Review, "review", 2, 0},
	"empty":         {"fault=empty", outp, classify.Empty, classify.BlameOrigin, report.Review, "review", 1, 0},
	"login":         {"fault=login", outp, classify.LoginWall, classify.BlameSession, report.Review, "review", 2, 1},
	"ended":         {"fault=session_ended", outp, classify.SessionEnded, classify.BlameSession, report.Review, "review", 2, 1},
	"consent":       {"fault=consent", outp, classify.ConsentWall, classify.BlameOrigin, report.Review, "review", 2, 0},
	"paywall":       {"fault=paywall", outp, classify.Paywall, classify.BlameOrigin, report.Review, "review", 2, 0},
	"maintenance":   {"fault=maintenance", outp, classify.Maintenance, classify.BlameOrigin, report.Review, "review", 2, 0},
	"currency":      {"fault=currency", outp, classify.WrongGeo, classify.BlameExit, report.Failed, "stop", 3, 2},
	"unhydrated":    {"fault=unhydrated", outp, classify.Unhydrated, classify.BlameOrigin, report.Review, "review", 2, 0},
	"late":          {"fault=late", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"missing":       {"fault=missing", outp, classify.Missing, classify.BlameOrigin, report.Review, "review", 1, 0},
	"invalid":       {"fault=invalid", outp, classify.Invalid, classify.BlameOrigin, report.Review, "review", 1, 0},
	"slow":          {"fault=slow&ms=1500", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"never":         {"fault=never", nav, classify.Timeout, classify.BlameOrigin, report.Failed, "stop", 3, 0},
	"reset":         {"fault=reset", nav, classify.Reset, classify.BlameOrigin, report.Failed, "stop", 3, 0},
	"resetonce":     {"fault=reset&first=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"loop":          {"fault=redirect_loop", nav, classify.RedirectLoop, classify.BlameOrigin, report.Failed, "stop", 3, 0},
	"redirect":      {"fault=redirect", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"meta":          {"fault=metarefresh", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"jsredirect":    {"fault=js_redirect", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"download":      {"fault=download", nav, classify.Download, classify.BlameJob, report.Failed, "stop", 1, 0},
	"alert":         {"fault=alert", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"confirm":       {"fault=confirm", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"prompt":        {"fault=prompt", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"flood":         {"fault=alertflood&n=20&ms=50", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"leave":         {"fault=leave", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"crash":         {"fault=crash", nav, classify.BrowserCrashed, classify.BlameWorker, report.Failed, "stop", 3, 0},
	"crashonce":     {"fault=crash&first=1", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 2, 0},
	"ws":            {"fault=ws", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"huge":          {"fault=huge&mb=8", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"deep":          {"fault=deep&n=1000", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"many":          {"fault=manyresources", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
	"chatty":        {"fault=consolechatty", ok, classify.Useful, classify.BlameNobody, report.Useful, "done", 1, 0},
}

func TestMisbehaviours(t *testing.T) {
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		var file strings.Builder
		file.WriteString(header("  trace: { failed: true }"))
		for name, m := range misbehaviours {
			file.WriteString(product(name, "id-"+name, fmt.Sprintf("https://%s.test/product/p-1?key=%s&%s", name, name, m.query)))
		}
		o := w.run(t.Context(), t, 4, w.load(t, file.String()))
		require.NoError(t, o.ex.Err)
		for name, want := range misbehaviours {
			t.Run(name, func(t *testing.T) { o.check(t, name, want) })
		}
	})
}

// check holds a job's result against what was wanted.
func (o outcome) check(t *testing.T, name string, want wanted) {
	t.Helper()
	r := o.results[name]
	require.NotNil(t, r.Verdict, "%+v", r)
	type answer struct {
		Stage    classify.Stage
		Class    classify.Class
		Blamed   classify.Blamed
		State    report.State
		Decision string
		Attempts int
		Routes   int
	}
	require.Equal(t,
		answer{want.stage, want.class, want.blamed, want.state, want.decision, want.attempts, want.routes},
		answer{r.Verdict.Stage, r.Verdict.Class, r.Verdict.Blamed, r.State, r.Decision, r.Attempts, r.RouteChanges},
		"error: %s; signals: %v", r.Error, r.Verdict.Signals)
	require.NotEmpty(t, r.Verdict.Signals, "a verdict names what decided")
	if want.state == report.Useful {
		require.Equal(t, 1, r.Records)
		require.Empty(t, r.Error)
		return
	}
	require.Zero(t, r.Records, "no marker, no success")
	require.NotEmpty(t, r.Error, "the reason is said")
	require.FileExists(t, o.out+"/"+string(r.Trace), "a failed attempt leaves its trace")
	if want.routes == 0 {
		require.Len(t, r.Exits, 1, "no new exit was bought")
	}
}
