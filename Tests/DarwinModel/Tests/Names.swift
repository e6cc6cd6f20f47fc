// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

// The names that both the model and Foundation declare mean the model's: a declaration of the own module wins.
typealias URLSession = CurlewURLSession.URLSession
typealias URLSessionConfiguration = CurlewURLSession.URLSessionConfiguration
typealias URLSessionTask = CurlewURLSession.URLSessionTask
typealias URLSessionDataTask = CurlewURLSession.URLSessionDataTask

@main
enum Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
