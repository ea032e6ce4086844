// Package fit is the curves that measurements at several levels are held
// against: how throughput scales ([Scale]), how a cost grows ([Grow]), from
// which level on one form is worse than another ([Cross]); and how sure of a
// median or a curve one can be ([Median], [Bootstrap]).
//
// It knows numbers only. Throughput and costs scatter by a share of themselves,
// so all that is fitted here is fitted to relative residuals.
package fit
