package harness

import (
	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/scheduler"
)

// ruling is what a class means to the scheduler: whose health it concerns and which default decision applies.
type ruling struct {
	domain scheduler.Domain
	rule   scheduler.Rule
}

// rulings is the last two columns of design.md, section 5. A page that misses what the job expects moves
// nobody's health: it may as well be the job's selectors that are wrong.
var rulings = map[classify.Class]ruling{
	classify.Useful:      {scheduler.DomainNone, scheduler.RuleDone},
	classify.UsefulEmpty: {scheduler.DomainNone, scheduler.RuleDone},
	classify.Unknown:     {scheduler.DomainNone, scheduler.RuleReview},

	classify.GatewayUnreachable: {scheduler.DomainEndpoint, scheduler.RuleBackOff},
	classify.CredentialRejected: {scheduler.DomainCredential, scheduler.RuleStopAll},
	classify.ProviderLimit:      {scheduler.DomainAccount, scheduler.RuleStopAll},
	classify.ProviderPolicy:     {scheduler.DomainPolicy, scheduler.RuleDenied},
	classify.NoExit:             {scheduler.DomainSegment, scheduler.RuleBackOff},
	classify.ExitLost:           {scheduler.DomainExit, scheduler.RuleNewSession},
	classify.ExitChanged:        {scheduler.DomainExit, scheduler.RuleNewSession},
	classify.TunnelFailed:       {scheduler.DomainSegment, scheduler.RuleBackOff},
	classify.DNS:                {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.Connect:            {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.TLS:                {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.Reset:              {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.RedirectLoop:       {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.Timeout:            {scheduler.DomainOrigin, scheduler.RuleBackOff},
	classify.BrowserCrashed:     {scheduler.DomainWorker, scheduler.RuleNewBrowser},
	classify.LaunchFailed:       {scheduler.DomainWorker, scheduler.RuleNewBrowser},
	classify.Unresponsive:       {scheduler.DomainWorker, scheduler.RuleNewBrowser},
	classify.DriverLost:         {scheduler.DomainWorker, scheduler.RuleNewBrowser},
	classify.Download:           {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.UnsupportedContent: {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.PolicyDenied:       {scheduler.DomainPolicy, scheduler.RuleDenied},
	classify.BudgetExhausted:    {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.Cancelled:          {scheduler.DomainNone, scheduler.RuleCancelled},

	classify.RateLimited:  {scheduler.DomainPace, scheduler.RuleWaitSame},
	classify.Unauthorized: {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.Gone:         {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.BadRequest:   {scheduler.DomainJob, scheduler.RuleTerminal},
	classify.Forbidden:    {scheduler.DomainExitOrigin, scheduler.RuleRefused},
	classify.ServerError:  {scheduler.DomainOrigin, scheduler.RuleBackOff},

	classify.Interstitial: {scheduler.DomainExitOrigin, scheduler.RuleRefused},
	classify.Captcha:      {scheduler.DomainExitOrigin, scheduler.RuleRefused},
	classify.BlockPage:    {scheduler.DomainExitOrigin, scheduler.RuleRefused},

	classify.WrongGeo:     {scheduler.DomainExit, scheduler.RuleNewSession},
	classify.LoginWall:    {scheduler.DomainSession, scheduler.RuleRetireOnce},
	classify.SessionEnded: {scheduler.DomainSession, scheduler.RuleRetireOnce},
	classify.ConsentWall:  {scheduler.DomainJob, scheduler.RuleBackOffOnce},
	classify.Paywall:      {scheduler.DomainJob, scheduler.RuleBackOffOnce},
	classify.Maintenance:  {scheduler.DomainOrigin, scheduler.RuleBackOffOnce},
	classify.Soft404:      {scheduler.DomainJob, scheduler.RuleBackOffOnce},
	classify.Unhydrated:   {scheduler.DomainJob, scheduler.RuleBackOffOnce},
	classify.Truncated:    {scheduler.DomainJob, scheduler.RuleBackOffOnce},
	classify.Missing:      {scheduler.DomainJob, scheduler.RuleReview},
	classify.Invalid:      {scheduler.DomainJob, scheduler.RuleReview},
	classify.Empty:        {scheduler.DomainJob, scheduler.RuleReview},
	classify.ScriptError:  {scheduler.DomainJob, scheduler.RuleTerminal},
}

// outcomeOf reduces a verdict to what the scheduler decides on. A class without a ruling is unknown: nobody's
// health moves and a person looks.
func outcomeOf(v classify.Verdict) scheduler.Outcome {
	r, ok := rulings[v.Class]
	if !ok {
		r = rulings[classify.Unknown]
	}
	return scheduler.Outcome{
		OK: v.OK(), Domain: r.domain, Class: string(v.Class), Rule: r.rule, RetryAfter: v.RetryAfter,
	}
}
