// SPDX-License-Identifier: MIT

import CurlewCore

/// The observers of `--explain`.
struct Insight {
    private(set) var observers: [any RequestObserver] = []
    let interceptors: [any Interceptor] = []

    init(_ arguments: ParsedArguments, _ console: Console) {
        if arguments.has(.explain) {
            observers.append(Explainer(style: console.errorStyle) { console.note($0) })
        }
    }

    /// Writes the files.
    func finish(_ io: CommandIO) throws(NetworkError) {}
}
