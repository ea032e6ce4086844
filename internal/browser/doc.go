// Package browser starts Chromium for tests of web pages.
package browser
