package classify

import (
	"fmt"
	"mime"
	"strings"
)

// httpStatus judges the answer's status where no wall explains it. Below 400 it says nothing: 200 proves nothing.
func httpStatus(x *Exchange) finding {
	if x == nil || x.Status < 400 {
		return finding{}
	}
	return found(classOfStatus(x), sureStatus, "http.status", fmt.Sprintf("status %d", x.Status))
}

func classOfStatus(x *Exchange) Class {
	switch x.Status {
	case 401:
		return Unauthorized
	case 403, 451:
		return Forbidden
	case 404, 410:
		return Gone
	case 407:
		return CredentialRejected
	case 408, 421, 425:
		return ServerError // the request was fine, and may be repeated
	case 429:
		return RateLimited
	case 503:
		if _, ok := x.header("retry-after"); ok {
			return RateLimited
		}
		return ServerError
	}
	if x.Status >= 500 && x.Status < 600 {
		return ServerError
	}
	return BadRequest
}

// contentKind finds a document that has no page to judge: a picture, a PDF in the browser's viewer, an archive.
func contentKind(x *Exchange) finding {
	if x == nil {
		return finding{}
	}
	raw := x.MIMEType
	if raw == "" {
		raw, _ = x.header("content-type")
	}
	kind, _, err := mime.ParseMediaType(raw)
	if err != nil || readable(kind) {
		return finding{}
	}
	return found(UnsupportedContent, sureStatus, "http.content_type", "content type "+clip(kind, maxRawSignal))
}

func readable(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ld+json",
		"multipart/x-mixed-replace":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" || strings.HasSuffix(kind, "+json")
}
