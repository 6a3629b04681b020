package classify

// A place is where a class belongs in the order of stages and whom it blames.
type place struct {
	class  Class
	stage  Stage
	blamed Blamed
}

// places is the whole vocabulary of verdicts, in the order of the stages. It is a function because the table
// must not be changed by anybody; callers that ask often go through the switch-like lookups below.
func places() []place {
	return []place{
		{Useful, StageOK, BlameNobody},
		{UsefulEmpty, StageOK, BlameNobody},

		{GatewayUnreachable, StageNavigation, BlameEndpoint},
		{CredentialRejected, StageNavigation, BlameCredential},
		{ProviderLimit, StageNavigation, BlameAccount},
		{ProviderPolicy, StageNavigation, BlamePolicy},
		{NoExit, StageNavigation, BlameSegment},
		{ExitLost, StageNavigation, BlameExit},
		{ExitChanged, StageNavigation, BlameExit},
		{TunnelFailed, StageNavigation, BlameSegment},
		{DNS, StageNavigation, BlameOrigin},
		{Connect, StageNavigation, BlameOrigin},
		{TLS, StageNavigation, BlameOrigin},
		{Reset, StageNavigation, BlameOrigin},
		{RedirectLoop, StageNavigation, BlameOrigin},
		{Timeout, StageNavigation, BlameOrigin},
		{BrowserCrashed, StageNavigation, BlameWorker},
		{LaunchFailed, StageNavigation, BlameWorker},
		{Unresponsive, StageNavigation, BlameWorker},
		{DriverLost, StageNavigation, BlameWorker},
		{Download, StageNavigation, BlameJob},
		{UnsupportedContent, StageNavigation, BlameJob},
		{PolicyDenied, StageNavigation, BlamePolicy},
		{BudgetExhausted, StageNavigation, BlameJob},
		{Cancelled, StageNavigation, BlameNobody},

		{RateLimited, StageHTTP, BlamePace},
		{Unauthorized, StageHTTP, BlameJob},
		{Gone, StageHTTP, BlameJob},
		{BadRequest, StageHTTP, BlameJob},
		{Forbidden, StageHTTP, BlameExitOrigin},
		{ServerError, StageHTTP, BlameOrigin},

		{Interstitial, StageChallenge, BlameExitOrigin},
		{Captcha, StageChallenge, BlameExitOrigin},
		{BlockPage, StageChallenge, BlameExitOrigin},

		{WrongGeo, StageOutput, BlameExit},
		{LoginWall, StageOutput, BlameSession},
		{SessionEnded, StageOutput, BlameSession},
		{ConsentWall, StageOutput, BlameOrigin},
		{Paywall, StageOutput, BlameOrigin},
		{Maintenance, StageOutput, BlameOrigin},
		{Soft404, StageOutput, BlameOrigin},
		{Unhydrated, StageOutput, BlameOrigin},
		{Truncated, StageOutput, BlameOrigin},
		{Missing, StageOutput, BlameOrigin},
		{Invalid, StageOutput, BlameOrigin},
		{Empty, StageOutput, BlameOrigin},
		{ScriptError, StageOutput, BlameJob},
		{Unknown, StageOutput, BlameNobody},
	}
}

// All gives every class once, in the order of the stages.
func All() []Class {
	ps := places()
	all := make([]Class, len(ps))
	for i, p := range ps {
		all[i] = p.class
	}
	return all
}

// Blames names the party whose health a verdict of class c moves; nobody for a class that does not exist.
func Blames(c Class) Blamed { return placeOf(c).blamed }

// StageOf gives the stage that class c belongs to. Unknown, which any stage may end in, and a class that does
// not exist belong to the output stage, so that neither can pass for a success.
func StageOf(c Class) Stage { return placeOf(c).stage }

// Known reports whether c is one of the classes.
func Known(c Class) bool { return placeOf(c).class == c }

func placeOf(c Class) place {
	for _, p := range places() {
		if p.class == c {
			return p
		}
	}
	return place{Unknown, StageOutput, BlameNobody}
}
