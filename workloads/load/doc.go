// Package load contains the workloads that are not recipes: a mix of raw operations, the fan-out of
// one write to many watchers, and storms that hit all sessions at the same time. A mix also runs
// beside a recipe as its [Background]. Their cost depends on their settings or on timing, so only the
// fan-out has a settled run.
package load
