// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import ExampleSupport
import FilmCatalogue

extension Report {
    func film(_ film: Film) {
        let stars = film.averageRating.map { "  ★ \(($0 * 10).rounded() / 10) of \(film.ratingCount)" } ?? ""
        line("\(film.year)  \(film.title)\(stars)")
    }

    /// A line of the client's log, on as many lines as it needs.
    @Sendable nonisolated static func log(_ entry: LogEntry) {
        for line in Look.wrapped("\(entry)", to: Look.columns - 4) { print("    " + Look.dim(line)) }
    }
}
#endif
