// SPDX-License-Identifier: MIT

/// What everything that a task does asks of the calls in it, whoever makes them.
///
/// A refresh of a screen is a closure of the app: nobody but the task can tell the calls in it that they are to ask the
/// server. It reaches the tasks that are begun in it, but not detached ones.
package enum TaskOptions {
    /// Changes the options of each call that is prepared in the task, after those of the client and the call are merged.
    @TaskLocal package static var change: (@Sendable (inout RequestOptions) -> Void)?
}
