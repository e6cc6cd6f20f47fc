// SPDX-License-Identifier: MIT

/// A change to the options of all calls that a task makes.
///
/// For example, a refresh of a screen runs a closure of the app. All calls in the closure must reach the server, and
/// only their task can pass this requirement on to them. Child tasks inherit the change; detached tasks do not.
package enum TaskOptions {
    /// The function that changes the options of each call prepared in the task, after the options of the client and the
    /// call have been merged; nil for no change. The second argument is the timeouts of the client's configuration, which
    /// apply where the options set none.
    @TaskLocal package static var change: (@Sendable (inout RequestOptions, Timeouts) -> Void)?
}
