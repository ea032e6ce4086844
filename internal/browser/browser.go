package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Patience is how long a test waits for a browser or a page. Only a defect takes that
// long, not a busy machine.
const Patience = 10 * time.Minute

// Start starts one, in whose context pages are opened. The test is skipped where
// there is none, unless there must be.
func Start(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatalf("REQUIRE_BACKENDS=all, but %v", err)
		}
		t.Skipf("no browser to look with: %v: scripts/install-test-deps installs it", err)
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	}
	// It leaves things in the folder for temporary files, even when it ends well.
	folder, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	ctx, end := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(options...))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// Shown is a medium, "screen" or "print", with light or dark surroundings.
func Shown(medium, scheme string) emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
}
