package chromedp

import (
	"context"
	"errors"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/limpet-dev/limpet/drivers"
)

// Screenshot is a PNG of the viewport or of the document. It works on a spent page too.
func (p *Page) Screenshot(ctx context.Context, fullPage bool) ([]byte, error) {
	const op = "screenshot"
	if p.life.Err() != nil || ctx.Err() != nil {
		return nil, fault(ctx, p.life, op, "", errors.New("not started"))
	}
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}
	if fullPage {
		metrics, err := command(ctx, p, page.GetLayoutMetrics, cdp.Empty{})
		if err != nil {
			return nil, p.fail(ctx, op, "", err)
		}
		size := metrics.CSSContentSize
		params.CaptureBeyondViewport = new(true)
		params.Clip = &page.Viewport{
			Width: min(size.Width, drivers.MaxScreenshotSide), Height: min(size.Height, drivers.MaxScreenshotSide), Scale: 1,
		}
	}
	shot, err := command(ctx, p, page.CaptureScreenshot, params)
	if err != nil {
		return nil, p.fail(ctx, op, "", err)
	}
	return shot.Data, nil
}
