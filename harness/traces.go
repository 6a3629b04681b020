package harness

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/trace"
)

// keepTrace writes the archive of a failed or sampled attempt and answers its path, relative to the output
// folder. The verdict is settled already: a trace that cannot be written costs a trace, never a job.
func (a *try) keepTrace(ctx context.Context, s saw, v classify.Verdict, conns []gateway.Connection) string {
	job := a.t.job
	if (v.OK() || !job.Trace.Failed) && !trace.Sampled(job.ID, job.Trace.Sample) {
		return ""
	}
	a.picture(ctx, s)
	abs, rel := a.r.cfg.Folder.TracePath(job.ID, a.lease.Attempt)
	err := trace.Write(abs, trace.Meta{
		Title: job.ID + " attempt " + strconv.Itoa(a.lease.Attempt), Job: job.ID, Attempt: a.lease.Attempt,
		Identity: string(job.Identity), Origin: job.Origin, Driver: a.r.cfg.Driver.Name(),
		BrowserVersion: a.r.browser.version(), Viewport: job.Persona.Viewport, Started: a.started, Verdict: v, Gateway: conns,
		Outcome: outcomeText(v), Failed: !v.OK(),
	}, a.rec, a.r.cfg.Redactor.With(job.Secrets...))
	if err != nil {
		a.r.log.LogAttrs(ctx, slog.LevelWarn, "trace not written", slog.String("job", job.ID), slog.String("error", err.Error()))
		return ""
	}
	return rel
}

// picture adds the page as it stood to the recording.
func (a *try) picture(ctx context.Context, s saw) {
	if s.snapshot != nil {
		a.rec.AttachHTML("dom", "text/html", []byte(s.snapshot.HTML))
	}
	if a.page == nil || !s.arrived() || drivers.KindOf(s.err).WorkerFault() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shotTimeout)
	defer cancel()
	png, err := a.page.Screenshot(ctx, false)
	if err != nil {
		a.rec.Log("screenshot: " + err.Error())
		return
	}
	a.rec.AttachScreenshot("end", "image/png", png)
}

// outcomeText names a verdict in a few words, such as "captcha (cloudflare)".
func outcomeText(v classify.Verdict) string {
	if v.Vendor == nil {
		return string(v.Class)
	}
	return string(v.Class) + " (" + *v.Vendor + ")"
}
