// SPDX-License-Identifier: MIT

/// A change to the options of all calls that a task makes.
///
/// A screen refresh is a closure of the app. Only the task can mark the calls in it as ones that must reach the server.
/// Child tasks inherit the change, detached tasks do not.
package enum TaskOptions {
    /// Changes the options of each call that is prepared in the task, after those of the client and the call are
    /// merged.
    @TaskLocal package static var change: (@Sendable (inout RequestOptions) -> Void)?
}
