// SPDX-License-Identifier: MIT

import Curlew
import ExampleSupport

/// One stop of the walk.
@MainActor
protocol Scene {
    var title: String { get }
    /// What there is to see, in one line.
    var about: String { get }
    /// Throws an unexpected error.
    func run(on stage: Stage) async throws
}

/// What the scenes share.
@MainActor
struct Stage {
    /// The origin of the service.
    let url: String
    /// A client for it, which sends the token when there is one.
    let client: APIClient
    let tokens: TokenStore
    let report: Report

    /// Prints something that the reader wants to see.
    func show(_ label: String, _ value: some Any) {
        report.show(label, "\(value)")
    }

    /// Prints an error with both of its texts.
    func show(_ error: NetworkError) {
        report.show(error)
    }

    /// Checks what must hold. If it does not, the tour goes on and fails at its end.
    func expect(_ isMet: Bool, _ expectation: String) {
        report.expect(isMet, expectation)
    }

    /// For places that are not reached when all is well.
    func unexpected(_ what: String) {
        report.fail(what)
    }
}
