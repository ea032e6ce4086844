// Package telemetry shows runs, while they go and after, to tools that keep
// metrics: OpenTelemetry's names and units, scraped by Prometheus or pushed by
// OTLP.
//
// A [Collector] is told of runs as they begin and end, and is asked by readers of
// the OpenTelemetry SDK, whose Producer it is; [Native] is that of a native
// server. [Serve] answers Prometheus, and [Push] sends to where the standard
// OTEL_* variables say.
//
// Nothing is recorded twice: a run counts for its own result, and the collector
// looks at that when somebody asks. So a run that nobody watches costs nothing
// more, and one that is watched what summing up costs. Nothing of this is on an
// operation's path: of the 200 ns that counting and timing one takes for the run's
// own result (Xeon at 2.8 GHz), being handed to a collector adds about 1 ns
// and no allocation, measured by turns with
//
//	go test ./telemetry -run xxx -bench Off -benchtime 100x
package telemetry
